#include "runtime/Exec/Executor.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "runtime/Exec/Resume.h"
#include "runtime/Exec/RunRoutine.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Names.h"
#include "runtime/Transport/Ends.h"

namespace vime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::hours kForever{24 *
                                      365}; // our own threads have no deadline: only peers have

/// What takes less was not waited for, but looked at: it may have ended long before.
constexpr std::int64_t kShortestWait = 20'000; // nanoseconds

Status stopped() { return Status(StatusCode::Interrupted, "stopped because the run is over"); }

/// CLOCK_MONOTONIC, as flight::now.
std::int64_t nanoseconds(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::unique_ptr<flight::FlightRecorder> spareFor(const RankState &state) {
  if (state.recorder)
    return nullptr;
  return std::make_unique<flight::FlightRecorder>(flight::FlightFile::inMemory());
}

bool hasWorker(plan::LaneKind kind) {
  return kind == plan::LaneKind::Host || kind == plan::LaneKind::Io;
}

} // namespace

Executor::Executor(RankState &state, ResolvedProgram resolved, Sleeper &sleeper,
                   std::uint64_t finishedBefore)
    : state(state), program(std::move(resolved)), sleeper(sleeper), spare(spareFor(state)),
      recorder(spare ? *spare : *state.recorder), lanes(state.program.lanes.size()) {
  const std::vector<std::uint32_t> ends = endsOfLanes(state.program);
  for (std::uint32_t index = 0; index < lanes.size(); ++index) {
    LaneState &lane = lanes[index];
    lane.end = ends[index];
    if (hasWorker(state.program.lanes[index].kind)) {
      lane.worker = std::make_unique<Worker>(state, sleeper, recorder.worker(index));
      lane.finished = &lane.worker->finished();
    } else if (lane.end != kNoEnd) {
      lane.finished = &state.transport->finished(lane.end);
      lane.dispatched = finishedBefore;
    }
    recorder.dispatched(index, lane.dispatched);
  }
}

Status Executor::run() {
  state.counters.since = Clock::now();
  nextLoop = nextCase = 0;
  advanced = 0;
  recorder.enter(flight::State::Running);
  Status status = runBody(0, static_cast<std::uint32_t>(program.instructions.size()));
  if (status.ok())
    status = drain("at the end of its program");
  if (status.ok())
    recorder.enter(flight::State::Done);
  else
    recorder.fail(status, !ownFailure); // before anything is torn down
  return status;
}

Status Executor::runBody(std::uint32_t begin, std::uint32_t end) {
  const std::vector<plan::Loop> &loops = state.program.loops;
  const std::vector<plan::Case> &cases = state.program.cases;
  for (;;) {
    const bool meetsCase = nextCase < cases.size() && cases[nextCase].begin < end;
    const bool meetsLoop = nextLoop < loops.size() && loops[nextLoop].begin < end;
    if (!meetsCase && !meetsLoop)
      return runRange(begin, end);
    const bool isCase = meetsCase && (!meetsLoop || caseComesFirst());
    const std::uint32_t first = isCase ? cases[nextCase].begin : loops[nextLoop].begin;
    const std::uint32_t behind = isCase ? cases[nextCase].end : loops[nextLoop].end;
    if (Status status = runRange(begin, first); !status.ok())
      return status;
    if (Status status = isCase ? runCase(nextCase) : runLoop(nextLoop); !status.ok())
      return status;
    begin = behind;
  }
}

/// Of the same actions the loop over steps comes first.
bool Executor::caseComesFirst() const {
  const plan::Case &one = state.program.cases[nextCase];
  const plan::Loop &loop = state.program.loops[nextLoop];
  if (one.begin != loop.begin)
    return one.begin < loop.begin;
  return one.end > loop.end || (one.end == loop.end && depth != 0);
}

Status Executor::runLoop(std::size_t index) {
  const plan::Loop &loop = state.program.loops[index];
  const std::size_t firstCase = nextCase;
  const StatusOr<std::uint32_t> trips = tripsOf(loop);
  if (!trips.ok())
    return trips.status();
  around[depth++] = iteration;
  bool ends = false;
  if (isLoopOverSteps(state.plan, state.program, loop)) { // first values are part of no step
    state.counters.computeNanoseconds = 0;
    state.counters.since = Clock::now();
  }
  // A resumed run has fewer steps and is the same program otherwise.
  for (iteration = isLoopOverSteps(state.plan, state.program, loop) ? state.firstStep : 0;
       iteration < *trips && !ends; ++iteration) {
    advanced = iteration;
    nextLoop = index + 1;
    nextCase = firstCase;
    if (Status status = runBody(loop.begin, loop.end); !status.ok())
      return status;
    if (loop.until == 0)
      continue;
    const StatusOr<bool> stops = holds(loop.until);
    if (!stops.ok())
      return stops.status();
    ends = *stops;
  }
  // Behind the loops in it, also when it had no trip left: a run that is resumed at its end.
  nextLoop = std::max(nextLoop, index + 1);
  while (nextLoop < state.program.loops.size() && state.program.loops[nextLoop].begin < loop.end)
    ++nextLoop;
  iteration = around[--depth];
  advanced = depth == 0 ? 0 : *trips;
  passTo(loop.end); // also where a resumed run has no step left
  return loop.until == 0 ? Status() : drain("at the end of its steps");
}

/// What was skipped is behind.
void Executor::passTo(std::uint32_t action) {
  while (nextLoop < state.program.loops.size() && state.program.loops[nextLoop].begin < action)
    ++nextLoop;
  while (nextCase < state.program.cases.size() && state.program.cases[nextCase].begin < action)
    ++nextCase;
}

/// D4: nothing is under way at either edge.
Status Executor::runCase(std::size_t index) {
  const plan::Case &one = state.program.cases[index];
  nextCase = index + 1;
  advanced = 0;
  const bool mayBeAbsent = plan::drainsOnlyIfRun(state.plan, one);
  if (mayBeAbsent) {
    const StatusOr<bool> runs = holds(one.condition);
    if (!runs.ok())
      return runs.status();
    if (!*runs) {
      passTo(one.end);
      return Status();
    }
  }
  if (Status status = drain("in front of a case"); !status.ok())
    return status;
  const StatusOr<bool> runs =
      one.condition == 0 || mayBeAbsent ? StatusOr<bool>(true) : holds(one.condition);
  if (!runs.ok())
    return runs.status();
  const Counters before = state.counters;
  const Clock::time_point start = Clock::now();
  if (*runs)
    if (Status status = runBody(one.begin, one.end); !status.ok())
      return status;
  passTo(one.end);
  advanced = 0;
  Status status = drain("behind a case");
  if (one.condition != 0 &&
      state.plan.conditions[one.condition - 1].decision == plan::Decision::Evaluate) {
    state.counters = before; // an evaluation is part of no step
    state.counters.since += Clock::now() - start;
  }
  return status;
}

StatusOr<std::uint32_t> Executor::valueOf(plan::Decision decision) {
  const std::uint32_t value =
      decision == plan::Decision::Bad       ? static_cast<std::uint32_t>(state.scalars->bad)
      : decision == plan::Decision::Verdict ? static_cast<std::uint32_t>(state.scalars->verdict)
                                            : plan::decided(*state.header, decision);
  const auto values = plan::valuesOf(state.plan, decision);
  if (!std::binary_search(values.begin(), values.end(), value)) // D2
    return explain(Status(StatusCode::Unacceptable,
                          fmt::format("`{}` was decided to be {}, for which the plan is not made",
                                      plan::wordOf(decision), value)),
                   "at a decision");
  return value;
}

StatusOr<bool> Executor::holds(std::uint8_t entry) {
  const plan::Condition &condition = state.plan.conditions[entry - 1];
  const StatusOr<std::uint32_t> value = valueOf(condition.decision);
  if (!value.ok())
    return value.status();
  return plan::holds(condition, *value);
}

StatusOr<std::uint32_t> Executor::tripsOf(const plan::Loop &loop) {
  if (loop.perTrip == 0)
    return loop.trips;
  const StatusOr<std::uint32_t> microbatches = valueOf(plan::Decision::Microbatches);
  if (!microbatches.ok())
    return microbatches.status();
  // The plan was checked: there are trips for each value of its range.
  return *plan::tripsOf(loop, state.plan.data.microbatches, *microbatches);
}

Status Executor::runRange(std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t index = begin; index < end; ++index)
    if (Status status = dispatch(program.instructions[index]); !status.ok())
      return status;
  return Status();
}

Status Executor::dispatch(const Instruction &instruction) {
  recorder.begin(instruction.action, iterationOf(instruction), step());
  if (Status status = awaitAll(instruction); !status.ok())
    return explain(std::move(status), instruction, "waiting to start");
  LaneState &lane = lanes[instruction.lane];
  if (instruction.guard != 0) {
    const StatusOr<bool> runs = holds(instruction.guard);
    if (!runs.ok())
      return runs.status();
    if (!*runs)
      return skip(instruction);
  }
  const std::uint32_t microbatch = instruction.moves ? move(instruction) : instruction.microbatch;
  recorder.start(microbatch);
  ++state.counters.actions;
  const std::uint32_t traced =
      state.tracer ? trace(instruction, microbatch) : trace::Tracer::kNowhere;
  if (!isEmptyMicrobatch(instruction, microbatch))
    if (Status status = perform(instruction); !status.ok())
      return explain(std::move(status), instruction, "in");
  if (traced != trace::Tracer::kNowhere) {
    if (lane.finished)
      state.tracer->hand(traced, instruction.lane, lane.dispatched + 1);
    else
      state.tracer->close(traced, tracedAt, nanoseconds(Clock::now()));
  }
  // A skipped action counts too: waits are relative.
  recorder.dispatched(instruction.lane, ++lane.dispatched);
  if (instruction.flags & plan::kHostBlocking)
    if (Status status = awaitLane(instruction.lane, lane.dispatched); !status.ok())
      return explain(std::move(status), instruction, "waiting for the end of");
  recorder.finish();
  return Status();
}

/// What is skipped advances its lane all the same: waits are relative.
Status Executor::skip(const Instruction &instruction) {
  static const Instruction nothing{
      .routine = [](RankState &, const Instruction &) { return Status(); }};
  LaneState &lane = lanes[instruction.lane];
  if (lane.worker && !lane.worker->push(nothing))
    return stopped();
  recorder.dispatched(instruction.lane, ++lane.dispatched);
  recorder.finish();
  return Status();
}

Status Executor::perform(const Instruction &instruction) {
  if (instruction.timed)
    return performTimed(instruction);
  Worker *worker = lanes[instruction.lane].worker.get();
  if (!worker)
    return runInline(instruction);
  return worker->push(instruction) ? Status() : stopped();
}

/// From here on it runs, or stands in the queue of its lane.
std::uint32_t Executor::trace(const Instruction &instruction, std::uint32_t microbatch) {
  if (!state.tracer->wants(step()))
    return trace::Tracer::kNowhere;
  tracedAt = nanoseconds(Clock::now());
  return state.tracer->open({.action = instruction.action,
                             .iteration = iterationOf(instruction),
                             .step = step(),
                             .microbatch = isEmptyMicrobatch(instruction, microbatch)
                                               ? trace::kNoMicrobatch
                                               : microbatch},
                            tracedAt);
}

/// What of the lane has ended. `awaited`: the rank stood still until the last of it did.
void Executor::traceEnds(std::uint32_t index, bool awaited) {
  state.tracer->ended(index, lanes[index].finished->load(std::memory_order_acquire),
                      nanoseconds(Clock::now()), awaited);
}

Status Executor::performTimed(const Instruction &instruction) {
  const std::int64_t start = nanoseconds(Clock::now());
  Status status = runInline(instruction);
  const std::int64_t end = nanoseconds(Clock::now());
  state.counters.computeNanoseconds += static_cast<std::uint64_t>(end - start);
  recorder.computed(start, end);
  return status;
}

Status Executor::runInline(const Instruction &instruction) {
  Status status = runRoutine(state, instruction, ownFailure);
  if (!status.ok())
    ownFailure = ownFailure || isOwnFailure(status.code());
  return status;
}

Status Executor::awaitAll(const Instruction &instruction) {
  for (const plan::Wait wait : instruction.waits) {
    if (wait.empty())
      break;
    const LaneState &lane = lanes[wait.lane()];
    const auto distance = static_cast<std::uint64_t>(wait.distance());
    if (distance > lane.dispatched)
      continue; // reaches back to before the first action
    const std::uint64_t count = lane.dispatched + 1 - distance;
    if (lane.finished->load(std::memory_order_acquire) >= count) {
      if (state.tracer)
        traceEnds(static_cast<std::uint32_t>(wait.lane()), /*awaited=*/false);
      continue;
    }
    if (Status status = awaitLane(wait.lane(), count); !status.ok())
      return status;
  }
  return sleeper.interrupted()
             ? stopped()
             : Status(); // also a rank that never blocks must notice the end of the run
}

Status Executor::awaitLane(std::uint32_t index, std::uint64_t count) {
  const LaneState &lane = lanes[index];
  if (lane.finished->load(std::memory_order_acquire) >= count) {
    if (state.tracer)
      traceEnds(index, /*awaited=*/false);
    return Status();
  }
  recorder.waitFor(index, count);
  const std::int64_t since = state.tracer ? nanoseconds(Clock::now()) : 0;
  Status status;
  if (lane.end != kNoEnd && !sleeper.interrupted())
    status = state.transport->await(lane.end, count);
  else if (sleeper.await(*lane.finished, count, kForever) != Sleeper::Outcome::Reached)
    status = stopped();
  if (!status.ok())
    return status; // the record keeps what it waited for
  recorder.goOn();
  if (state.tracer)
    traceEnds(index, nanoseconds(Clock::now()) - since > kShortestWait);
  return Status();
}

Status Executor::drain(const char *where) {
  for (std::uint32_t index = 0; index < lanes.size(); ++index)
    if (lanes[index].finished)
      if (Status status = awaitLane(index, lanes[index].dispatched); !status.ok())
        return explain(std::move(status), where);
  return Status();
}

bool Executor::isEmptyMicrobatch(const Instruction &instruction, std::uint32_t microbatch) const {
  // Transfers of an empty microbatch are not skipped but have no bytes: both ends count them alike.
  return (instruction.flags & plan::kSkipIfEmpty) != 0 && !lanes[instruction.lane].finished &&
         state.header && state.header->tokens()[microbatch] == 0;
}

std::uint32_t Executor::move(const Instruction &instruction) {
  const plan::Action &action = state.program.actions[instruction.action];
  const std::uint32_t microbatch = action.microbatch + action.step * advanced;
  const auto first = static_cast<std::uint32_t>(instruction.operands - program.addresses.data());
  auto operand = std::lower_bound(
      program.moving.begin(), program.moving.end(), first,
      [](const MovingOperand &moving, std::uint32_t at) { return moving.address < at; });
  for (; operand != program.moving.end() && operand->address < first + action.operandCount;
       ++operand)
    program.addresses[operand->address] =
        operand->first + operand->stride * (microbatch / operand->perSlot % operand->count);
  program.instructions[instruction.action].microbatch = microbatch;
  return microbatch;
}

Status Executor::explain(Status status, const Instruction &instruction, const char *relation) {
  return explain(std::move(status), fmt::format("{} {}", relation, nameOf(instruction)));
}

Status Executor::explain(Status status, const std::string &where) {
  // The failure of a worker of ours comes before its consequences here.
  for (const LaneState &lane : lanes)
    if (const Instruction *failed = lane.worker ? lane.worker->failedAt() : nullptr) {
      ownFailure = true; // workers know no peers
      return Status(lane.worker->status().code(),
                    fmt::format("rank {} in {}: {}", state.rank, nameOf(*failed),
                                lane.worker->status().message()));
    }
  return Status(status.code(), fmt::format("rank {} {}: {}", state.rank, where, status.message()));
}

std::string Executor::nameOf(const Instruction &instruction) const {
  const std::string action =
      plan::describe(state.plan, state.rank, instruction.action, iterationOf(instruction));
  const std::string inStep = depth > 1 ? fmt::format(" of iteration {}", around[1]) : "";
  return fmt::format("action {} ({}), iteration {}{}", instruction.action, action, iteration,
                     inStep);
}

} // namespace vime
