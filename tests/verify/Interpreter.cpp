#include "tests/verify/Interpreter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <tuple>

#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime {
namespace {

using namespace plan;
using Word = std::uint64_t;

Word mix(Word hash, Word value) {
  hash ^= value + 0x9E3779B97F4A7C15u + (hash << 6) + (hash >> 2);
  hash *= 0xFF51AFD7ED558CCDu;
  return hash ^ (hash >> 33);
}

/// One action in one iteration.
struct Instance {
  const Action *action;
  std::uint32_t index;
  std::uint32_t microbatch;
  std::uint64_t position; // on its lane
  std::size_t drained;    // so many instances before it are done when it starts: edges of cases
};

/// What is decided in a step: every value at some time, all of them next to each other.
std::uint32_t decidedIn(const Plan &plan, Decision decision, std::uint32_t step) {
  const auto values = valuesOf(plan, decision);
  const std::uint32_t turn = decision == Decision::Microbatches ? step : step / 2;
  return values[turn % values.size()];
}

bool runs(const Plan &plan, const Case &one, std::uint32_t step) {
  if (one.condition == 0)
    return true;
  const Condition &condition = plan.conditions[one.condition - 1];
  return holds(condition, decidedIn(plan, condition.decision, step));
}

std::uint32_t tripsIn(const Plan &plan, const Loop &loop, std::uint32_t step) {
  if (loop.perTrip == 0)
    return loop.trips;
  const std::uint32_t microbatches = decidedIn(plan, Decision::Microbatches, step);
  return loop.trips - (plan.data.microbatches - microbatches) / loop.perTrip;
}

/// All iterations of all loops, without what is decided not to run.
class Unrolling {
public:
  Unrolling(const Plan &plan, const Program &program) : plan(plan), program(program) {}

  std::vector<Instance> run() {
    range(0, static_cast<std::uint32_t>(program.actions.size()), 0);
    return std::move(instances);
  }

private:
  void range(std::uint32_t index, std::uint32_t end, std::uint32_t step) {
    const Case *entered = nullptr;
    while (index < end) {
      const Case *one = caseAt(index);
      const Loop *loop = nextLoop < program.loops.size() && program.loops[nextLoop].begin == index
                             ? &program.loops[nextLoop]
                             : nullptr;
      if (endsACase(index))
        drain();
      if (one && one != entered && !(loop && !holds(*one, *loop))) {
        drain();
        entered = one;
        index = runs(plan, *one, step) ? index : pass(one->end);
      } else if (loop) {
        repeat(*loop, step);
        index = loop->end;
      } else {
        append(index++);
      }
    }
    if (endsACase(end))
      drain();
  }

  void repeat(const Loop &loop, std::uint32_t step) {
    const bool isInner = depth != 0;
    const std::size_t own = nextLoop;
    const std::uint32_t trips = tripsIn(plan, loop, step);
    ++depth;
    for (std::uint32_t trip = 0; trip < trips; ++trip) {
      nextLoop = own + 1;
      advanced = trip;
      if (!isInner)
        range(loop.begin, loop.end, trip);
      for (std::uint32_t index = loop.begin; isInner && index < loop.end; ++index)
        append(index);
    }
    --depth;
    advanced = isInner ? trips : 0;
  }

  void append(std::uint32_t index) {
    const Action &action = program.actions[index];
    instances.push_back({&action, index, action.microbatch + action.step * advanced,
                         counts[action.lane]++, drained});
  }

  const Case *caseAt(std::uint32_t index) const {
    for (const Case &one : program.cases)
      if (one.begin == index)
        return &one;
    return nullptr;
  }
  bool endsACase(std::uint32_t index) const {
    return std::any_of(program.cases.begin(), program.cases.end(),
                       [&](const Case &one) { return one.end == index; });
  }
  bool holds(const Case &one, const Loop &loop) const {
    return one.end > loop.end || (one.end == loop.end && depth != 0);
  }
  /// Behind what does not run.
  std::uint32_t pass(std::uint32_t behind) {
    while (nextLoop < program.loops.size() && program.loops[nextLoop].begin < behind)
      ++nextLoop;
    return behind;
  }
  void drain() {
    drained = instances.size();
    advanced = 0;
  }

  const Plan &plan;
  const Program &program;
  std::vector<Instance> instances;
  std::map<int, std::uint64_t> counts; // by lane
  std::size_t nextLoop = 0, depth = 0;
  std::size_t drained = 0;
  std::uint32_t advanced = 0; // the iteration of an inner loop, behind it and in its case its trips
};

std::vector<Instance> unroll(const Plan &plan, const Program &program) {
  return Unrolling(plan, program).run();
}

/// Bytes of an arena.
struct Range {
  int tier = 0;
  std::uint64_t begin = 0, end = 0;
  bool reads = false, writes = false;
  bool meets(const Range &other) const {
    return tier == other.tier && begin < other.end && other.begin < end &&
           ((writes && (other.reads || other.writes)) || (reads && other.writes));
  }
};

enum class State : std::uint8_t { Waiting, Running, Done };

struct Rank {
  std::uint32_t rank = 0;
  const Program *program = nullptr;
  const Layout *layout = nullptr;
  std::vector<Instance> instances;
  std::vector<std::vector<std::size_t>> lanes; // instances of each
  std::vector<std::size_t> finished;           // of each lane
  std::vector<State> states;
  mutable std::size_t done = 0;              // instances before the first that is not
  std::vector<std::size_t> dispatchedBefore; // for instance × lane
  std::array<std::vector<std::uint8_t>, 2> memory;
  std::uint64_t decided = 0, measured = 0;
};

using ChannelKey = std::tuple<std::uint32_t, std::uint32_t, Flow>;
using GroupKey = std::pair<std::uint32_t, std::uint32_t>;

class Machine {
public:
  Machine(const Plan &plan, std::uint32_t seed) : plan(plan), random(seed) {
    for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
      addRank(rank);
  }

  Outcome run() {
    while (outcome.trouble.empty() && step()) {
    }
    for (Rank &rank : ranks) {
      for (const State state : rank.states)
        if (state != State::Done && outcome.trouble.empty())
          outcome.trouble = "stuck";
      for (std::uint32_t index = 0; index < rank.layout->buffers.size(); ++index)
        if (rank.layout->buffers[index].kind == BufferKind::Weights)
          outcome.reports.push_back(hashOf(rank, rangeOf(rank, index, 0, 0)));
    }
    std::sort(outcome.reports.begin(), outcome.reports.end()); // ranks report side by side
    return outcome;
  }

private:
  void addRank(std::uint32_t index) {
    Rank &rank = ranks.emplace_back();
    rank.rank = index;
    rank.program = programOf(plan, index);
    rank.layout = layoutOf(plan, index);
    rank.instances = unroll(plan, *rank.program);
    rank.states.assign(rank.instances.size(), State::Waiting);
    rank.lanes.resize(rank.program->lanes.size());
    rank.finished.assign(rank.lanes.size(), 0);
    for (std::size_t instance = 0; instance < rank.instances.size(); ++instance) {
      for (const auto &lane : rank.lanes)
        rank.dispatchedBefore.push_back(lane.size());
      rank.lanes[rank.instances[instance].action->lane].push_back(instance);
    }
    for (int tier = 0; tier < 2; ++tier)
      rank.memory[tier].assign(rank.layout->arena[tier], 0);
  }

  // ---- one random event ----

  struct Event {
    std::size_t rank, instance;
  };

  bool step() {
    std::vector<Event> events;
    for (std::size_t index = 0; index < ranks.size(); ++index) {
      const Rank &rank = ranks[index];
      for (std::size_t lane = 0; lane < rank.lanes.size(); ++lane) {
        if (rank.finished[lane] == rank.lanes[lane].size())
          continue;
        const std::size_t head = rank.lanes[lane][rank.finished[lane]];
        if (rank.states[head] == State::Running ? mayFinish(rank, head) : mayStart(rank, head))
          events.push_back({index, head});
      }
    }
    if (events.empty())
      return false;
    const Event event = events[random() % events.size()];
    Rank &rank = ranks[event.rank];
    if (rank.states[event.instance] == State::Running)
      finish(rank, event.instance);
    else
      start(rank, event.instance);
    return true;
  }

  bool mayStart(const Rank &rank, std::size_t instance) const {
    while (rank.done < rank.states.size() && rank.states[rank.done] == State::Done)
      ++rank.done;
    if (rank.done < rank.instances[instance].drained)
      return false;
    for (const Wait wait : rank.instances[instance].action->waits) {
      if (wait.empty())
        continue;
      const std::size_t dispatched =
          rank.dispatchedBefore[instance * rank.lanes.size() + wait.lane()];
      const auto distance = static_cast<std::size_t>(wait.distance());
      if (distance <= dispatched && rank.finished[wait.lane()] < dispatched - distance + 1)
        return false;
    }
    return true;
  }

  bool mayFinish(const Rank &rank, std::size_t instance) const {
    const Instance &one = rank.instances[instance];
    const Lane &lane = rank.program->lanes[one.action->lane];
    if (one.action->opcode == code(Opcode::Receive)) {
      const auto found = messages.find(keyOf(rank, lane));
      return found != messages.end() && found->second.size() > one.position;
    }
    if (lane.kind != LaneKind::Group || (isBroadcast(*one.action) && isRoot(rank, lane)))
      return true;
    const auto &calls = contributions[groupOf(rank, lane)];
    if (isBroadcast(*one.action))
      return has(calls, root(lane), one.position);
    for (std::uint32_t member = 0; member < members(lane); ++member)
      if (!has(calls, member, one.position))
        return false;
    return true;
  }

  void start(Rank &rank, std::size_t instance) {
    rank.states[instance] = State::Running;
    const std::vector<Range> mine = rangesOf(rank, rank.instances[instance]);
    for (std::size_t lane = 0; lane < rank.lanes.size(); ++lane)
      if (const std::size_t other = runningOn(rank, lane); other != instance && other != kNobody)
        for (const Range &range : rangesOf(rank, rank.instances[other]))
          for (const Range &own : mine)
            if (own.meets(range))
              outcome.trouble = describe(plan, rank.rank, rank.instances[instance].index) +
                                " meets " + describe(plan, rank.rank, rank.instances[other].index);
    // What a collective gives is taken when it starts: others may finish first.
    const Action &action = *rank.instances[instance].action;
    const Lane &lane = rank.program->lanes[action.lane];
    if (lane.kind == LaneKind::Group && (!isBroadcast(action) || isRoot(rank, lane)))
      contributions[groupOf(rank, lane)]
                   [{memberOf(rank, lane), rank.instances[instance].position}] =
                       bytesOf(rank, rangeOf(rank, operand(rank, action, 0),
                                             plan.groups[lane.group].message.fixed, 0));
  }

  static constexpr std::size_t kNobody = ~std::size_t{0};
  static std::size_t runningOn(const Rank &rank, std::size_t lane) {
    if (rank.finished[lane] == rank.lanes[lane].size())
      return kNobody;
    const std::size_t head = rank.lanes[lane][rank.finished[lane]];
    return rank.states[head] == State::Running ? head : kNobody;
  }

  void finish(Rank &rank, std::size_t instance) {
    const Instance &one = rank.instances[instance];
    const Lane &lane = rank.program->lanes[one.action->lane];
    switch (static_cast<Opcode>(one.action->opcode)) {
    case Opcode::Send:
      messages[keyOf(rank, lane)].push_back(bytesOf(rank, rangesOf(rank, one)[0]));
      break;
    case Opcode::Receive:
      copyTo(rank, rangesOf(rank, one)[0], messages[keyOf(rank, lane)][one.position]);
      break;
    case Opcode::Broadcast:
      if (!isRoot(rank, lane))
        copyTo(rank, rangesOf(rank, one)[0],
               contributions[groupOf(rank, lane)][{root(lane), one.position}]);
      break;
    case Opcode::AllReduce:
      reduce(rank, one, lane);
      break;
    case Opcode::Gather:
    case Opcode::AllGather:
      gather(rank, one, lane);
      break;
    default:
      compute(rank, one);
    }
    rank.states[instance] = State::Done;
    ++rank.finished[one.action->lane];
  }

  void gather(Rank &rank, const Instance &one, const Lane &lane) {
    if (one.action->opcode == code(Opcode::Gather) && !isRoot(rank, lane))
      return;
    const std::uint64_t bytes = plan.groups[lane.group].message.fixed;
    for (std::uint32_t member = 0; member < members(lane); ++member) {
      Range range = rangeOf(rank, operand(rank, *one.action, 1), bytes * members(lane), 0);
      range.begin += member * bytes;
      range.end = range.begin + bytes;
      copyTo(rank, range, contributions[groupOf(rank, lane)][{member, one.position}]);
    }
  }

  /// A sum is a hash of what all members gave, in their order.
  void reduce(Rank &rank, const Instance &one, const Lane &lane) {
    Word hash = 1;
    for (std::uint32_t member = 0; member < members(lane); ++member)
      for (const std::uint8_t byte : contributions[groupOf(rank, lane)][{member, one.position}])
        hash = mix(hash, byte);
    const std::vector<Range> ranges = rangesOf(rank, one);
    fill(rank, ranges[0], hash);
    fill(rank, ranges[1], random());
  }

  /// Every output is a hash of all inputs.
  void compute(Rank &rank, const Instance &one) {
    const Action &action = *one.action;
    const auto opcode = static_cast<Opcode>(action.opcode);
    const Signature &signature = *findSignature(action.opcode);
    Word hash = mix(action.opcode, signature.perStage ? stageOf(rank, action) : 0);
    hash = mix(hash, signature.perMicrobatch ? one.microbatch : 0);
    hash = mix(hash, opcode == Opcode::Decide    ? rank.decided++
                     : opcode == Opcode::Measure ? rank.measured++
                     : opcode == Opcode::Load || opcode == Opcode::LoadEvaluation
                         ? replicaOf(plan.mesh, rank.rank)
                         : 0);
    const std::vector<Range> ranges = rangesOf(rank, one);
    for (std::size_t index = 0; index < ranges.size(); ++index)
      hash =
          mix(hash, ranges[index].reads && !isShared(signature, index) ? hashOf(rank, ranges[index])
                                                                       : index);
    if (opcode == Opcode::Report || opcode == Opcode::ReportEvaluation ||
        opcode == Opcode::ExportShard || opcode == Opcode::ExportCommit ||
        opcode == Opcode::CheckpointShard || opcode == Opcode::CheckpointCommit)
      outcome.reports.push_back(mix(hash, rank.rank));
    for (std::size_t index = 0; index < ranges.size(); ++index) {
      const bool garbage = signature.operands[index].name == "workspace"; // nobody may read it
      Range range = ranges[index];
      if (opcode == Opcode::SquareNorm && isShared(signature, index)) {
        const std::uint64_t part =
            (range.end - range.begin) / rank.program->stages.size() / kWord * kWord;
        range.begin += part * action.stage;
        range.end = std::size_t{action.stage} + 1 == rank.program->stages.size()
                        ? range.end
                        : range.begin + part;
      }
      const bool adds = opcode == Opcode::ExportShard || opcode == Opcode::CheckpointShard;
      const Word old = adds ? wordAt(rank, range, range.begin) : 0;
      if (range.writes)
        fill(rank, range, garbage ? random() : old + 2 * mix(hash, index));
    }
  }

  /// Stages of a rank have their own parts of the squares, and add to its counters in any order.
  static bool isShared(const Signature &signature, std::size_t index) {
    return signature.operands[index].name == "squares" || signature.operands[index].name == "stats";
  }

  // ---- what an action touches ----

  static std::uint32_t operand(const Rank &rank, const Action &action, std::size_t index) {
    return rank.program->operands[action.operands + index];
  }
  std::uint64_t stageOf(const Rank &rank, const Action &action) const {
    const LocalStage local = rank.program->stages[action.stage];
    return local.model * 1000u + local.stage;
  }

  Range rangeOf(const Rank &rank, std::uint32_t index, std::uint64_t bytes,
                std::uint32_t slot) const {
    if (index == kNoBuffer)
      return {};
    const Buffer &buffer = rank.layout->buffers[index];
    const std::uint64_t begin = buffer.offset + slot * buffer.stride;
    return {static_cast<int>(buffer.tier), begin, begin + (bytes == 0 ? buffer.extent() : bytes)};
  }

  std::vector<Range> rangesOf(const Rank &rank, const Instance &one) const {
    const Action &action = *one.action;
    const Signature &signature = *findSignature(action.opcode);
    const Lane &lane = rank.program->lanes[action.lane];
    std::vector<Range> ranges;
    for (std::size_t index = 0; index < signature.operands.size(); ++index) {
      const std::uint32_t buffer = operand(rank, action, index);
      const bool absent = buffer == kNoBuffer;
      const std::uint32_t slot = absent ? 0 : one.microbatch % rank.layout->buffers[buffer].count;
      std::uint64_t bytes = 0;
      std::uint32_t used = 0;
      if (signature.family == Family::Transfer) {
        bytes = lane.message.fixed + std::uint64_t{lane.message.perToken} * plan.data.tokens;
        used = lane.message.perToken != 0 ? slot : 0;
      } else if (signature.family == Family::Collective) {
        bytes = plan.groups[lane.group].message.fixed * (index == 1 ? members(lane) : 1);
      } else if (signature.perMicrobatch && !absent) {
        bytes = rank.layout->buffers[buffer].bytes;
        used = slot;
      }
      Range range = rangeOf(rank, buffer, bytes, used);
      use(range, signature, index, action, lane.kind == LaneKind::Group && isRoot(rank, lane));
      ranges.push_back(absent ? Range() : range);
    }
    return ranges;
  }

  static void use(Range &range, const Signature &signature, std::size_t index, const Action &action,
                  bool isRoot) {
    const OperandSignature &operand = signature.operands[index];
    const bool weightGradient =
        action.opcode == code(Opcode::Backward) || action.opcode == code(Opcode::BackwardWeight);
    const bool overwrites = weightGradient && operand.name == "gradients" &&
                            (action.immediate & kOverwriteGradients) != 0;
    const Access access = operand.access;
    range.reads = access == Access::Read || (access == Access::ReadWrite && !overwrites) ||
                  (access == Access::RootReadOthersWrite && isRoot);
    range.writes = access == Access::Write || access == Access::ReadWrite ||
                   (access == Access::RootReadOthersWrite && !isRoot) ||
                   (access == Access::RootWrite && isRoot);
  }

  static bool isBroadcast(const Action &action) { return action.opcode == code(Opcode::Broadcast); }
  std::uint8_t axes(const Lane &lane) const { return plan.groups[lane.group].axes; }
  std::uint32_t root(const Lane &lane) const { return plan.groups[lane.group].root; }
  std::uint32_t members(const Lane &lane) const { return memberCount(plan.mesh, axes(lane)); }
  std::uint32_t memberOf(const Rank &rank, const Lane &lane) const {
    return memberIndex(plan.mesh, rank.rank, axes(lane));
  }
  bool isRoot(const Rank &rank, const Lane &lane) const {
    return memberOf(rank, lane) == root(lane);
  }
  /// The group at this rank's coordinate along the other axes, by its first member.
  GroupKey groupOf(const Rank &rank, const Lane &lane) const {
    return {lane.group, memberRank(plan.mesh, rank.rank, axes(lane), 0)};
  }
  ChannelKey keyOf(const Rank &rank, const Lane &lane) const {
    const std::uint32_t peer = resolvePeer(plan.mesh, rank.rank, lane.peer);
    return lane.kind == LaneKind::Send ? ChannelKey(rank.rank, peer, lane.flow)
                                       : ChannelKey(peer, rank.rank, lane.flow);
  }

  // ---- memory ----

  using Bytes = std::vector<std::uint8_t>;
  using Calls = std::map<std::pair<std::uint32_t, std::uint64_t>, Bytes>; // by member and position

  static bool has(const Calls &calls, std::uint32_t member, std::uint64_t position) {
    return calls.count({member, position}) != 0;
  }
  static Bytes bytesOf(const Rank &rank, const Range &range) {
    const Bytes &memory = rank.memory[range.tier];
    return Bytes(memory.begin() + range.begin, memory.begin() + range.end);
  }
  static void copyTo(Rank &rank, const Range &range, const Bytes &bytes) {
    const std::size_t count = std::min<std::size_t>(bytes.size(), range.end - range.begin);
    std::copy_n(bytes.begin(), count, rank.memory[range.tier].begin() + range.begin);
  }
  static constexpr std::uint64_t kWord = 4; // every size is a multiple

  /// Of the different words in a row; a longer buffer with the same content has the same hash, and
  /// what was never written counts for nothing.
  static Word hashOf(const Rank &rank, const Range &range) {
    Word hash = 1;
    std::uint32_t before = 0;
    // Of large buffers one word a block: whatever overwrites a part of them begins at a block.
    for (std::uint64_t at = range.begin; at < range.end;
         at += at - range.begin < 16 * kBufferAlignment ? kWord : kBufferAlignment) {
      const std::uint32_t word = wordAt(rank, range, at);
      if (word != 0 && word != before)
        hash = mix(hash, word);
      before = word;
    }
    return hash;
  }
  static std::uint32_t wordAt(const Rank &rank, const Range &range, std::uint64_t at) {
    std::uint32_t word = 0;
    std::memcpy(&word, rank.memory[range.tier].data() + at, std::min(kWord, range.end - at));
    return word;
  }
  static void fill(Rank &rank, const Range &range, Word value) {
    const auto word = static_cast<std::uint32_t>(value) | 1; // never zero
    for (std::uint64_t at = range.begin; at < range.end; at += kWord)
      std::memcpy(rank.memory[range.tier].data() + at, &word, std::min(kWord, range.end - at));
  }

  const Plan &plan;
  std::mt19937 random;
  std::vector<Rank> ranks;
  std::map<ChannelKey, std::deque<Bytes>> messages; // in the order sent, kept
  mutable std::map<GroupKey, Calls> contributions;
  Outcome outcome;
};

/// What stands for both ends of a message or all members of a call.
using Meeting = std::tuple<bool, std::uint32_t, std::uint32_t, Flow>;

} // namespace

Outcome interpret(const Plan &plan, std::uint32_t seed) { return Machine(plan, seed).run(); }

bool finishesInLockstep(const Plan &plan) {
  const std::uint32_t ranks = plan.mesh.ranks();
  std::vector<std::vector<Instance>> programs;
  std::vector<std::size_t> heads(ranks, 0);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    programs.push_back(unroll(plan, *programOf(plan, rank)));
  const auto meetingOf = [&](std::uint32_t rank) {
    const Lane &lane = programOf(plan, rank)->lanes[programs[rank][heads[rank]].action->lane];
    const std::uint32_t peer = resolvePeer(plan.mesh, rank, lane.peer);
    return lane.kind == LaneKind::Group
               ? Meeting(true, lane.group,
                         memberRank(plan.mesh, rank, plan.groups[lane.group].axes, 0), Flow())
           : lane.kind == LaneKind::Send ? Meeting(false, rank, peer, lane.flow)
                                         : Meeting(false, peer, rank, lane.flow);
  };
  for (bool moved = true; moved;) {
    moved = false;
    std::map<Meeting, std::vector<std::uint32_t>> present;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const auto isLocal = [&] {
        const LaneKind kind =
            programOf(plan, rank)->lanes[programs[rank][heads[rank]].action->lane].kind;
        return kind != LaneKind::Group && kind != LaneKind::Send && kind != LaneKind::Receive;
      };
      for (; heads[rank] < programs[rank].size() && isLocal(); moved = true)
        ++heads[rank];
      if (heads[rank] < programs[rank].size())
        present[meetingOf(rank)].push_back(rank);
    }
    for (const auto &[meeting, here] : present)
      if (here.size() == (std::get<0>(meeting)
                              ? memberCount(plan.mesh, plan.groups[std::get<1>(meeting)].axes)
                              : 2u)) {
        moved = true;
        for (const std::uint32_t rank : here)
          ++heads[rank];
      }
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    if (heads[rank] != programs[rank].size())
      return false;
  return true;
}

} // namespace vime
