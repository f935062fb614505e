#include "compiler/Verify/S2Comparison.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime::verify {

using namespace plan;

namespace {

/// What is measured there tells only what has been saved.
bool isBehindSteps(const RankView &rank, std::uint32_t instant) {
  const std::uint32_t segment = instant / 2;
  return segment > 0 && !rank.segments[segment].isLoop();
}

/// Each replica loads its own part of a step.
bool isLoaded(Product product) {
  const std::uint8_t opcode = opcodeOf(product);
  return opcode == opcodeIndex(Opcode::Load) || opcode == opcodeIndex(Opcode::LoadRound) ||
         opcode == opcodeIndex(Opcode::LoadEvaluation);
}

bool isFirstIteration(std::uint32_t instant) { return instant % 2 == 0; }

/// Nobody who waits for the norm wants what others do ahead of it, and nobody who trains on a text
/// what comes from rounds.
bool isOfPlan(const Signature &writer, const Plan &plan) {
  const bool runsEarly = isPostValidated(plan);
  switch (writer.opcode) {
  case Opcode::Load:
  case Opcode::Loss:
    return !hasRounds(plan);
  case Opcode::LoadRound:
  case Opcode::PolicyLoss:
  case Opcode::DrawPrompts:
  case Opcode::DrawEvaluation:
  case Opcode::Generate:
    return hasRounds(plan);
  case Opcode::Advantage:
    return plan.round.algorithm.klInReward;
  case Opcode::OptimizeEarly:
  case Opcode::Settle:
  case Opcode::Redo:
    return runsEarly;
  case Opcode::Optimize:
    return !runsEarly;
  default:
    return true;
  }
}

/// Where a KL is taken out of the rewards, advantages are not those that were loaded.
bool isBeforeAdvantages(const Plan &plan, const Action &reader, Product product) {
  return plan.round.algorithm.klInReward && reader.opcode == code(Opcode::PolicyLoss) &&
         opcodeOf(product) == opcodeIndex(Opcode::LoadRound) &&
         signatureTable()[opcodeOf(product)]->operands[operandOf(product)].name == "policy";
}

bool isEarly(Product product) { return opcodeOf(product) == opcodeIndex(Opcode::OptimizeEarly); }

} // namespace

bool Comparison::stepHolds(const Read &read, const Value &value, const Need &need,
                           std::uint32_t instant) const {
  if (need.step == OfStep::Settled)
    return read.entry < places[instant / 2].early ? value.instant + 1 == instant
                                                  : value.instant == instant;
  if (need.step == OfStep::Latest)
    return value.instant == instant || !rank.segments[instant / 2].isLoop();
  const bool isUpdate =
      opcodeOf(value.product) == opcodeIndex(Opcode::Optimize) || isEarly(value.product);
  const bool isRedo = opcodeOf(value.product) == opcodeIndex(Opcode::Redo); // of either step's end
  if (need.step == OfStep::Weights && !isFirstIteration(instant))
    return ((isUpdate || isRedo) && value.instant + 1 == instant) ||
           (isRedo && value.instant == instant);
  if (need.step == OfStep::Weights)
    return value.instant != instant ||
           !isUpdate; // what this step's optimizer writes is for the next
  return need.step != OfStep::This || value.instant == instant;
}

/// Behind a bad verdict on the step before nobody uses its weights, or what was made of them.
bool Comparison::isTakenBack(const Read &read, const Value &value, std::uint32_t instant) const {
  const bool isBad = table.choice().of(Decision::Verdict) != kStands;
  constexpr std::uint8_t kKept = 4; // operand `kept` of optimize_early: of the step before
  const bool isUnsettled = isBad && isEarly(value.product) && operandOf(value.product) != kKept &&
                           value.instant != instant && rank.segments[instant / 2].isLoop();
  return (value.revoked || isUnsettled) && read.entry >= places[instant / 2].revoked;
}

bool Comparison::holds(const Read &read, const Value &value, std::uint32_t instant) const {
  const Need &need = needs.needs[read.need];
  if (need.microbatch == OfMicrobatch::Slot && isOfOtherCopy(read))
    return true;
  if (value.product == kNothing && need.step == OfStep::Settled)
    return isFirstIteration(instant) && read.entry < places[instant / 2].early;
  // Behind the steps losses are counted for nobody; of two copies of the model an evaluation may
  // have left some that nobody has made.
  if (need.step == OfStep::Latest && need.microbatch == OfMicrobatch::Slot &&
      isBehindSteps(rank, instant))
    return true;
  if (!isLabel(value.product))
    return value.product == kUntold || (value.product == kNothing && need.step == OfStep::Sum);
  if (isTakenBack(read, value, instant))
    return false;
  if (need.step == OfStep::Latest && isBehindSteps(rank, instant))
    return true;
  const Need::Products &wanted = wantedBy(read);
  if (std::find(wanted.begin(), wanted.end(), value.product) == wanted.end() ||
      isBeforeAdvantages(table.plan(), table.action(rank, read.entry), value.product))
    return false;
  const Signature &writer = *signatures[opcodeOf(value.product)];
  return (!isLoaded(value.product) || isOfReplica(value)) &&
         (!writer.perStage || stageHolds(value, need, read.entry)) &&
         (!writer.perMicrobatch || need.microbatch == OfMicrobatch::Any ||
          value.microbatch == wantedMicrobatch(need, read)) &&
         stepHolds(read, value, need, instant);
}

/// Of several copies of the model each counts the losses of its own microbatches: those of the copy
/// whose head is here.
bool Comparison::isOfOtherCopy(const Read &read) const {
  if (table.action(rank, read.entry).opcode != code(Opcode::Measure))
    return false;
  const auto head = std::find_if(rank.stages.begin(), rank.stages.end(),
                                 [&](std::uint32_t stage) { return table.stages()[stage].isLast; });
  return head != rank.stages.end() && table.stages()[*head].copies > 1 &&
         !table.stages()[*head].runs(read.index);
}

bool Comparison::isOfReplica(const Value &value) const {
  const Mesh &mesh = table.plan().mesh;
  return replicaOf(mesh, table.rankOf(value.entry).rank) == replicaOf(mesh, rank.rank);
}

void Comparison::report(const Read &read, const Value &value, std::uint32_t writer,
                        std::uint32_t instant) {
  if (faults == kFaults)
    return;
  ++faults;
  if (wasOverwritten(read, value, writer, instant))
    return; // M3
  const std::string wanted = wantedText(read),
                    name = describeBuffer(table.plan(), rank.rank, read.buffer);
  if (value.product == kNothing)
    fault(1, read.entry, kNone,
          fmt::format("{}, but nothing has been written to `{}`", wanted, name));
  else if (isLabel(value.product) && isTakenBack(read, value, instant))
    fault(6, read.entry, writer,
          fmt::format("{}, but `{}` holds the {}, which a bad verdict takes back", wanted, name,
                      describe(value, instant)));
  else if (value.product == kTorn)
    fault(5, read.entry, writer,
          fmt::format("{}, but only a part of `{}` was received", wanted, name));
  else
    fault(value.instant == instant ? 2 : 3, read.entry, writer,
          fmt::format("{}, but `{}` holds the {}", wanted, name, describe(value, instant)));
}

void Comparison::fault(int number, std::uint32_t entry, std::uint32_t writer,
                       std::string_view what) {
  const ActionPlace place = placeOf(table, rank, entry);
  Finding &finding =
      verdict.error(Rule::S2, number, place, fmt::format("{} {}", verdict.words(place), what));
  if (writer != kNone)
    verdict.from(finding, placeOf(table, rank, writer));
  verdict.to(finding, place);
}

std::uint32_t Comparison::wantedMicrobatch(const Need &need, const Read &read) const {
  const std::uint32_t own = table.microbatch(rank, read.entry), slices = table.plan().data.slices;
  switch (need.microbatch) {
  case OfMicrobatch::Slot:
    return read.index;
  case OfMicrobatch::Before: // which is there: a first slice reads nothing
    return own - 1;
  case OfMicrobatch::Behind:
    return own + 1;
  case OfMicrobatch::EndSlice:
    return own - own % slices + slices - 1;
  default:
    return own;
  }
}

/// This rank wrote another microbatch into the slot, and the wanted one before.
bool Comparison::wasOverwritten(const Read &read, const Value &value, std::uint32_t writer,
                                std::uint32_t instant) const {
  const std::uint32_t microbatch = table.microbatch(rank, read.entry);
  return read.perMicrobatch && value.instant == instant && writer != kNone &&
         owns(writer, read.slot) &&
         ownerIn(table, rank, read.buffer, table.microbatch(rank, writer)) !=
             ownerIn(table, rank, read.buffer, microbatch) &&
         wasWritten(table, rank, read.entry, read.buffer, microbatch);
}

bool Comparison::owns(std::uint32_t writer, std::uint32_t slot) const {
  bool found = false;
  AccessReader(table, rank).forEach(writer, [&](const SlotAccess &access) {
    found = found ||
            (access.writes && access.perMicrobatch && access.first <= slot && slot < access.end);
  });
  return found;
}

const Need::Products &Comparison::wantedBy(const Read &read) const {
  const Need &need = needs.needs[read.need];
  if (!hasStage(read.entry))
    return need.products;
  const StageView &stage = table.stages()[stageOf(read.entry)];
  return stage.isFirst && need.onFirst != need.products ? need.onFirst
         : stage.isLast                                 ? need.onLast
                                                        : need.products;
}

bool Comparison::stageHolds(const Value &value, const Need &need, std::uint32_t entry) const {
  if (need.stage == OfStage::Any)
    return true;
  const std::uint32_t stage = stageOf(entry);
  switch (need.stage) {
  case OfStage::Before:
    return value.stage + 1u == stage && !table.stages()[stage].isFirst;
  case OfStage::Behind:
    return value.stage == stage + 1 && !table.stages()[stage].isLast;
  case OfStage::First:
    return table.stages()[value.stage].isFirst;
  case OfStage::Last:
    return table.stages()[value.stage].isLast;
  default:
    return value.stage == stage;
  }
}

std::int64_t Comparison::wantedStage(const Need &need, const StageView &reader) const {
  switch (need.stage) {
  case OfStage::Before:
    return std::int64_t{reader.stage} - 1;
  case OfStage::Behind:
    return std::int64_t{reader.stage} + 1;
  case OfStage::First:
    return 0;
  case OfStage::Last:
    return std::ssize(table.plan().models[reader.model].stages) - 1;
  default:
    return reader.stage;
  }
}

/// `needs the output of forward, stage 0, microbatch 2`.
std::string Comparison::wantedText(const Read &read) const {
  const Need &need = needs.needs[read.need];
  std::string text;
  const Need::Products &wanted = wantedBy(read);
  for (const Product product : wanted)
    if (product != kNothing && isOfPlan(*signatures[opcodeOf(product)], table.plan()) &&
        !isBeforeAdvantages(table.plan(), table.action(rank, read.entry), product))
      text += (text.empty() ? "needs the " : " or the ") + nameOf(product);
  const Signature &writer = *signatures[opcodeOf(wanted[0])];
  if (writer.perStage && need.stage != OfStage::Any)
    text += fmt::format(", stage {}", wantedStage(need, table.stages()[stageOf(read.entry)]));
  if (writer.perMicrobatch && need.microbatch != OfMicrobatch::Any)
    text += fmt::format(", microbatch {}", wantedMicrobatch(need, read));
  return text;
}

std::string Comparison::describe(const Value &value, std::uint32_t instant) const {
  const Signature &writer = *signatures[opcodeOf(value.product)];
  std::string text = nameOf(value.product);
  if (writer.perStage)
    text += fmt::format(", stage {}", table.stages()[value.stage].stage);
  if (writer.perMicrobatch)
    text += fmt::format(", microbatch {}", value.microbatch);
  if (isLoaded(value.product) && !isOfReplica(value))
    text += " of another replica";
  return value.instant == instant ? text : text + " of an earlier step";
}

} // namespace vime::verify
