// S3, second half: each stage of each model lives on exactly one rank of a replica.
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
}

} // namespace vime::verify
