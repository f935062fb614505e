#include "compiler/Lowering/FoldPass.h"

#include <algorithm>

#include "compiler/Lowering/ShortRows.h"

namespace vime {
namespace {

std::optional<FoldedClock> folded(const Schedule &order, int microbatches,
                                  const ReceiveSlots &slots) {
  std::optional<PipelineClock> clock = layClock(order, microbatches, slots);
  if (!clock)
    return std::nullopt;
  return foldClock(std::move(*clock), static_cast<int>(order.placement.size()), microbatches,
                   order.slices);
}

std::int64_t busyIn(const FoldedClock &folded, const ClockPart &loop) {
  std::int64_t busy = 0;
  for (std::size_t index = loop.begin; index < loop.end; ++index) {
    const NodeKind kind = folded.clock.nodes[index].kind;
    if (kind != NodeKind::SendForward && kind != NodeKind::SendBackward)
      busy += kind == NodeKind::Backward ? 2 : 1;
  }
  return busy;
}

/// Gives the loop the trips for so many microbatches more; false if it is not one that can have
/// them.
bool lengthen(FoldedClock &folded, int microbatches, std::size_t ranks) {
  if (!folded.shrinks || folded.parts.size() != 3 || microbatches % folded.parts[1].advance != 0)
    return false;
  ClockPart &loop = folded.parts[1];
  const auto more = static_cast<std::uint32_t>(microbatches / loop.advance);
  PipelineClock &clock = folded.clock;
  loop.trips += more;
  clock.makespan += static_cast<int>(more) * loop.period / clock.perUnit;
  clock.busy += more * busyIn(folded, loop);
  clock.bubble = 1.0 - static_cast<double>(clock.busy) /
                           (static_cast<double>(clock.makespan) * static_cast<double>(ranks));
  return true;
}

} // namespace

bool isWorthwhile(const FoldedClock &folded) {
  constexpr std::uint64_t kLeastSaved = 100;
  const CountedNodes nodes = countNodes(folded);
  return nodes.all - nodes.kept >= std::max(kLeastSaved, nodes.kept);
}

std::optional<FoldedClock> foldedPass(const Schedule &order, int microbatches, Folding folding,
                                      const ReceiveSlots &slots) {
  if (folding == Folding::Nowhere) {
    std::optional<PipelineClock> clock = layClock(order, microbatches, slots);
    return clock ? std::optional(unfolded(std::move(*clock))) : std::nullopt;
  }
  if (const auto rows = shortRows(order, microbatches))
    if (auto pass = folded(rows->order, microbatches - rows->left, slots);
        pass && lengthen(*pass, rows->left, order.rows.size()))
      return pass;
  auto pass = folded(order, microbatches, slots);
  if (pass && folding == Folding::WhereWorthwhile && !isWorthwhile(*pass))
    return unfolded(std::move(pass->clock));
  return pass;
}

} // namespace vime
