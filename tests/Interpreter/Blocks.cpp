#include "tests/Interpreter/Blocks.h"

#include <algorithm>
#include <tuple>

namespace vime::interpreter {
namespace {

using namespace plan;

bool holds(const Block &outer, const Block &inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

void add(Block &outer, Block block) {
  if (!outer.inside.empty() && holds(outer.inside.back(), block))
    add(outer.inside.back(), std::move(block));
  else
    outer.inside.push_back(std::move(block));
}

/// A loop over microbatches holds no loop, and something in it goes from microbatch to microbatch.
bool isOverSteps(const Program &program, const Loop &loop) {
  for (const Loop &other : program.loops)
    if (&other != &loop && loop.begin <= other.begin && other.end <= loop.end)
      return true;
  return std::none_of(program.actions.begin() + loop.begin, program.actions.begin() + loop.end,
                      [](const Action &action) { return action.step != 0; });
}

} // namespace

Block blocksOf(const Program &program) {
  std::vector<Block> blocks;
  const Loop *outermost = nullptr;
  for (const Loop &loop : program.loops) {
    const bool isInner = outermost && loop.begin < outermost->end;
    if (!isInner)
      outermost = &loop;
    blocks.push_back(
        {loop.begin, loop.end, &loop, nullptr, !isInner && isOverSteps(program, loop), {}});
  }
  for (const Case &one : program.cases)
    blocks.push_back({one.begin, one.end, nullptr, &one, false, {}});
  // Of the same actions a loop over steps holds a case, and a case a loop over microbatches.
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block &one, const Block &other) {
    const auto rank = [](const Block &block) { return block.overSteps ? 0 : block.one ? 1 : 2; };
    return std::tuple(one.begin, other.end, rank(one)) <
           std::tuple(other.begin, one.end, rank(other));
  });
  Block whole{0, static_cast<std::uint32_t>(program.actions.size()), nullptr, nullptr, false, {}};
  for (Block &block : blocks)
    add(whole, std::move(block));
  return whole;
}

} // namespace vime::interpreter
