#include "compiler/Verify/Verify.h"

#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "compiler/Verify/Rules.h"
#include "runtime/Base/SideBySide.h"
#include "runtime/Plan/CheckPlan.h"

namespace vime {

using namespace verify;

std::span<const ProvedRule> provedRules() {
  static constexpr std::array kRules = {
      ProvedRule{Rule::S3,
                 "each stage lives on exactly one rank of a replica, and indices are in range",
                 verifyStagesPlaced, /*wave=*/0},
      ProvedRule{Rule::S1,
                 "each stage runs every microbatch forward and backward exactly once a step",
                 verifyTasksComplete},
      ProvedRule{Rule::S2, "every task reads what the task before it produced, along every path",
                 verifyDependencesHold, /*wave=*/2},
      ProvedRule{Rule::S4,
                 "gradients add up in ascending microbatch (or as the plan says), are reduced over "
                 "the replicas once, scaled once, then the optimizer runs once",
                 verifyGradientsAndUpdate, /*wave=*/2},
      ProvedRule{Rule::C1,
                 "the k-th send and the k-th receive of a channel agree in bytes, type and flow",
                 verifyTransfersAgree},
      ProvedRule{Rule::C2,
                 "the logical clock increases along every dispatch order and joins both ends of a "
                 "transfer: "
                 "no rank waits for itself",
                 verifyClockIncreases},
      ProvedRule{Rule::C3, "every member of a group makes every call alike", verifyGroupsAgree},
      ProvedRule{Rule::C4, "every pair of ranks that exchanges messages is connected once before",
                 verifyEdgesConnected},
      ProvedRule{Rule::D1, "a decision is received before its first use, on every path",
                 verifyDecisionsArrive},
      ProvedRule{Rule::D2, "every rank gets the same value of a decision, from where it is made",
                 verifyDecisionsAgree},
      ProvedRule{Rule::D3, "all rules hold for every number of microbatches that may be decided",
                 verifyFamilyComplete},
      ProvedRule{Rule::D4, "a case starts and ends quiet", verifyCasesQuiet},
      ProvedRule{Rule::D5, "what has counterparts is skipped on all of them or on none",
                 verifyConditionsAgree},
      ProvedRule{Rule::D6, "gradients and losses are divided by the step's own denominator",
                 verifyScalesUseHeader},
      ProvedRule{Rule::M1, "arenas hold exactly their buffers and stay under the limit",
                 verifyArenasFit},
      ProvedRule{Rule::M2, "buffers that share bytes are used one after the other",
                 verifySharedBytesOrdered, /*wave=*/2},
      ProvedRule{
          Rule::M3,
          "nothing is read before it is there or overwritten before its last use, sends included",
          verifyBuffersOrdered},
      ProvedRule{
          Rule::W1,
          "weights of an engine are written while it is paused and awake, published when all "
          "are there, and used only then (W3)",
          verifyEnginesInOrder},
      ProvedRule{Rule::W2, "each byte of an engine's weights is written once for each version",
                 verifyBytesWrittenOnce},
      ProvedRule{Rule::K1, "a checkpoint takes all of a model between two steps",
                 verifyCheckpointAtBoundary},
  };
  return kRules;
}

namespace {

constexpr int kWaves = 3;
constexpr std::size_t kSmallTable = 20'000; // entries: judged before a thread has started

/// Wave by wave; what is found is told in the order of the table.
void judge(const ActionTable &table, Verdict &verdict) {
  const std::span<const ProvedRule> rules = provedRules();
  std::vector<Findings> findings(rules.size());
  std::vector<std::optional<Verdict>> verdicts(rules.size());
  std::vector<const Verdict *> before = {&verdict};
  for (int wave = 0; wave < kWaves; ++wave) {
    std::vector<std::size_t> sitting;
    for (std::size_t rule = 0; rule < rules.size(); ++rule)
      if (rules[rule].wave == wave) {
        verdicts[rule].emplace(before, findings[rule]);
        sitting.push_back(rule);
      }
    sideBySide(
        sitting.size(),
        [&](std::size_t index) { rules[sitting[index]].judge(table, *verdicts[sitting[index]]); },
        table.size() < kSmallTable ? 1 : availableThreads());
    for (const std::size_t rule : sitting)
      before.push_back(&*verdicts[rule]);
  }
  for (std::optional<Verdict> &one : verdicts)
    verdict.take(std::move(*one));
}

/// Entries of one table, and of all tables together; a plan of ours comes near neither.
constexpr std::uint64_t kMaxEntries = std::uint64_t{1} << 26, kMaxWork = 4 * kMaxEntries;

bool fitsTable(const Unrolled &unrolled, Verdict &verdict) {
  if (unrolled.entries > kMaxEntries)
    verdict.error(Rule::S3, 2,
                  fmt::format("the programs unroll to {} actions; at most {} can be judged",
                              unrolled.entries, kMaxEntries));
  else if (unrolled.trips > kMaxTrips || unrolled.pieces > kMaxPieces)
    verdict.error(Rule::S3, 2,
                  fmt::format("a program unrolls to {} pieces with up to {} trips; at most {} and "
                              "{} can be judged",
                              unrolled.pieces, unrolled.trips, kMaxPieces, kMaxTrips));
  else
    return true;
  return false;
}

/// Said before anything is judged, so that a small plan cannot ask for hours.
bool areFew(const plan::Plan &plan, const std::vector<Choice> &choices, Verdict &verdict) {
  if (choices.size() > kMaxChoices) {
    verdict.error(Rule::D3, 2,
                  fmt::format("the decisions can fall together in more than {} ways", kMaxChoices));
    return false;
  }
  const std::uint64_t edges = countEdges(plan);
  std::uint64_t work = 0;
  for (const Choice &choice : choices) {
    const Unrolled unrolled = work > kMaxWork ? Unrolled() : unrolledBy(plan, choice);
    if (!fitsTable(unrolled, verdict))
      return false;
    work += unrolled.entries + edges;
  }
  if (work > kMaxWork)
    verdict.error(Rule::S3, 2,
                  fmt::format("with all that can be decided, the programs unroll to more than {} "
                              "actions and edges of loops and cases; no more can be judged",
                              kMaxWork));
  return work <= kMaxWork;
}

/// Every choice by itself; behind the first that breaks a rule the others would only repeat it.
void judgeAll(const plan::Plan &plan, Verdict &verdict) {
  const std::vector<Choice> choices = choicesOf(plan);
  if (!areFew(plan, choices, verdict))
    return;
  for (const Choice &choice : choices) {
    if (verdict.any())
      return;
    const ActionTable table(plan, choice);
    judge(table, verdict);
    if (choices.size() > 1)
      verdict.noteAll("in a step with " + describe(plan, choice));
  }
}

} // namespace

void verifyPlan(const plan::Plan &plan, Findings &findings, const std::string &jobFile) {
  Verdict verdict(plan, findings, jobFile);
  if (verifyIndicesInRange(plan, verdict)) {
    judgeAll(plan, verdict);
    if (const Status status = verdict.any() ? Status() : plan::checkPlan(plan); !status.ok())
      verdict.error(Rule::S3, 22,
                    status.message()); // sizes that tasks need, and all else that a rank looks at
  }
  verdict.close();
}

} // namespace vime
