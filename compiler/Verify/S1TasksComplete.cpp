// S1: in a step each (stage, microbatch) runs one forward and one backward, or one input and one
// weight gradient in its place; the last stage one loss. Of several copies of the model microbatch
// b passes through copy b modulo their number, of an evaluation through the first. That in each
// replica, which loads its samples once a step. The coordinator decides and reports once a step. A
// step that is followed by an evaluation runs one forward and, on the last stage, one loss of each
// of its microbatches too, in each replica, which loads its samples and measures its losses once;
// these are gathered and then reported once. Another step has none of it. There are as many steps
// as the job asks for, or as many as run until `stop` is decided, and behind them the leading
// replica exports each stage once, if at all.
//
// Where there are rounds, a step that begins one draws prompts and scores what was answered once,
// every step packs its samples once, and each replica loads them from the round instead of a text;
// a model that is not trained runs one forward of each microbatch.
//
// A step is an iteration of a loop over steps, or all that stands outside of loops, if there are
// tasks.
//
// Where the verdict on the step before may be bad, forwards and losses in front of the `settle`
// count for nothing if it is: all run behind it. Such a step reports the one before, and itself
// only where it is settled at its own end.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "compiler/Verify/Accesses.h"
#include "compiler/Verify/Revoked.h"
#include "compiler/Verify/Rules.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime::verify {
namespace {

using namespace plan;

enum Kind : std::uint8_t {
  kForward,
  kLoss,
  kBackward,
  kInput,
  kWeight,
  kInfer,
  kLogProbabilities,
  kEvaluate,
  kEvaluateLoss
};
constexpr unsigned kWhole = 1u << kBackward, kSplit = 1u << kInput | 1u << kWeight,
                   kHeldOut = 1u << kEvaluate | 1u << kEvaluateLoss;
constexpr std::string_view kNames[] = {
    "forward",           "loss",     "backward",     "backward_input", "backward_weight", "infer",
    "log_probabilities", "evaluate", "evaluate_loss"};

constexpr std::array kOnce = {Opcode::Decide,
                              Opcode::Load,
                              Opcode::Report,
                              Opcode::LoadEvaluation,
                              Opcode::MeasureEvaluation, // a step
                              Opcode::ReportEvaluation,
                              Opcode::DrawPrompts,
                              Opcode::Score,
                              Opcode::DrawEvaluation,
                              Opcode::ScoreEvaluation,
                              Opcode::Pack,
                              Opcode::LoadRound,
                              Opcode::Advantage};

std::optional<Kind> kindOf(std::uint16_t opcode) {
  switch (static_cast<Opcode>(opcode)) {
  case Opcode::Forward:
    return kForward;
  case Opcode::Loss:
  case Opcode::PolicyLoss:
    return kLoss;
  case Opcode::Infer:
    return kInfer;
  case Opcode::LogProbabilities:
    return kLogProbabilities;
  case Opcode::Backward:
    return kBackward;
  case Opcode::BackwardInput:
    return kInput;
  case Opcode::BackwardWeight:
    return kWeight;
  case Opcode::Evaluate:
    return kEvaluate;
  case Opcode::EvaluateLoss:
    return kEvaluateLoss;
  default:
    return std::nullopt;
  }
}

/// Microbatches of the evaluation behind a step.
std::uint32_t evaluatedIn(const ActionTable &table) {
  return table.choice().of(Decision::Evaluate) != 0 ? table.evaluationMicrobatches() : 0;
}

/// One step of a replica: for each stage and microbatch a bit for each kind of task that ran.
class Step {
public:
  Step(const ActionTable &table, std::uint32_t replica, bool isOutside, Verdict &verdict)
      : table(table), replica(replica), isOutside(isOutside), verdict(verdict),
        microbatches(table.microbatches()), evaluated(evaluatedIn(table)),
        cells(std::max(microbatches, evaluated)) {}

  void add(const RankView &rank, const Segment &segment) {
    const std::uint32_t begin = segment.first, end = segment.end,
                        revoked = endOfRevoked(table, rank, segment);
    for (std::uint32_t entry = begin; entry < end; ++entry) {
      const std::uint16_t opcode = table.action(rank, entry).opcode;
      const std::optional<Kind> kind = kindOf(opcode);
      if (kind && (entry >= revoked || (*kind != kForward && *kind != kLoss)))
        task(rank, entry, *kind);
      for (std::size_t index = 0; index < kOnce.size(); ++index)
        once[index] += opcode == code(kOnce[index]);
    }
    judgeGathered(rank, begin, end);
  }

  /// Whether there was a step at all.
  bool complete(const std::string &where) {
    if (tasks == 0) {
      for (std::size_t index = 0; index < kOnce.size(); ++index)
        if (once[index] != timesWantedBehind(kOnce[index]))
          verdict.error(Rule::S1, 6, misplaced(index, where));
      return false;
    }
    for (std::uint32_t stage = 0; stage < table.stages().size(); ++stage)
      for (std::uint32_t microbatch = 0; microbatch < cells; ++microbatch)
        if (!complete(stage, microbatch, where) || !completeHeldOut(stage, microbatch, where))
          break; // what follows in this stage would only repeat it
    for (std::size_t index = 0; index < kOnce.size(); ++index)
      if (const std::uint32_t wanted = timesWanted(kOnce[index]); once[index] != wanted)
        verdict.error(Rule::S1, 6,
                      fmt::format("`{}` runs {} {}, not {}", signatureOf(code(kOnce[index]))->name,
                                  times(once[index]), where,
                                  wanted == 0 ? "at all" : times(wanted)));
    return true;
  }

private:
  /// In a step of this replica.
  std::uint32_t timesWanted(Opcode opcode) const {
    const bool inRounds = hasRounds(table.plan());
    switch (opcode) {
    case Opcode::DrawPrompts: // where a round begins
    case Opcode::Score:
      return inRounds && replica == 0 && beginsRound(table) ? 1 : 0;
    case Opcode::DrawEvaluation:
    case Opcode::ScoreEvaluation:
      return inRounds && replica == 0 ? table.choice().of(Decision::Evaluate) : 0;
    case Opcode::Pack:
      return inRounds && replica == 0 ? 1 : 0;
    case Opcode::Advantage:
      return table.plan().round.algorithm.klInReward ? 1 : 0;
    case Opcode::LoadRound:
      return inRounds ? 1 : 0;
    case Opcode::Load:
      return inRounds ? 0 : 1;
    default:
      break;
    }
    if (isEvaluation(opcode) && evaluated == 0)
      return 0;
    // Of the step before, and of this one if it is settled at its own end.
    if (opcode == Opcode::Report && replica == 0 && isPostValidated(table.plan()))
      return 1 + (table.choice().of(Decision::Settle) != 0 ? 1 : 0);
    const bool inEachReplica = opcode == Opcode::Load || opcode == Opcode::LoadEvaluation ||
                               opcode == Opcode::MeasureEvaluation;
    return inEachReplica || replica == 0 ? 1 : 0;
  }

  /// What was measured of an evaluation goes to the coordinator, over as many groups as lead there,
  /// before it is reported there. On the other ranks C3 sees that they take part.
  void judgeGathered(const RankView &rank, std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t wanted = table.replicas() > 1 ? 2 : 1;
    std::uint32_t measured = kNone, gathers = 0;
    for (std::uint32_t entry = begin; entry <= end; ++entry) {
      const bool isLast = entry == end;
      const std::uint16_t opcode = isLast ? 0 : table.action(rank, entry).opcode;
      gathers += opcode == code(Opcode::Gather);
      if ((isLast || opcode == code(Opcode::ReportEvaluation)) && measured != kNone &&
          gathers < wanted)
        return ungathered(rank, measured, isLast ? measured : entry);
      if (opcode == code(Opcode::MeasureEvaluation))
        measured = entry, gathers = 0;
    }
  }

  void ungathered(const RankView &rank, std::uint32_t measured, std::uint32_t entry) {
    const ActionPlace place = placeOf(table, rank, measured);
    Finding &finding = verdict.error(
        Rule::S1, 10, place, "what an evaluation has measured is not gathered before its report");
    verdict.from(finding, place);
    verdict.to(finding, placeOf(table, rank, entry));
  }

  std::string misplaced(std::size_t index, const std::string &where) const {
    const std::string_view name = signatureOf(code(kOnce[index]))->name;
    return timesWantedBehind(kOnce[index]) == 0
               ? fmt::format("`{}` runs {}, where there is no step", name, where)
               : fmt::format("`{}` runs {} {}, not once", name, times(once[index]), where);
  }

  /// Behind the last step held-out prompts are answered once more.
  std::uint32_t timesWantedBehind(Opcode opcode) const {
    const bool asks = opcode == Opcode::DrawEvaluation || opcode == Opcode::ScoreEvaluation;
    return asks && replica == 0 && isOutside && table.plan().round.evaluation.every != 0 ? 1 : 0;
  }

  static bool beginsRound(const ActionTable &table) {
    return valuesOf(table.plan(), Decision::Rollout).empty() ||
           table.choice().of(Decision::Rollout) != 0;
  }

  std::uint16_t &ran(std::uint32_t stage, std::uint32_t microbatch) {
    return bits[std::size_t{stage} * cells + microbatch];
  }

  void task(const RankView &rank, std::uint32_t entry, Kind kind) {
    if (tasks++ == 0)
      bits.assign(table.stages().size() * cells, 0);
    const std::uint32_t stage = rank.stages[table.action(rank, entry).stage],
                        microbatch = table.microbatch(rank, entry);
    if (microbatch >= (kind >= kEvaluate ? evaluated : microbatches))
      return superfluous(rank, entry);
    const auto bit = static_cast<std::uint16_t>(1u << kind);
    std::uint16_t &known = ran(stage, microbatch);
    if ((known & bit) != 0)
      repeated(rank, entry, kind);
    known |= bit;
  }

  void superfluous(const RankView &rank, std::uint32_t entry) {
    const ActionPlace place = placeOf(table, rank, entry);
    verdict.to(verdict.error(Rule::S1, 5, place,
                             fmt::format("{} runs in a step of {} microbatches, followed by an "
                                         "evaluation of {}",
                                         verdict.words(place), microbatches, evaluated)),
               place);
  }

  void repeated(const RankView &rank, std::uint32_t entry, Kind kind) {
    const StageView &stage = table.stages()[rank.stages[table.action(rank, entry).stage]];
    const ActionPlace place = placeOf(table, rank, entry);
    Finding &finding =
        verdict.error(Rule::S1, 2, place,
                      fmt::format("{} of stage {}, microbatch {} runs twice in a step",
                                  kNames[kind], stage.stage, table.microbatch(rank, entry)));
    verdict.to(finding, place);
  }

  bool complete(std::uint32_t stage, std::uint32_t microbatch, const std::string &where) {
    if (microbatch >= microbatches)
      return true;
    const StageView &view = table.stages()[stage];
    const unsigned known = ran(stage, microbatch) & ~kHeldOut;
    if (!plan::isTrained({static_cast<std::uint16_t>(view.model), view.stage}))
      return inferred(view, microbatch, known, where);
    if (!view.runs(microbatch))
      return known == 0 || inOtherCopy(view, microbatch, where);
    const unsigned needed = 1u << kForward | (view.isLast ? 1u << kLoss : 0u);
    return known == (needed | kWhole) || known == (needed | kSplit) ||
           incomplete(stage, microbatch, known, where);
  }

  bool completeHeldOut(std::uint32_t stage, std::uint32_t microbatch, const std::string &where) {
    if (microbatch >= evaluated)
      return true;
    const StageView &view = table.stages()[stage];
    const unsigned known = ran(stage, microbatch) & kHeldOut;
    if (view.copy != 0)
      return known == 0 || inOtherCopy(view, microbatch, where);
    if (known == (view.isLast ? kHeldOut : 1u << kEvaluate))
      return true;
    const std::string subject = fmt::format("stage {}, microbatch {}", view.stage, microbatch);
    if ((known & 1u << kEvaluate) == 0)
      return missing("evaluate", subject, where);
    return view.isLast ? missing("evaluate_loss", subject, where)
                       : fault(4, fmt::format("{} runs a loss {}, but is not the last stage",
                                              subject, where));
  }

  bool incomplete(std::uint32_t stage, std::uint32_t microbatch, unsigned known,
                  const std::string &where) {
    const StageView &view = table.stages()[stage];
    const std::string subject = fmt::format("stage {}, microbatch {}", view.stage, microbatch);
    if ((known & 1u << kForward) == 0)
      return missing("forward", subject, where);
    if ((known & kWhole) != 0 && (known & kSplit) != 0)
      return fault(3, fmt::format("{} runs backward whole and in parts {}", subject, where));
    if ((known & kWhole) == 0 && (known & kSplit) != kSplit)
      return missing((known & kSplit) == 0         ? "backward"
                     : (known & 1u << kInput) == 0 ? "backward_input"
                                                   : "backward_weight",
                     subject, where);
    return view.isLast ? missing("loss", subject, where)
                       : fault(4, fmt::format("{} runs a loss {}, but is not the last stage",
                                              subject, where));
  }

  /// A model that is not trained runs forwards alone, and tells what it thinks of the samples.
  bool inferred(const StageView &view, std::uint32_t microbatch, unsigned known,
                const std::string &where) {
    const unsigned needed = 1u << kInfer | (view.isLast ? 1u << kLogProbabilities : 0u);
    if (known == needed)
      return true;
    const std::string subject =
        fmt::format("stage {} of model {}, microbatch {}", view.stage, view.model, microbatch);
    if ((known & 1u << kInfer) == 0)
      return missing("infer", subject, where);
    return view.isLast && (known & 1u << kLogProbabilities) == 0
               ? missing("log_probabilities", subject, where)
               : fault(12,
                       fmt::format("{} is trained {}, though the model is not", subject, where));
  }

  bool inOtherCopy(const StageView &view, std::uint32_t microbatch, const std::string &where) {
    return fault(11, fmt::format("stage {}, microbatch {} runs {}, though the microbatch passes "
                                 "through another copy of the model",
                                 view.stage, microbatch, where));
  }
  bool missing(std::string_view kind, const std::string &subject, const std::string &where) {
    return fault(1, fmt::format("no {} of {} runs {}", kind, subject, where));
  }
  bool fault(int number, std::string message) {
    verdict.error(Rule::S1, number, std::move(message));
    return false;
  }

  const ActionTable &table;
  std::uint32_t replica;
  bool isOutside; // of loops
  Verdict &verdict;
  std::uint32_t microbatches, evaluated; // of the step, and of what follows it
  std::uint32_t cells;                   // of each stage in `bits`
  std::array<std::uint32_t, kOnce.size()> once{};
  std::uint64_t tasks = 0;
  std::vector<std::uint16_t> bits;
};

/// Global ids of the loops over steps, each once.
std::vector<std::uint32_t> loopsOf(const ActionTable &table) {
  std::vector<std::uint32_t> loops;
  for (const RankView &rank : table.ranks())
    for (const Segment &segment : rank.segments)
      if (segment.isLoop() && std::find(loops.begin(), loops.end(), segment.loop) == loops.end())
        loops.push_back(segment.loop);
  return loops;
}

bool isStop(const Condition &condition) {
  return condition.decision == Decision::Stop && holds(condition, 1) && !holds(condition, 0);
}

std::string nameOf(const ActionTable &table, std::uint32_t replica, const std::string &where) {
  return table.replicas() == 1 ? where : fmt::format("{} of replica {}", where, replica);
}

/// Steps that the segments of one loop (kNone: outside of loops) run.
std::uint64_t judgeSteps(const ActionTable &table, std::uint32_t loop, Verdict &verdict) {
  const std::string where =
      loop == kNone ? "outside of loops" : fmt::format("in an iteration of loop {}", loop);
  std::uint64_t steps = 0;
  for (std::uint32_t replica = 0; replica < table.replicas(); ++replica) {
    Step step(table, replica, loop == kNone, verdict);
    std::uint64_t trips = 0;
    for (const RankView &rank : table.replica(replica))
      for (const Segment &segment : rank.segments)
        if (segment.loop == loop) {
          step.add(rank, segment);
          trips = segment.trips;
        }
    const bool hasSteps = step.complete(nameOf(table, replica, where));
    steps = replica == 0 && hasSteps ? trips : steps; // C2 sees loops that differ
  }
  return steps;
}

/// Only `stop` says that the run is over, and where it may say so, the steps end.
void judgeEnds(const ActionTable &table, Verdict &verdict) {
  const Plan &plan = table.plan();
  const bool mayStop = std::ranges::any_of(valuesOf(plan, Decision::Stop),
                                           [](std::uint32_t value) { return value == 1; });
  for (const RankView &rank : table.ranks())
    for (const Segment &segment : rank.segments) {
      if (!segment.isLoop())
        continue;
      const std::vector<Loop> &loops = rank.program->loops;
      const std::uint8_t until = std::ranges::find(loops, segment.loop, &Loop::id)->until;
      if (until == 0 ? !mayStop : isStop(plan.conditions[until - 1]))
        continue;
      verdict.error(Rule::S1, 7,
                    fmt::format("loop {} of rank {} ends {}", segment.loop, rank.rank,
                                until == 0 ? std::string("on no condition, though `stop` may be "
                                                         "decided")
                                           : "on `" + describeCondition(plan, until) +
                                                 "`, which does not say that the run is over"));
      return; // other ranks would only repeat it
    }
}

} // namespace

void verifyTasksComplete(const ActionTable &table, Verdict &verdict) {
  if (verdict.count(Rule::S3) + verdict.count(Rule::D3) != 0)
    return; // a stage without a rank, or with two
  // A stage and microbatch needs two tasks at least; said here, so that a plan of a few bytes
  // cannot ask for a large table.
  const std::uint64_t evaluated = evaluatedIn(table);
  const std::uint64_t ofStep = hasReference(table.plan()) ? 1 : 2; // of a stage that is not trained
  const std::uint64_t tasks = std::uint64_t{table.microbatches()} * ofStep + evaluated;
  if (tasks * table.stages().size() * table.replicas() > table.size()) {
    verdict.error(Rule::S1, 1,
                  fmt::format("{} stages with {} microbatches cannot run in {} actions",
                              table.stages().size(), table.microbatches() + evaluated,
                              table.size()));
    return;
  }
  std::uint64_t steps = judgeSteps(table, kNone, verdict);
  for (const std::uint32_t loop : loopsOf(table))
    steps += judgeSteps(table, loop, verdict);
  if (steps != table.plan().run.steps)
    verdict.error(
        Rule::S1, 7,
        fmt::format("the plan runs {} steps, the job asks for {}", steps, table.plan().run.steps));
  judgeEnds(table, verdict);
  verifyExportedOnce(table, verdict);
  if (hasRounds(table.plan()))
    verifyPromptsAnswered(table, verdict);
}

} // namespace vime::verify
