#include "tests/Interpreter/Machine.h"

#include <algorithm>

#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/OperandRules.h"

namespace vime::interpreter {

using namespace plan;

namespace {

/// More than any plan of the tests runs.
constexpr std::size_t kMostDispatched = 60'000;

} // namespace

class Machine::Rank final : public Answers {
public:
  Rank(const Plan &plan, std::uint32_t rank, const Course &course, const Meaning &meaning,
       const Trained &trained, Terms &terms)
      : rank(rank), program(*programOf(plan, rank)), layout(*layoutOf(plan, rank)),
        replica(plan.mesh.isEngine(rank) ? 0 : replicaOf(plan.mesh, rank)),
        dispatcher(plan, rank, course.mayBeEmpty()), memory(terms, layout), access(plan, rank),
        races(layout), lanes(program.lanes.size()), finished(program.lanes.size(), 0),
        queueOf(program.lanes.size(), 0), queues(program.lanes.size()), meaning(meaning),
        trained(trained) {}

  bool isFinished(const Clock &clock) const override {
    for (std::size_t lane = 0; lane < clock.size(); ++lane)
      if (finished[lane] < clock[lane])
        return false;
    return true;
  }
  std::uint32_t decided(Decision decision) const override {
    if (!isOfScalars(decision))
      return meaning.decided(valueOf(BufferKind::Header), decision);
    const auto found = trained.decided.find(valueOf(BufferKind::Scalars));
    return found == trained.decided.end() ? 0 : found->second;
  }
  bool isEmpty(std::uint32_t microbatch) const override {
    return meaning.isEmpty(valueOf(BufferKind::Header), microbatch);
  }
  const Instance *head(std::uint32_t lane) const {
    const auto &queue = queues[queueOf[lane]];
    return !queue.empty() && queue.front().first == lane ? &instances[queue.front().second]
                                                         : nullptr;
  }

  const std::uint32_t rank;
  const Program &program;
  const Layout &layout;
  const std::uint32_t replica;
  Dispatcher dispatcher;
  mutable Memory memory;
  const Access access;
  Races races;
  std::deque<Instance> instances;
  std::vector<std::vector<std::size_t>> lanes;
  Clock finished;                                                        // of each lane
  std::vector<std::uint32_t> queueOf;                                    // of each lane
  std::vector<std::deque<std::pair<std::uint32_t, std::size_t>>> queues; // lane, instance
  std::int64_t clock = INT64_MIN;

private:
  /// There is one header and, where something depends on them, one buffer of scalars.
  Term valueOf(BufferKind kind) const {
    for (const Buffer &buffer : layout.buffers)
      if (buffer.kind == kind)
        return memory.read({buffer.tier, buffer.offset, buffer.bytes});
    return kNothing;
  }

  const Meaning &meaning;
  const Trained &trained;
};

Machine::Machine(const Plan &plan, const Course &course, Terms &terms,
                 std::optional<std::uint32_t> seed)
    : plan(plan), course(course), terms(terms), meaning(plan, course, terms),
      trained(train(plan, course, meaning, terms)), effects(plan, meaning, terms, trained.decided),
      meetings(plan), tally(plan, course), peerOrder(plan), random(seed.value_or(0)),
      wanders(seed.has_value()) {
  for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank) {
    ranks.push_back(std::make_unique<Rank>(plan, rank, course, meaning, trained, terms));
    // What an engine is told is no buffer that others wait for: its rank does one thing at a time.
    const bool inOrder = !wanders || plan.mesh.isEngine(rank);
    for (std::uint32_t &queue : ranks.back()->queueOf)
      queue = inOrder ? 0 : random() % ranks.back()->queues.size();
  }
}

Machine::~Machine() = default;

void Machine::fault(Fault fault, const std::string &text) {
  if (verdict.fault == Fault::None)
    verdict = {fault, text, false};
}

std::string Machine::nameOf(const Rank &rank, const Instance &instance) const {
  return "rank " + std::to_string(rank.rank) + ", action " +
         std::to_string(instance.dispatched.action) + " (" +
         describe(plan, rank.rank, instance.dispatched.action) + "), step " +
         std::to_string(instance.dispatched.step);
}

Verdict Machine::run() {
  if (!meetings.fault().empty())
    fault(Fault::Meeting, meetings.fault());
  do {
    for (const auto &rank : ranks)
      dispatch(*rank);
  } while (step() && dispatched < kMostDispatched);
  for (const auto &rank : ranks) {
    if (!rank->dispatcher.fault().empty())
      fault(Fault::Decision, rank->dispatcher.fault());
    for (std::uint32_t lane = 0; lane < rank->finished.size(); ++lane)
      if (rank->finished[lane] != rank->lanes[lane].size())
        fault(Fault::Stuck,
              nameOf(*rank, rank->instances[rank->lanes[lane][rank->finished[lane]]]));
    if (!rank->dispatcher.isAtEnd())
      fault(Fault::Stuck, "rank " + std::to_string(rank->rank) + " never ends");
  }
  if (verdict.fault == Fault::Race)
    verdict.orderedByPeers = !peerOrder.races();
  // Where a race is harmless for its order, what is left must be right all the same.
  const Verdict left = compare();
  if (verdict.fault == Fault::None || (verdict.orderedByPeers && left.fault != Fault::None))
    verdict = left;
  return verdict;
}

// ---- dispatch ----

void Machine::dispatch(Rank &rank) {
  while (dispatched < kMostDispatched) {
    std::optional<Dispatched> next = rank.dispatcher.next(rank);
    if (!next)
      return;
    ++dispatched;
    const Action &action = rank.program.actions[next->action];
    const auto opcode = static_cast<Opcode>(action.opcode);
    const std::uint32_t microbatches =
        isEvaluation(opcode) ? plan.evaluation.microbatches : course[next->step].microbatches;
    if (next->time <= rank.clock)
      fault(Fault::Clock, "rank " + std::to_string(rank.rank) + ", action " +
                              std::to_string(next->action) +
                              " has no later time than the one before");
    rank.clock = next->time;
    const bool runs =
        !next->skipped && !(next->empty && runsOnDispatcher(rank.program.lanes[action.lane].kind));
    Instance instance{std::move(*next), {}};
    if (runs)
      instance.uses = rank.access.of(action, instance.dispatched.microbatch, microbatches,
                                     instance.dispatched.empty);
    rank.lanes[action.lane].push_back(rank.instances.size());
    rank.queues[rank.queueOf[action.lane]].push_back({action.lane, rank.instances.size()});
    rank.instances.push_back(std::move(instance));
    judgeUses(rank, rank.instances.back());
  }
}

void Machine::judgeUses(Rank &rank, const Instance &instance) {
  for (const Use &use : instance.uses)
    for (const Place &place : use.places)
      if (use.reads || use.writes)
        if (const auto other = rank.races.use(instance.dispatched.stamp, place, use.writes))
          fault(Fault::Race,
                nameOf(rank, instance) + " and " +
                    nameOf(rank, rank.instances[rank.lanes[other->lane][other->position - 1]]));
}

// ---- nodes ----

bool Machine::isReady(const Seat &seat) const {
  const Instance *instance = ranks[seat.rank]->head(seat.lane);
  if (!instance)
    return false;
  for (const Position &wait : instance->dispatched.stamp.waits)
    if (wait.position > ranks[seat.rank]->finished[wait.lane])
      return false;
  return true;
}

std::vector<const std::vector<Seat> *> Machine::ready() const {
  std::vector<const std::vector<Seat> *> nodes;
  for (const auto &rank : ranks)
    for (const auto &queue : rank->queues) {
      if (queue.empty())
        continue;
      const Seat seat{rank->rank, queue.front().first};
      const std::vector<Seat> &node = meetings.of(seat);
      if (!node.empty() && node.front() == seat &&
          std::all_of(node.begin(), node.end(), [&](const Seat &each) { return isReady(each); }))
        nodes.push_back(&node);
    }
  return nodes;
}

/// Firing takes nothing from others that are ready, so all of them may fire in any order.
bool Machine::step() {
  const auto nodes = ready();
  if (wanders && !nodes.empty())
    fire(*nodes[random() % nodes.size()]);
  else
    for (const std::vector<Seat> *node : nodes)
      fire(*node);
  return !nodes.empty();
}

void Machine::fire(const std::vector<Seat> &seats) {
  judgeMeeting(seats);
  judgePeerOrder(seats);
  Rank &first = *ranks[seats[0].rank];
  const Instance &instance = *first.head(seats[0].lane);
  const LaneKind kind = first.program.lanes[seats[0].lane].kind;
  if (kind == LaneKind::Send)
    transfer(first, instance, *ranks[seats[1].rank], *ranks[seats[1].rank]->head(seats[1].lane));
  else if (kind == LaneKind::Group)
    collect(seats);
  else
    fireAlone(first, instance);
  for (const Seat &seat : seats) {
    Rank &rank = *ranks[seat.rank];
    rank.queues[rank.queueOf[seat.lane]].pop_front();
    ++rank.finished[seat.lane];
  }
}

void Machine::fireAlone(Rank &rank, const Instance &instance) {
  const Dispatched &dispatched = instance.dispatched;
  const Action &action = rank.program.actions[dispatched.action];
  const Signature &signature = *findSignature(action.opcode);
  const LocalStage local = signature.perStage ? rank.program.stages[action.stage] : LocalStage();
  const std::uint32_t stage = stageNumber(local.model, local.stage);
  if (!dispatched.skipped)
    tally.count(signature.opcode, dispatched.step, rank.replica, stage,
                signature.perMicrobatch ? dispatched.microbatch : 0);
  if (!instance.uses.empty() || signature.operands.empty())
    effects.fire({action, rank.rank, rank.replica, dispatched.microbatch, stage, instance.uses,
                  rank.memory});
}

void Machine::transfer(Rank &source, const Instance &send, Rank &destination,
                       const Instance &receive) {
  destination.memory.put(receive.uses[0].places[0], source.memory.take(send.uses[0].places[0]));
}

void Machine::collect(const std::vector<Seat> &seats) {
  const Lane &lane = ranks[seats[0].rank]->program.lanes[seats[0].lane];
  const Group &group = plan.groups[lane.group];
  const auto use = [&](std::size_t member, std::size_t operand) -> const Use & {
    return ranks[seats[member].rank]->head(seats[member].lane)->uses[operand];
  };
  const auto memory = [&](std::size_t member) -> Memory & {
    return ranks[seats[member].rank]->memory;
  };
  if (movesOperands(group.operation) && group.operation != Collective::BroadcastWeights) {
    std::vector<Term> given;
    for (std::size_t member = 0; member < seats.size(); ++member)
      given.push_back(memory(member).read(use(member, 0).needs()));
    std::vector<std::uint32_t> stages;
    for (const LocalStage &local : ranks[seats[0].rank]->program.stages)
      stages.push_back(stageNumber(local.model, local.stage));
    for (std::uint32_t member = 0; member < seats.size(); ++member) {
      const auto put = [&](std::size_t operand, Term value) {
        memory(member).write(use(member, operand).places[0], value);
      };
      if (group.operation == Collective::Unshard) {
        put(1, meaning.gathered(given));
        continue;
      }
      put(0, group.operation == Collective::AllReduce ? meaning.reduced(given)
             : group.operation == Collective::ReduceScatter
                 ? meaning.kept(member, meaning.reduced(given))
                 : meaning.gatheredSquares(given, stages));
      put(1, kGarbage);
    }
    return;
  }
  std::vector<std::vector<Piece>> given;
  for (std::size_t member = 0; member < seats.size(); ++member)
    given.push_back(memory(member).take(use(member, 0).places[0]));
  for (std::size_t member = 0; member < seats.size(); ++member) {
    if (group.operation == Collective::Broadcast ||
        group.operation == Collective::BroadcastWeights) {
      if (member != group.root && group.operation == Collective::BroadcastWeights)
        effects.arrive(seats[member].rank);
      if (member != group.root)
        memory(member).put(use(member, 0).places[0], given[group.root]);
      continue;
    }
    if (!use(member, 1).writes)
      continue;
    for (std::size_t other = 0; other < seats.size(); ++other) {
      Place part = use(member, 1).places[0];
      part.begin += other * group.message.fixed;
      part.bytes = group.message.fixed;
      memory(member).put(part, given[other]);
    }
  }
}

void Machine::judgeMeeting(const std::vector<Seat> &seats) {
  const Rank &first = *ranks[seats[0].rank];
  const Instance &mine = *first.head(seats[0].lane);
  const Action &action = first.program.actions[mine.dispatched.action];
  for (const Seat &seat : seats) {
    const Rank &rank = *ranks[seat.rank];
    const Instance &other = *rank.head(seat.lane);
    const Action &its = rank.program.actions[other.dispatched.action];
    if (mine.dispatched.time != other.dispatched.time)
      fault(Fault::Clock, nameOf(first, mine) + " meets at another time " + nameOf(rank, other));
    const bool perToken = first.program.lanes[seats[0].lane].message.perToken != 0;
    if ((perToken && mine.dispatched.microbatch != other.dispatched.microbatch) ||
        mine.dispatched.step != other.dispatched.step ||
        ((action.flags ^ its.flags) & kSkipIfEmpty) != 0)
      fault(Fault::Meeting, nameOf(first, mine) + " meets " + nameOf(rank, other));
  }
}

void Machine::judgePeerOrder(const std::vector<Seat> &seats) {
  std::vector<PeerOrder::End> ends;
  for (std::size_t index = 0; index < seats.size(); ++index) {
    const Rank &rank = *ranks[seats[index].rank];
    const Instance &instance = *rank.head(seats[index].lane);
    const Lane &lane = rank.program.lanes[seats[index].lane];
    PeerOrder::End end{seats[index], instance.dispatched.stamp, instance.uses};
    if (seats.size() > 1) {
      const bool isGroup = lane.kind == LaneKind::Group;
      const Collective operation =
          isGroup ? plan.groups[lane.group].operation : Collective::Broadcast;
      const bool isRoot = isGroup ? index == plan.groups[lane.group].root : index == 0;
      const bool isFromRoot =
          operation == Collective::Broadcast || operation == Collective::BroadcastWeights;
      end.gives = !isFromRoot || isRoot;
      end.takes = isFromRoot ? !isRoot : operation != Collective::Gather || isRoot;
    }
    ends.push_back(end);
  }
  peerOrder.fire(ends);
}

// ---- what is left ----

Verdict Machine::compare() {
  if (std::string text = tally.fault(); !text.empty())
    return {Fault::Tasks, std::move(text)};
  const BufferKind kept = meaning.isSharded() ? BufferKind::WeightShare : BufferKind::Weights;
  for (const auto &rank : ranks) // of engines, samples tell
    for (const Buffer &buffer : rank->layout.buffers)
      if (!plan.mesh.isEngine(rank->rank) &&
          (buffer.kind == kept || buffer.kind == BufferKind::Moments)) {
        const LocalStage local = rank->program.stages[buffer.stage];
        const Term left = rank->memory.read({buffer.tier, buffer.offset, buffer.bytes});
        effects.see(finalOf(terms, buffer.kind == kept ? BufferKind::Weights : buffer.kind,
                            stageNumber(local.model, local.stage), rank->replica,
                            meaning.wholeOf(rank->replica, left)));
      }
  const std::vector<Term> seen = effects.seen();
  std::vector<Term> missing, strange;
  std::set_difference(trained.seen.begin(), trained.seen.end(), seen.begin(), seen.end(),
                      std::back_inserter(missing));
  std::set_difference(seen.begin(), seen.end(), trained.seen.begin(), trained.seen.end(),
                      std::back_inserter(strange));
  if (missing.empty() && strange.empty())
    return {};
  return {Fault::Wrong, missing.empty() || strange.empty()
                            ? (missing.empty() ? "leaves also " + terms.describe(strange[0])
                                               : "does not leave " + terms.describe(missing[0]))
                            : terms.difference(missing[0], strange[0])};
}

} // namespace vime::interpreter
