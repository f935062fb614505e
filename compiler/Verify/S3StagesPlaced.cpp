// S3, second half: each stage of each model lives on exactly one rank of a replica, and each engine
// has every stage of the trained model.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/Verify/Rules.h"

namespace vime::verify {
namespace {

std::string nameOf(const ActionTable &table, std::uint32_t stage) {
  const StageView &view = table.stages()[stage];
  return table.plan().models.size() == 1
             ? fmt::format("stage {}", view.stage)
             : fmt::format("stage {} of model {}", view.stage, view.model);
}

void judgeEngine(const ActionTable &table, const RankView &rank, Verdict &verdict) {
  for (std::uint32_t stage = 0; stage < table.stages().size(); ++stage) {
    const bool isTrained = table.stages()[stage].model == 0;
    const auto times = std::ranges::count(rank.stages, stage);
    if (times > (isTrained ? 1 : 0))
      verdict.error(Rule::S3, 20,
                    fmt::format("rank {} generates, and has {} {}", rank.rank, nameOf(table, stage),
                                isTrained ? "twice" : "of a model that is not trained"));
    else if (isTrained && times == 0)
      verdict.error(Rule::S3, 21,
                    fmt::format("rank {} generates without {}", rank.rank, nameOf(table, stage)));
  }
}

} // namespace

void verifyStagesPlaced(const ActionTable &table, Verdict &verdict) {
  for (std::uint32_t replica = 0; replica < table.replicas(); ++replica) {
    std::vector<std::uint32_t> home(table.stages().size(), kNone);
    for (const RankView &rank : table.replica(replica))
      for (const std::uint32_t stage : rank.stages) {
        if (home[stage] != kNone)
          verdict.error(Rule::S3, 20,
                        fmt::format("{} is on rank {} and again on rank {}", nameOf(table, stage),
                                    home[stage], rank.rank));
        home[stage] = rank.rank;
      }
    for (std::uint32_t stage = 0; stage < home.size(); ++stage)
      if (home[stage] == kNone)
        verdict.error(
            Rule::S3, 21,
            fmt::format("{} is on no rank{}", nameOf(table, stage),
                        table.replicas() == 1 ? "" : fmt::format(" of replica {}", replica)));
  }
  for (const RankView &rank : table.ranks())
    if (table.plan().mesh.isEngine(rank.rank))
      judgeEngine(table, rank, verdict);
}

} // namespace vime::verify
