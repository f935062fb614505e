// S2: dependences hold along every path. Each task reads what the task before it produced for the
// same microbatch of the same step: through the same buffer, or through exactly the message that
// carries it.
//
// Every rank's actions are run in dispatch order on labels instead of bytes: a write leaves the
// name of its output in the slot, and each read is compared with the table of needs (S2Needs.cpp).
// A received slot holds a reference to its message; what the message carried is looked up when all
// ranks have run. That lanes and ranks keep to dispatch order is for M3 and C2.
//
// Of a loop one iteration is run. In later ones a read finds the same, one step on, or, if nothing
// in the iteration wrote the slot before it, what the iteration before left there: such reads, and
// messages sent from such slots, are judged again against the end of the iteration.
//
// Where the verdict on the step before is bad, what was done in front of it bears a mark, and so do
// the weights that step left: behind the verdict nobody may read them (Revoked.h).
#include <algorithm>

#include <fmt/format.h>

#include "compiler/Verify/Rules.h"
#include "compiler/Verify/S2Comparison.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"

namespace vime::verify {
namespace {

using namespace plan;

/// A read that finds a message.
struct MessageRead {
  Read read;
  Value value;
  std::uint32_t writer;  // entry that received it
  std::uint32_t instant; // of the reader
};

/// What messages carried, by where their send (or the root's broadcast) stands in
/// `ActionTable::dispatched()`.
struct Carried {
  explicit Carried(std::size_t messages) : first(messages, kNone) {}
  std::vector<std::uint32_t> first; // index in `values`, of its first slot
  std::vector<Value> values;        // in the first iteration
  struct Later {
    std::uint32_t index; // in `values`
    Value value;         // in all later iterations
  };
  std::vector<Later> later; // ascending; only where something else than one step on

  /// What the message brought, if its sender has run and made it in the same step; else the
  /// reference.
  Value now(const Value &message) const {
    const std::uint32_t index = first[message.entry] + message.microbatch;
    const bool known =
        message.product == kMessage && first[message.entry] != kNone && index < values.size();
    return known && isLabel(values[index].product) && values[index].instant == message.instant
               ? values[index]
               : message;
  }
};

/// One rank, run on labels.
class Dependences {
public:
  Dependences(const ActionTable &table, const RankView &rank, Carried &carried,
              std::vector<MessageRead> &messageReads, Verdict &verdict)
      : table(table), rank(rank), carried(carried), messageReads(messageReads), needs(needTable()),
        signatures(signatureTable()), accesses(table, rank), comparison(table, rank, verdict),
        values(rank.slotCount), writers(rank.slotCount, kNone), copiedFrom(rank.slotCount, kNone),
        judged(rank.slotCount) {
    for (std::uint32_t lane = 0; lane < rank.program->lanes.size(); ++lane) {
      next[lane] = table.lane(rank, lane).first;
      arrivals[lane] = arrivalsOn(table.lane(rank, lane));
    }
  }

  void run() {
    for (std::uint32_t segment = 0; segment < rank.segments.size(); ++segment) {
      instant = 2 * segment;
      openReads.clear();
      openMessages.clear();
      std::fill(judged.begin(), judged.end(), kUnjudged);
      std::fill(copiedFrom.begin(), copiedFrom.end(), kNone);
      const Segment &body = rank.segments[segment];
      revoked = comparison.endOfRevokedIn(segment);
      for (std::uint32_t entry = body.first; entry < body.end; ++entry) {
        if (entry == revoked) // what could be read in front of it may not be read behind it
          std::fill(judged.begin(), judged.end(), kUnjudged);
        step(entry);
      }
      if (body.trips > 1)
        judgeLaterIterations();
    }
  }

private:
  void step(std::uint32_t entry) {
    const Action &action = table.action(rank, entry);
    const std::uint8_t opcode = opcodeIndex(action.opcode);
    const std::uint32_t position = next[action.lane]++;
    const bool carries =
        action.opcode == code(Opcode::Send) || action.opcode == code(Opcode::Broadcast) ||
        action.opcode == code(Opcode::BroadcastWeights) || action.opcode == code(Opcode::Unshard);
    if (opcode == opcodeIndex(Opcode::Backward) || opcode == opcodeIndex(Opcode::BackwardInput) ||
        opcode == opcodeIndex(Opcode::BackwardWeight))
      judgeGradient(entry, action);
    accesses.forEach(entry, [&](const SlotAccess &access) {
      if (access.reads) {
        if (const std::uint8_t need = needs.of[opcode][access.operand]; need != NeedTable::kFree)
          for (std::uint32_t slot = access.first; slot < access.end; ++slot)
            read({entry, slot, slot - access.first, access.buffer, need, access.perMicrobatch},
                 action);
        if (carries && access.operand == 0)
          carry(position, access);
      }
      if (opcode == opcodeIndex(Opcode::Gather) || opcode == opcodeIndex(Opcode::AllGather))
        judgeWhole(entry, action, access);
      if (access.writes)
        write(entry, action, position, access);
    });
  }

  /// A gradient comes from behind, unless this is the last stage.
  void judgeGradient(std::uint32_t entry, const Action &action) {
    constexpr std::uint32_t kOutputGradient = 2;
    if (rank.program->operands[action.operands + kOutputGradient] == kNoBuffer &&
        !table.stages()[rank.stages[action.stage]].isLast)
      comparison.fault(4, entry, kNone,
                       "has no `output_gradient`, though it is not on the last stage");
  }

  void judgeWhole(std::uint32_t entry, const Action &action, const SlotAccess &access) {
    const Buffer &buffer = rank.layout->buffers[access.buffer];
    const std::uint64_t bytes = fixedBytes(table, rank, action, access.operand);
    if (bytes < buffer.extent())
      comparison.fault(5, entry, writers[access.first],
                       fmt::format("{} only {} of the {} bytes of `{}`",
                                   access.writes ? "fills" : "takes", bytes, buffer.extent(),
                                   describeBuffer(table.plan(), rank.rank, access.buffer)));
  }

  /// Where no checkpoint follows the step, what takes one does not run.
  bool isLeftOut(const Action &action) const {
    if (action.guard == 0)
      return false;
    const Condition &condition = table.plan().conditions[action.guard - 1];
    return condition.decision == Decision::Save &&
           !holds(condition, table.choice().of(Decision::Save));
  }

  /// In a step that begins no round the samples are those of the step before: only `score`, which
  /// does not run in it, writes them, and the first step of a run begins a round.
  bool isOfRound(const Read &read) const {
    return rank.layout->buffers[read.buffer].kind == BufferKind::Round &&
           !valuesOf(table.plan(), Decision::Rollout).empty() &&
           table.choice().of(Decision::Rollout) == 0;
  }

  void read(const Read &read, const Action &action) {
    if (isLeftOut(action) || isOfRound(read))
      return;
    // Tasks read weights, header and offsets again and again; what has held for this content holds
    // again.
    const Need &need = needs.needs[read.need];
    const std::uint64_t key =
        std::uint64_t{read.need} << 56 | std::uint64_t{action.stage} << 32 |
        (need.microbatch != OfMicrobatch::Any && need.microbatch != OfMicrobatch::Slot
             ? table.microbatch(rank, read.entry)
             : 0);
    if (judged[read.slot] == key)
      return;
    judged[read.slot] = key;
    const Value &value = values[read.slot];
    if (value.product == kMessage)
      messageReads.push_back({read, value, writers[read.slot], instant});
    else if (!comparison.holds(read, value, instant))
      return comparison.report(read, value, writers[read.slot], instant);
    if (isOpen(value))
      openReads.push_back(read), openReads.back().slot = sourceOf(read.slot);
  }

  /// Made before this segment, or never: a later iteration finds what the one before left.
  bool isOpen(const Value &value) const {
    return value.instant != instant || value.product == kNothing;
  }
  /// Where what an open slot holds was copied from in this segment.
  std::uint32_t sourceOf(std::uint32_t slot) const {
    return copiedFrom[slot] == kNone ? slot : copiedFrom[slot];
  }

  void carry(std::uint32_t position, const SlotAccess &access) {
    carried.first[position] = static_cast<std::uint32_t>(carried.values.size());
    for (std::uint32_t slot = access.first; slot < access.end; ++slot) {
      if (isOpen(values[slot]))
        openMessages.push_back({static_cast<std::uint32_t>(carried.values.size()), sourceOf(slot)});
      carried.values.push_back(values[slot]);
    }
  }

  void write(std::uint32_t entry, const Action &action, std::uint32_t position,
             const SlotAccess &access) {
    const std::uint8_t opcode = opcodeIndex(action.opcode);
    Value value{productOf(opcode, access.operand), 0, table.microbatch(rank, entry), instant,
                entry};
    if (signatures[opcode]->perStage)
      value.stage = static_cast<std::uint16_t>(rank.stages[action.stage]);
    value.revoked = entry < revoked &&
                    (action.opcode == code(Opcode::Forward) || action.opcode == code(Opcode::Loss));
    std::uint32_t source = kNone;
    if (action.opcode == code(Opcode::Copy) || action.opcode == code(Opcode::Unshard)) {
      source = copied(entry, action);
      value = values[source];
      source = isOpen(value) ? sourceOf(source) : kNone;
    }
    const bool moved = action.opcode == code(Opcode::Receive) ||
                       action.opcode == code(Opcode::Broadcast) ||
                       action.opcode == code(Opcode::BroadcastWeights); // of all its parts W2 tells
    for (std::uint32_t slot = access.first; slot < access.end; ++slot) {
      values[slot] = moved ? received(action, position, access, slot) : value;
      writers[slot] = entry;
      copiedFrom[slot] = source;
      judged[slot] = kUnjudged;
    }
  }

  std::uint32_t copied(std::uint32_t entry, const Action &action) const {
    const std::uint32_t buffer = rank.program->operands[action.operands];
    return rank.slots[buffer].first +
           slotOf(table.plan().data, rank.layout->buffers[buffer], table.microbatch(rank, entry));
  }

  /// Where messages of a lane come from.
  struct Arrivals {
    bool matched = false,
         known = false;       // another rule refuses it, or not; the sender has run already
    std::uint32_t offset = 0; // from own positions to the sender's
  };
  Arrivals arrivalsOn(const LaneView &lane) const {
    if (lane.stream == kNone)
      return {};
    const bool matched = table.laneOf(lane).kind == LaneKind::Group
                             ? table.groups()[lane.stream].matched
                             : table.channels()[lane.stream].matched;
    if (!matched)
      return {};
    const LaneView &partner = table.lanes()[lane.partner];
    if (table.laneOf(partner).message != table.laneOf(lane).message)
      return {}; // C1
    return {true, partner.rank < rank.rank, partner.first - lane.first};
  }

  Value received(const Action &action, std::uint32_t position, const SlotAccess &access,
                 std::uint32_t slot) const {
    const Arrivals &from = arrivals[action.lane];
    if (!from.matched)
      return {.product = kUntold, .instant = instant};
    const Value message{slot < access.whole ? kMessage : kTorn, 0, slot - access.first, instant,
                        position + from.offset};
    return from.known ? carried.now(message) : message;
  }

  void judgeLaterIterations() {
    for (const Read &read : openReads) {
      const Value &value = values[read.slot];
      if (value.product == kMessage)
        messageReads.push_back({read, value, writers[read.slot], instant + 1});
      else if (!comparison.holds(read, value, instant + 1))
        comparison.report(read, value, writers[read.slot], instant + 1);
    }
    for (const OpenMessage &message : openMessages)
      carried.later.push_back({message.index, values[message.slot]});
  }

  struct OpenMessage {
    std::uint32_t index, slot; // in Carried::values; of this rank
  };
  static constexpr std::uint64_t kUnjudged = ~std::uint64_t{0};

  const ActionTable &table;
  const RankView &rank;
  Carried &carried;
  std::vector<MessageRead> &messageReads;
  const NeedTable &needs;
  const std::array<const Signature *, kOpcodes> &signatures;
  AccessReader accesses;
  Comparison comparison;
  std::vector<Value> values;             // of each slot
  std::vector<std::uint32_t> writers;    // of each slot the entry that wrote it
  std::vector<std::uint32_t> copiedFrom; // of each slot that an open one was copied to in this
                                         // segment: that one
  std::vector<std::uint64_t>
      judged; // of each slot the last need that was compared with its content
  std::vector<Read> openReads;
  std::vector<OpenMessage> openMessages;
  std::array<Arrivals, Wait::kMaxLanes> arrivals{}; // of each lane
  std::array<std::uint32_t, Wait::kMaxLanes>
      next{}; // position of each lane in ActionTable::dispatched()
  std::uint32_t instant = 0;
  std::uint32_t revoked = 0; // entry of the segment at which tasks stop to be revoked
};

/// Follows messages to what an action made, in the first iteration of their segment or in later
/// ones.
Value resolve(const Carried &carried, Value value, bool later) {
  constexpr int kHops = 4096; // from rank to rank; what goes round in a circle comes from nowhere
  for (int hop = 0; value.product == kMessage; ++hop) {
    const std::uint32_t first = carried.first[value.entry];
    if (hop == kHops)
      return {.product = kNothing};
    if (first == kNone || first + value.microbatch >= carried.values.size())
      return {.product = kUntold}; // C1 and C3 see ends that differ
    const std::uint32_t index = first + value.microbatch, instant = value.instant;
    value = carried.values[index];
    if (!later)
      continue;
    const auto other = std::lower_bound(
        carried.later.begin(), carried.later.end(), index,
        [](const Carried::Later &one, std::uint32_t wanted) { return one.index < wanted; });
    if (other != carried.later.end() && other->index == index) {
      value = other->value;
      later = false; // what the first iteration left, or something older
    } else if (value.product != kMessage) {
      value.instant += value.instant == instant ? 1 : 0;
    }
  }
  return value;
}

void judgeMessages(const ActionTable &table, const Carried &carried,
                   std::span<const MessageRead> reads, Verdict &verdict) {
  for (std::size_t begin = 0, end = 0; begin < reads.size(); begin = end) {
    const RankView &rank = table.rankOf(reads[begin].read.entry);
    Comparison comparison(table, rank, verdict);
    for (end = begin; end < reads.size() && reads[end].read.entry < rank.end; ++end) {
      const MessageRead &message = reads[end];
      const bool sameIteration = message.value.instant == message.instant;
      for (const bool later : {false, true}) {
        const Value value = resolve(carried, message.value, later);
        const std::uint32_t instant = message.instant + (later && sameIteration ? 1 : 0);
        if (!comparison.holds(message.read, value, instant)) {
          comparison.report(message.read, value, message.writer, instant);
          break;
        }
        if (carried.later.empty() || !sameIteration ||
            rank.segments[message.instant / 2].trips == 1)
          break; // later iterations are like the first one, one step on
      }
    }
  }
}

/// All shares that come together are of one version: of each call, what every member gave is what
/// the root gave, in the first iteration and in later ones.
class Shares {
public:
  Shares(const ActionTable &table, const Carried &carried, Verdict &verdict)
      : table(table), carried(carried), verdict(verdict) {}

  void judge(const GroupView &view) {
    if (!view.matched || table.plan().groups[view.group].operation != Collective::Unshard)
      return;
    const std::span<const std::uint32_t> roots = callsOf(view, view.root);
    for (std::uint32_t member = 0; member < view.lanes.size(); ++member)
      for (std::size_t call = 0; call < roots.size(); ++call) {
        const std::uint32_t own = table.lanes()[view.lanes[member]].first + call,
                            its = table.lanes()[view.lanes[view.root]].first + call;
        if (isAlike(given(own, false), given(its, false)) &&
            isAlike(given(own, true), given(its, true)))
          continue;
        const ActionPlace place = placeOf(table, rankOf(view, member), callsOf(view, member)[call]),
                          other = placeOf(table, rankOf(view, view.root), roots[call]);
        Finding &finding = verdict.error(
            Rule::S2, 7, place,
            fmt::format("{} gathers another version of the weights from rank {} than from rank {}",
                        verdict.words(place), place.rank, other.rank));
        verdict.from(finding, other);
        verdict.to(finding, place);
        break;
      }
  }

private:
  const RankView &rankOf(const GroupView &view, std::uint32_t member) const {
    return table.ranks()[view.members[member]];
  }
  std::span<const std::uint32_t> callsOf(const GroupView &view, std::uint32_t member) const {
    return table.dispatched(table.lanes()[view.lanes[member]]);
  }
  Value given(std::uint32_t position, bool later) const {
    const std::uint32_t index = carried.first[position];
    if (index == kNone)
      return {.product = kUntold};
    const auto other = std::lower_bound(
        carried.later.begin(), carried.later.end(), index,
        [](const Carried::Later &one, std::uint32_t wanted) { return one.index < wanted; });
    const bool differs = later && other != carried.later.end() && other->index == index;
    return differs ? other->value : carried.values[index];
  }
  static bool isAlike(const Value &one, const Value &other) {
    return one.product == other.product && one.instant == other.instant && one.stage == other.stage;
  }

  const ActionTable &table;
  const Carried &carried;
  Verdict &verdict;
};

} // namespace

void verifyDependencesHold(const ActionTable &table, Verdict &verdict) {
  if (verdict.count(Rule::S1) + verdict.count(Rule::S3) != 0)
    return; // what depends on a task that does not exist would only repeat it
  Carried carried(table.dispatched().size());
  std::vector<MessageRead> messageReads;
  messageReads.reserve(table.size() / 4); // less than a read a message
  for (const RankView &rank : table.ranks())
    Dependences(table, rank, carried, messageReads, verdict).run();
  judgeMessages(table, carried, messageReads, verdict);
  for (const GroupView &view : table.groups())
    Shares(table, carried, verdict).judge(view);
}

} // namespace vime::verify
