// W2: each byte of an engine's weights is written exactly once for each version: between one
// publication and the next every part of every stage arrives once, at the place that it has where
// it comes from. All members of a call mean the same part of the same stage, and have as many bytes
// of it. Whose weights they are, and of which step, is for S2.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/Verify/Rules.h"

namespace vime::verify {
namespace {

using namespace plan;

std::uint64_t bytesOf(const RankView &rank, const Action &action) {
  return rank.layout->buffers[rank.program->operands[action.operands]].bytes;
}

/// The parts that have arrived on an engine since its last publication.
class Arrivals {
public:
  Arrivals(const ActionTable &table, const RankView &rank, Verdict &verdict)
      : table(table), rank(rank), verdict(verdict), parts(rank.stages.size()) {}

  void run() {
    for (const Segment &segment : rank.segments)
      for (int time = 0; time < (segment.trips > 1 ? 2 : 1); ++time)
        for (std::uint32_t entry = segment.first; entry < segment.end && !failed; ++entry)
          pass(entry, table.action(rank, entry));
  }

private:
  void pass(std::uint32_t entry, const Action &action) {
    if (action.opcode == code(Opcode::BroadcastWeights))
      arrive(entry, action);
    if (action.opcode != code(Opcode::Publish))
      return;
    for (std::size_t stage = 0; stage < parts.size() && !failed; ++stage)
      if (parts[stage].empty() || std::ranges::count(parts[stage], false) != 0)
        fault(2, entry,
              fmt::format("publishes weights of which a part of stage {} has not arrived",
                          table.stages()[rank.stages[stage]].stage));
    for (std::vector<bool> &of : parts)
      of.clear();
  }

  void arrive(std::uint32_t entry, const Action &action) {
    const Group &group = table.plan().groups[rank.program->lanes[action.lane].group];
    const std::uint64_t bucket = std::max(group.message.fixed, 1u),
                        count = (bytesOf(rank, action) + bucket - 1) / bucket;
    std::vector<bool> &of = parts[action.stage];
    if (of.empty())
      of.resize(count, false);
    if (action.immediate >= of.size() || of[action.immediate])
      return fault(1, entry,
                   action.immediate >= of.size() ? "writes a part of the weights that there is not"
                                                 : "writes a part of the weights a second time");
    of[action.immediate] = true;
  }

  void fault(int number, std::uint32_t entry, std::string_view what) {
    failed = true;
    const ActionPlace place = placeOf(table, rank, entry);
    verdict.to(
        verdict.error(Rule::W2, number, place,
                      fmt::format("{} of rank {} {}", verdict.words(place), rank.rank, what)),
        place);
  }

  const ActionTable &table;
  const RankView &rank;
  Verdict &verdict;
  std::vector<std::vector<bool>> parts; // of each stage
  bool failed = false;
};

void judgeCalls(const ActionTable &table, const GroupView &view, Verdict &verdict) {
  if (!view.matched || table.plan().groups[view.group].operation != Collective::BroadcastWeights)
    return; // C3
  const auto callsOf = [&](std::uint32_t member) {
    return table.dispatched(table.lanes()[view.lanes[member]]);
  };
  const RankView &root = table.ranks()[view.members[view.root]];
  const std::span<const std::uint32_t> roots = callsOf(view.root);
  for (std::uint32_t member = 0; member < view.lanes.size(); ++member) {
    const RankView &rank = table.ranks()[view.members[member]];
    for (std::size_t call = 0; call < roots.size(); ++call) {
      const std::uint32_t own = callsOf(member)[call];
      const Action &action = table.action(rank, own), &of = table.action(root, roots[call]);
      if (rank.stages[action.stage] == root.stages[of.stage] && action.immediate == of.immediate &&
          bytesOf(rank, action) == bytesOf(root, of))
        continue;
      const ActionPlace place = placeOf(table, rank, own),
                        other = placeOf(table, root, roots[call]);
      Finding &finding =
          verdict.error(Rule::W2, 3, place,
                        fmt::format("{} of rank {} takes another part of the weights than rank {} "
                                    "gives",
                                    verdict.words(place), rank.rank, root.rank));
      verdict.from(finding, other);
      verdict.to(finding, place);
      return;
    }
  }
}

} // namespace

void verifyBytesWrittenOnce(const ActionTable &table, Verdict &verdict) {
  for (const RankView &rank : table.ranks())
    if (table.plan().mesh.isEngine(rank.rank))
      Arrivals(table, rank, verdict).run();
  for (const GroupView &view : table.groups())
    judgeCalls(table, view, verdict);
}

} // namespace vime::verify
