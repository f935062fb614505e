// S2: dependences hold along every path. Each task reads what the task before it produced for the same microbatch of the
// same step: through the same buffer, or through exactly the message that carries it.
//
// Every rank's actions are run in dispatch order on labels instead of bytes: a write leaves the name of its output in the
// slot, a message carries the label of what it was sent from (S2Values.h), and each read is compared with the table of
// needs (S2Needs.cpp). That lanes and ranks keep to dispatch order is for M3 and C2.
//
// Two iterations of a loop over steps suffice: what a read finds was left by its own iteration, the one before or the
// prologue, and after the second iteration slots hold the same labels, one step on, as after the first.
#include <fmt/format.h>

#include "compiler/Verify/Rules.h"
#include "compiler/Verify/S2Values.h"
#include "runtime/Plan/Describe.h"

namespace vime::verify {
namespace {

using namespace plan;

class Dependences {
public:
  Dependences(const ActionTable &table, const RankView &rank, const SentValues &sent, Verdict &verdict)
      : table(table), rank(rank), sent(sent), verdict(verdict), slots(table, rank), writers(rank.slotCount, kNone) {}

  void run() {
    forEachInstant(table, rank, [this](const Instance &now) { judge(now); });
  }

private:
  void judge(const Instance &now) {
    const Action &action = table.action(rank, now.entry);
    const std::uint8_t opcode = opcodeIndex(action.opcode);
    const std::array<Need, 10> &needs = needsOf(opcode);
    if (signatures()[opcode].family == Family::Compute)
      judgeOptional(now, action, opcode);
    forEachAccess(table, rank, now.entry, [&](const SlotAccess &access) {
      if (access.reads && needs[access.operand].any)
        for (std::uint32_t slot = access.first; slot < access.end; ++slot)
          read(now, action, access, slot, needs[access.operand]);
      if (access.reads && (action.opcode == code(Opcode::Gather) || action.opcode == code(Opcode::AllGather)))
        wholly(now, access);
      for (std::uint32_t slot = access.first; access.writes && slot < access.end; ++slot) {
        slots.set(slot, sent.resolve(slots.valueAfter(now, access, slot)));
        writers[slot] = now.entry;
      }
    });
  }

  /// A gradient must come from behind unless this is the last stage.
  void judgeOptional(const Instance &now, const Action &action, std::uint8_t opcode) {
    const auto operands = signatures()[opcode].operands;
    for (std::uint8_t operand = 0; operand < operands.size(); ++operand) {
      const bool wanted = operands[operand].access == Access::Read && operands[operand].optional;
      const bool absent = rank.program->operands[action.operands + operand] == kNoBuffer;
      if (wanted && absent && !table.stages()[rank.stages[action.stage]].isLast)
        fault(4, now.entry, kNone, fmt::format("has no `{}`, though it is not on the last stage", operands[operand].name));
    }
  }

  void wholly(const Instance &now, const SlotAccess &access) {
    const Buffer &buffer = rank.layout->buffers[access.buffer];
    const std::uint64_t bytes = fixedBytes(table, rank, table.action(rank, now.entry), access.operand);
    if (bytes < buffer.extent() && now.iteration == 0)
      fault(5, now.entry, writers[access.first],
            fmt::format("takes only {} of the {} bytes of `{}`", bytes, buffer.extent(), bufferName(access)));
  }

  void read(const Instance &now, const Action &action, const SlotAccess &access, std::uint32_t slot, const Need &need) {
    const Value &value = slots[slot];
    const bool hasStage = signatures()[opcodeIndex(action.opcode)].perStage;
    const std::uint32_t stage = hasStage ? rank.stages[action.stage] : 0;
    if (value.product == kUntold || holds(now, value, need, stage, hasStage, slot - access.first))
      return;
    wrong(now, access, slot, need, stage, hasStage);
  }

  const std::array<Product, 3> &wantedOn(const Need &need, std::uint32_t stage, bool hasStage) const {
    const StageView &view = table.stages()[stage];
    return hasStage && view.isFirst && need.onFirst != need.products ? need.onFirst
           : hasStage && view.isLast                                  ? need.onLast
                                                                      : need.products;
  }

  bool holds(const Instance &now, const Value &value, const Need &need, std::uint32_t stage, bool hasStage,
             std::uint32_t slot) const {
    if (value.product >= kTorn)
      return value.product == kNothing && need.step == OfStep::Sum;
    const auto &wanted = wantedOn(need, stage, hasStage);
    if (value.product != wanted[0] && value.product != wanted[1] && value.product != wanted[2])
      return false;
    const Signature &writer = signatures()[value.product / 10];
    return (!writer.perStage || stageHolds(value, need, stage)) &&
           (!writer.perMicrobatch || microbatchHolds(now, value, need, slot)) && stepHolds(now, value, need);
  }

  bool stageHolds(const Value &value, const Need &need, std::uint32_t stage) const {
    switch (need.stage) {
    case OfStage::Same:
      return value.stage == stage;
    case OfStage::Before:
      // On the first stage what is wanted is of no stage; on the last (loss) of the same.
      return value.stage + 1u == stage && !table.stages()[stage].isFirst;
    case OfStage::Behind:
      return value.stage == stage + 1 && !table.stages()[stage].isLast;
    case OfStage::Any:
      break;
    }
    return true;
  }

  bool microbatchHolds(const Instance &now, const Value &value, const Need &need, std::uint32_t slot) const {
    return need.microbatch == OfMicrobatch::Any ||
           value.microbatch == (need.microbatch == OfMicrobatch::Same ? table.microbatch(rank, now.entry) : slot);
  }

  bool stepHolds(const Instance &now, const Value &value, const Need &need) const {
    if (need.step == OfStep::Weights) // what the optimizer writes in this step is for the next
      return value.instant != now.instant || signatures()[value.product / 10].opcode != Opcode::Optimize;
    return need.step != OfStep::This || value.instant == now.instant;
  }

  void wrong(const Instance &now, const SlotAccess &access, std::uint32_t slot, const Need &need, std::uint32_t stage,
             bool hasStage) {
    if (faults == kFaults)
      return;
    ++faults;
    const Value &value = slots[slot];
    const std::uint32_t microbatch = table.microbatch(rank, now.entry);
    if (access.perMicrobatch && value.product < kTorn && value.microbatch != microbatch &&
        wasWritten(table, rank, now.entry, access.buffer, microbatch))
      return; // it was there and is overwritten: M3
    const std::string wanted = wantedText(need, stage, hasStage, need.microbatch == OfMicrobatch::Slot ? slot - access.first : microbatch);
    if (value.product == kNothing)
      fault(1, now.entry, kNone, fmt::format("{}, but nothing has been written to `{}`", wanted, bufferName(access)));
    else if (value.product == kTorn)
      fault(5, now.entry, writers[slot], fmt::format("{}, but only a part of `{}` was received", wanted, bufferName(access)));
    else
      fault(value.instant == now.instant ? 2 : 3, now.entry, writers[slot],
            fmt::format("{}, but `{}` holds the {}", wanted, bufferName(access), describe(value, now)));
  }

  /// `needs the output of forward, stage 0, microbatch 2`.
  std::string wantedText(const Need &need, std::uint32_t stage, bool hasStage, std::uint32_t microbatch) const {
    std::string text = "needs the ";
    const auto &wanted = wantedOn(need, stage, hasStage);
    for (const Product product : wanted)
      if (product != kNothing)
        text += (product == wanted[0] ? "" : " or the ") + nameOf(product);
    const Signature &writer = signatures()[wanted[0] / 10];
    if (writer.perStage && need.stage != OfStage::Any) {
      const int offset = need.stage == OfStage::Before ? -1 : need.stage == OfStage::Behind ? 1 : 0;
      text += fmt::format(", stage {}", static_cast<int>(table.stages()[stage].stage) + offset);
    }
    if (writer.perMicrobatch && need.microbatch != OfMicrobatch::Any)
      text += fmt::format(", microbatch {}", microbatch);
    return text;
  }

  std::string describe(const Value &value, const Instance &now) const {
    const Signature &writer = signatures()[value.product / 10];
    std::string text = nameOf(value.product);
    if (writer.perStage)
      text += fmt::format(", stage {}", table.stages()[value.stage].stage);
    if (writer.perMicrobatch)
      text += fmt::format(", microbatch {}", value.microbatch);
    return value.instant == now.instant ? text : text + " of an earlier step";
  }

  std::string bufferName(const SlotAccess &access) const { return describeBuffer(table.plan(), rank.rank, access.buffer); }

  void fault(int number, std::uint32_t entry, std::uint32_t writer, std::string_view what) {
    const ActionPlace place = placeOf(table, rank, entry);
    Finding &finding = verdict.error(Rule::S2, number, place, fmt::format("{} {}", verdict.words(place), what));
    if (writer != kNone)
      verdict.from(finding, placeOf(table, rank, writer));
    verdict.to(finding, place);
  }

  static constexpr int kFaults = 32; // of a rank

  const ActionTable &table;
  const RankView &rank;
  const SentValues &sent;
  Verdict &verdict;
  SlotValues slots;
  std::vector<std::uint32_t> writers; // entry of this rank that wrote the slot last
  int faults = 0;
};

} // namespace

void verifyDependencesHold(const ActionTable &table, Verdict &verdict) {
  const SentValues sent(table);
  for (const RankView &rank : table.ranks())
    Dependences(table, rank, sent, verdict).run();
}

} // namespace vime::verify
