// S4: in a step, a stage's weight gradients add up in ascending microbatch (or, where the plan says
// so, as its order has them), the first one overwriting what the last step left; where the head is
// tied to the embedding, its sum is added to the embedding's once, when both are complete; where
// there are two copies of the model, gradients are then added up once over both, where there are
// replicas, reduced once over all of them, to a share for each where they share the model; then
// they are scaled once, their squares taken, those of shares added up over the replicas, gathered
// with those of all stages, the factor for clipping computed, and the optimizer runs once.
//
// Ascending order is what makes sums bit-equal across orders (architecture.md, section 8); tables
// and looped-bfs may have another one, which is as fixed but rounds differently. Dispatch order is
// judged here; that lanes and ranks keep to it is for M3 and C2.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/Verify/Accesses.h"
#include "compiler/Verify/Rules.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Mesh.h"

namespace vime::verify {
namespace {

using namespace plan;

enum class Phase : std::uint8_t { Gradients, Joined, Reduced, Scaled, Squared, Updated };

struct StageState {
  Phase phase = Phase::Gradients;
  std::uint32_t gradients = 0; // added so far
  std::uint32_t lastMicrobatch = 0;
  std::uint32_t last = kNone;         // entry of the latest action of this chain
  std::uint32_t lastGradient = kNone; // entry of the latest weight gradient
  std::uint32_t sum = kNone;          // buffer that its gradients are added up in
  std::uint32_t squares = kNone;      // buffer that its squares went to
  std::uint32_t tiedSum = kNone;      // of the head: buffer that its tied gradients are added up in
  std::uint32_t tiedTaken = kNone;    // of the head: entry that sends or adds them
  std::uint32_t tiedAdded = kNone;    // of the embedding: entry that adds them
  /// Input gradients that an empty microbatch skips: microbatch and entry.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> skipped;
};

/// One step of one rank.
class Chain {
public:
  Chain(const ActionTable &table, const RankView &rank, Verdict &verdict)
      : table(table), rank(rank), verdict(verdict), stages(rank.stages.size()),
        joins(std::any_of(table.stages().begin(), table.stages().end(),
                          [](const StageView &stage) { return stage.copies > 1; })),
        reduces(table.plan().mesh.data > 1), summed(reduces ? Phase::Reduced
                                                    : joins ? Phase::Joined
                                                            : Phase::Gradients),
        isSharded(std::ranges::any_of(table.plan().models,
                                      [](const Model &model) { return model.sharded; })),
        mayBeBad(std::ranges::any_of(valuesOf(table.plan(), Decision::Bad),
                                     [](std::uint32_t value) { return value != 0; })) {}

  void run(const Segment &segment) {
    for (std::uint32_t entry = segment.first; entry < segment.end; ++entry)
      judge(entry, table.action(rank, entry));
    if (!used)
      return;
    for (std::uint32_t stage = 0; stage < stages.size(); ++stage) {
      if (!trains(stage))
        continue;
      if (stages[stage].phase != Phase::Updated)
        unfinished(stage);
      if (isTiedHead(stage) && stages[stage].gradients != 0 && stages[stage].tiedTaken == kNone)
        fault(13, stages[stage].lastGradient, kNone,
              "leaves a gradient of the tied matrix that is never added to the embedding's");
    }
  }

  void judgeSkips(const Segment &segment) {
    for (std::uint32_t entry = segment.first; entry < segment.end; ++entry)
      judgeSkip(entry, table.action(rank, entry));
  }

private:
  bool trains(std::uint32_t stage) const { return isTrained(rank.program->stages[stage]); }

  void judge(std::uint32_t entry, const Action &action) {
    judgeSkip(entry, action);
    switch (static_cast<Opcode>(action.opcode)) {
    case Opcode::BackwardInput:
      return inputGradient(entry, action);
    case Opcode::Backward:
    case Opcode::BackwardWeight:
      return weightGradient(entry, action);
    case Opcode::Send:
      return takeTied(entry, rank.program->operands[action.operands]);
    case Opcode::AddTied:
      return addTied(entry, action);
    case Opcode::AllReduce:
    case Opcode::ReduceScatter:
      return reduce(entry, action);
    case Opcode::ReduceSquares:
      return reduceSquares(entry, action);
    case Opcode::ScaleGradients:
      if (isTiedEmbedding(action.stage) && stages[action.stage].tiedAdded == kNone)
        fault(12, entry, stages[action.stage].last,
              "scales the gradients before those of the tied head are added");
      return advance(entry, action, summed, Phase::Scaled,
                     stages[action.stage].phase < summed ? 14 : 4, "scales the gradients");
    case Opcode::SquareNorm:
      stages[action.stage].squares = rank.program->operands[action.operands + 1];
      return advance(entry, action, Phase::Scaled, Phase::Squared, 6,
                     "takes squares of the gradients");
    case Opcode::AllGather:
      return gatherSquares(entry, action);
    case Opcode::Clip:
      return clip(entry);
    case Opcode::Optimize:
      guard(entry, action);
      if (clipped == kNone)
        fault(9, entry, stages[action.stage].last, "runs before `clip` of the same step");
      return advance(entry, action, Phase::Squared, Phase::Updated, 9, "runs the optimizer");
    case Opcode::OptimizeEarly:
      if (action.guard != 0)
        fault(16, entry, kNone, "is guarded, though what it does can be taken back");
      if (gathered == kNone)
        fault(9, entry, stages[action.stage].last,
              "runs before the squares of the step are gathered");
      return advance(entry, action, Phase::Squared, Phase::Updated, 9, "runs the optimizer");
    default:
      return;
    }
  }

  /// The first weight gradient of a step clears those of the last one, and what belongs to no
  /// microbatch is not empty. Transfers and calls are C1's and C3's to judge.
  void judgeSkip(std::uint32_t entry, const Action &action) {
    if ((action.flags & kSkipIfEmpty) != 0 && isNeededWhenEmpty(action))
      neededWhenEmpty(entry);
  }
  static bool isNeededWhenEmpty(const Action &action) {
    const Signature &signature = *signatureOf(action.opcode);
    if (signature.family == Family::Transfer || signature.family == Family::Collective)
      return false;
    const bool isGradient =
        action.opcode == code(Opcode::Backward) || action.opcode == code(Opcode::BackwardWeight);
    return !signature.perMicrobatch ||
           (isGradient && (action.immediate & kOverwriteGradients) != 0);
  }

  void neededWhenEmpty(std::uint32_t entry) {
    fault(17, entry, kNone,
          "is skipped where a microbatch is empty, though what it leaves is read all the same");
  }

  /// The gradients of norms are made here, and stored by the weight gradient.
  void inputGradient(std::uint32_t entry, const Action &action) {
    StageState &stage = stages[action.stage];
    if ((action.flags & kSkipIfEmpty) != 0)
      stage.skipped.push_back({table.microbatch(rank, entry), entry});
  }

  void weightGradient(std::uint32_t entry, const Action &action) {
    used = true;
    StageState &stage = stages[action.stage];
    const bool overwrites = (action.immediate & kOverwriteGradients) != 0,
               first = stage.gradients == 0;
    const std::uint32_t microbatch = table.microbatch(rank, entry);
    if (stage.phase == Phase::Joined || stage.phase == Phase::Reduced)
      fault(15, entry, stage.last, "adds a weight gradient after the gradients were reduced");
    else if (stage.phase != Phase::Gradients)
      fault(5, entry, stage.last, "adds a weight gradient after the gradients were scaled");
    else if (!first && microbatch <= stage.lastMicrobatch &&
             table.plan().gradientOrder == GradientOrder::Ascending)
      fault(1, entry, stage.last,
            fmt::format("adds the weight gradient of microbatch {} after that of microbatch {}",
                        microbatch, stage.lastMicrobatch));
    else if (first && !overwrites)
      fault(2, entry, kNone,
            "is the first weight gradient of the stage in a step, but adds to those of the last "
            "step");
    else if (!first && overwrites)
      fault(3, entry, stage.last, "overwrites the weight gradients before it");
    else if (stage.tiedAdded != kNone)
      fault(12, entry, stage.tiedAdded,
            "adds a weight gradient after those of the tied head were added");
    else if (stage.tiedTaken != kNone)
      fault(13, entry, stage.tiedTaken,
            "adds to a gradient of the tied matrix that was already handed on");
    else if (!first && (stage.sum != sumOf(action) || stage.tiedSum != tiedSumOf(action)))
      fault(11, entry, stage.last, "adds to another buffer than the weight gradient before it");
    if ((action.flags & kSkipIfEmpty) == 0)
      for (const auto &[skipped, input] : stage.skipped)
        if (skipped == microbatch)
          neededWhenEmpty(input);
    stage.sum = sumOf(action);
    stage.tiedSum = tiedSumOf(action);
    ++stage.gradients;
    stage.lastMicrobatch = microbatch;
    stage.last = stage.lastGradient = entry;
  }

  std::uint32_t sumOf(const Action &action) const {
    constexpr std::uint32_t kWhole = 6,
                            kWeight = 7; // operand `gradients` of backward and backward_weight
    return rank.program
        ->operands[action.operands + (action.opcode == code(Opcode::Backward) ? kWhole : kWeight)];
  }

  void reduce(std::uint32_t entry, const Action &action) {
    const StageState &stage = stages[action.stage];
    if (isTiedEmbedding(action.stage) && stage.tiedAdded == kNone)
      fault(12, entry, stage.last, "reduces the gradients before those of the tied head are added");
    if (stage.gradients != 0 && stage.sum != rank.program->operands[action.operands])
      fault(14, entry, stage.last, "reduces another buffer than its weight gradients add up in");
    const Group &group = table.plan().groups[rank.program->lanes[action.lane].group];
    if (group.axes == bitOf(Axis::Mirror))
      advance(entry, action, Phase::Gradients, Phase::Joined, 14,
              "adds up the gradients of both copies");
    else
      advance(entry, action, joins ? Phase::Joined : Phase::Gradients, Phase::Reduced, 14,
              "reduces the gradients");
  }

  std::uint32_t tiedSumOf(const Action &action) const {
    constexpr std::uint32_t kWhole = 10, kWeight = 9; // operand `tied_gradients`, likewise
    return rank.program
        ->operands[action.operands + (action.opcode == code(Opcode::Backward) ? kWhole : kWeight)];
  }

  bool isTiedHead(std::uint32_t stage) const {
    const StageView &view = table.stages()[rank.stages[stage]];
    return view.isLast && table.plan().models[view.model].config.tiedHead;
  }
  bool isTiedEmbedding(std::uint32_t stage) const {
    const StageView &view = table.stages()[rank.stages[stage]];
    return view.isFirst && table.plan().models[view.model].config.tiedHead;
  }

  /// The head's sum leaves its buffer.
  void takeTied(std::uint32_t entry, std::uint32_t buffer) {
    for (std::uint32_t index = 0; index < stages.size(); ++index) {
      StageState &stage = stages[index];
      if (!isTiedHead(index) || stage.tiedSum != buffer)
        continue;
      if (stage.tiedTaken != kNone)
        fault(13, entry, stage.tiedTaken, "hands on the gradient of the tied matrix a second time");
      stage.tiedTaken = entry;
    }
  }

  void addTied(std::uint32_t entry, const Action &action) {
    used = true;
    StageState &stage = stages[action.stage];
    if (stage.tiedAdded != kNone)
      fault(12, entry, stage.tiedAdded, "adds the gradients of the tied head a second time");
    else if (stage.phase != Phase::Gradients || stage.gradients == 0)
      fault(12, entry, stage.last, "adds the gradients of the tied head out of turn");
    else if (stage.sum != rank.program->operands[action.operands + 1])
      fault(11, entry, stage.last, "adds to another buffer than the weight gradients before it");
    stage.tiedAdded = stage.last = entry;
    takeTied(entry, rank.program->operands[action.operands]);
  }

  void advance(std::uint32_t entry, const Action &action, Phase before, Phase after, int number,
               std::string_view what) {
    used = true;
    StageState &stage = stages[action.stage];
    if (stage.phase == after)
      fault(number, entry, stage.last, fmt::format("{} a second time", what));
    else if (stage.phase > after)
      fault(number, entry, stage.last, fmt::format("{} too late", what));
    else if (stage.phase < before)
      fault(number, entry, stage.last,
            fmt::format("{} before {}", what, nextOf(reached(stage.phase))));
    else if (stage.gradients == 0)
      fault(number, entry, stage.last, fmt::format("{} before there are any", what));
    stage.phase = std::max(stage.phase, after);
    stage.last = entry;
  }

  /// A step may be skipped as a whole, if its gradients are bad: by all stages or by none.
  void guard(std::uint32_t entry, const Action &action) {
    if (action.guard != 0 && !isNotBad(table.plan().conditions[action.guard - 1]))
      fault(16, entry, kNone, "is guarded by something else than bad gradients");
    else if (action.guard == 0 && mayBeBad)
      fault(16, entry, kNone, "is not guarded, though `bad` may be decided");
  }

  static bool isNotBad(const Condition &condition) {
    return condition.decision == Decision::Bad && !holds(condition, 1) && holds(condition, 0);
  }

  /// Where nothing is to be added up over copies or replicas, gradients are as if they were.
  Phase reached(Phase phase) const {
    if (phase == Phase::Gradients && !joins)
      phase = Phase::Joined;
    return phase == Phase::Joined && !reduces ? Phase::Reduced : phase;
  }

  static std::string_view nextOf(Phase phase) {
    constexpr std::string_view kNext[] = {
        "those of both copies are added up", "they are reduced",  "they are scaled",
        "their squares are taken",           "the optimizer ran", ""};
    return kNext[static_cast<std::size_t>(phase)];
  }

  /// Of all stages of the rank: each replica has squared its share.
  void reduceSquares(std::uint32_t entry, const Action &action) {
    used = true;
    const std::uint32_t buffer = rank.program->operands[action.operands];
    if (squaresReduced != kNone)
      fault(22, entry, squaresReduced, "adds up the squares of the shares a second time");
    else if (gathered != kNone)
      fault(22, entry, gathered, "adds up the squares of the shares too late");
    for (std::uint32_t stage = 0; stage < stages.size(); ++stage)
      if (!trains(stage))
        continue;
      else if (stages[stage].phase < Phase::Squared)
        fault(22, entry, stages[stage].last,
              fmt::format("adds up squares of shares before those of stage {} are taken",
                          stageName(stage)));
      else if (stages[stage].squares != buffer)
        fault(22, entry, stages[stage].last,
              fmt::format("adds up no squares of stage {}, which lie elsewhere", stageName(stage)));
    squaresReduced = entry;
  }

  void gatherSquares(std::uint32_t entry, const Action &action) {
    const std::uint32_t buffer = rank.program->operands[action.operands];
    if (rank.layout->buffers[buffer].kind != BufferKind::Squares)
      return;
    // Replicas have the same squares: along another axis there may be as many, but not all.
    if (table.plan().groups[rank.program->lanes[action.lane].group].axes != bitOf(Axis::Pipeline))
      fault(7, entry, kNone, "gathers squares of others than all ranks of its replica");
    if (isSharded && squaresReduced == kNone)
      fault(22, entry, kNone, "gathers squares of shares before they are added up");
    if (gathered != kNone)
      fault(7, entry, gathered, "gathers the squares a second time");
    for (std::uint32_t stage = 0; stage < stages.size(); ++stage)
      if (!trains(stage))
        continue;
      else if (stages[stage].phase < Phase::Squared)
        fault(7, entry, stages[stage].last,
              fmt::format("gathers squares before those of stage {} are taken", stageName(stage)));
      else if (stages[stage].squares != buffer)
        fault(7, entry, stages[stage].last,
              fmt::format("gathers no squares of stage {}, which lie elsewhere", stageName(stage)));
    gathered = entry;
  }

  void clip(std::uint32_t entry) {
    if (clipped != kNone)
      fault(8, entry, clipped, "computes the clip factor a second time");
    else if (gathered == kNone)
      fault(8, entry, kNone, "computes the clip factor before the squares are gathered");
    clipped = entry;
  }

  void unfinished(std::uint32_t stage) {
    constexpr std::string_view kMissing[] = {"added up over both copies of the model",
                                             "reduced over the replicas", "scaled", "squared",
                                             "applied by the optimizer"};
    constexpr int kNumbers[] = {14, 14, 4, 6, 9};
    const auto phase = static_cast<std::size_t>(reached(stages[stage].phase));
    std::string message = fmt::format("the gradients of stage {} are never {} in a step",
                                      stageName(stage), kMissing[phase]);
    if (stages[stage].last == kNone) {
      verdict.error(Rule::S4, kNumbers[phase], std::move(message));
      return;
    }
    const ActionPlace place = placeOf(table, rank, stages[stage].last);
    verdict.from(verdict.error(Rule::S4, kNumbers[phase], place, std::move(message)), place);
  }

  std::uint32_t stageName(std::uint32_t local) const {
    return table.stages()[rank.stages[local]].stage;
  }

  void fault(int number, std::uint32_t entry, std::uint32_t before, std::string_view what) {
    const ActionPlace place = placeOf(table, rank, entry);
    Finding &finding =
        verdict.error(Rule::S4, number, place, fmt::format("{} {}", verdict.words(place), what));
    if (before != kNone)
      verdict.from(finding, placeOf(table, rank, before));
    verdict.to(finding, place);
  }

  const ActionTable &table;
  const RankView &rank;
  Verdict &verdict;
  std::vector<StageState> stages;
  const bool joins, reduces; // over copies of the model, over replicas
  const Phase summed;        // before which nothing may be scaled
  std::uint32_t squaresReduced = kNone, gathered = kNone, clipped = kNone;
  const bool isSharded;
  const bool mayBeBad;
  bool used = false;
};

/// Parameters and moments are set once, before the first step.
void judgeInitialization(const ActionTable &table, const RankView &rank, Verdict &verdict) {
  std::vector<std::uint32_t> first(rank.stages.size(), kNone);
  for (const Segment &segment : rank.segments)
    for (std::uint32_t entry = segment.first; entry < segment.end; ++entry) {
      const Action &action = table.action(rank, entry);
      if (action.opcode != code(Opcode::Initialize))
        continue;
      std::uint32_t &known = first[action.stage];
      if (known == kNone && !segment.isLoop()) {
        known = entry;
        continue;
      }
      const ActionPlace place = placeOf(table, rank, entry);
      Finding &finding = verdict.error(Rule::S4, 10, place,
                                       fmt::format("{} runs more than once", verdict.words(place)));
      if (known != kNone)
        verdict.from(finding, placeOf(table, rank, known));
      verdict.to(finding, place);
      known = entry;
    }
  for (std::uint32_t stage = 0; stage < first.size(); ++stage)
    if (first[stage] == kNone)
      verdict.error(Rule::S4, 10,
                    fmt::format("the weights of stage {} are never initialised",
                                table.stages()[rank.stages[stage]].stage));
}

} // namespace

void verifyGradientsAndUpdate(const ActionTable &table, Verdict &verdict) {
  if (verdict.count(Rule::S1) + verdict.count(Rule::S3) != 0)
    return; // gradients of tasks that do not exist
  for (const RankView &rank : table.ranks()) {
    const bool generates = table.plan().mesh.isEngine(rank.rank);
    if (!generates) // its weights come from who trains them (W2)
      judgeInitialization(table, rank, verdict);
    for (const Segment &segment : rank.segments)
      if (generates)
        Chain(table, rank, verdict).judgeSkips(segment);
      else
        Chain(table, rank, verdict).run(segment);
  }
  verifyStepsSettled(table, verdict);
}

} // namespace vime::verify
