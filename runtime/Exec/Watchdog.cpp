#include "runtime/Exec/Watchdog.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Trace/Diagnosis.h"

namespace vime {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPulse{100};

template <typename Value> Value load(Value &field) {
  return std::atomic_ref(field).load(std::memory_order_acquire);
}

/// Grows with every action begun, here or by a worker.
std::uint64_t movesOf(flight::Header &header) {
  std::uint64_t moves =
      load(header.begun) + load(header.progress) + (load(header.waitLane) != flight::kNothing);
  for (flight::WorkerRecord &worker : header.workers)
    moves += load(worker.begun) + load(worker.finished);
  return moves;
}

} // namespace

Watchdog::Watchdog(const plan::Plan &plan, const std::vector<flight::FlightRecorder *> &recorders,
                   std::chrono::nanoseconds limit, OnStuck onStuck,
                   const std::vector<flight::Header *> &elsewhere)
    : plan(plan), limit(limit), onStuck(std::move(onStuck)) {
  const std::int64_t now = flight::now();
  for (flight::FlightRecorder *recorder : recorders)
    watched.push_back({recorder, {.header = &recorder->header(), .since = now}});
  for (flight::Header *header : elsewhere)
    others.push_back({.header = header, .since = now});
  endsWaits =
      plan::hasRounds(plan) && watched.size() + others.size() == std::size_t{plan.mesh.ranks()};
  thread = std::thread(&Watchdog::run, this);
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex);
    over = true;
  }
  wake.notify_one();
  thread.join();
}

void Watchdog::run() {
  std::unique_lock lock(mutex);
  while (!wake.wait_for(lock, kPulse, [&] { return over; })) {
    for (Seen &other : others)
      other.hasMoved(flight::now());
    for (Watched &each : watched)
      look(each);
  }
}

bool Watchdog::Seen::hasMoved(std::int64_t now) {
  const std::uint64_t count = movesOf(*header);
  if (count == moves)
    return false;
  moves = count;
  since = now;
  return true;
}

void Watchdog::look(Watched &each) {
  flight::Header &header = each.recorder->header();
  const std::int64_t now = flight::now();
  std::atomic_ref(header.aliveAt).store(now, std::memory_order_relaxed);
  if (waitsForRewards(*each.recorder)) // nothing else of that rank is counted by this
    std::atomic_ref(header.progress).fetch_add(1, std::memory_order_relaxed);
  if (each.seen.hasMoved(now)) {
    std::atomic_ref(header.movedAt).store(now, std::memory_order_relaxed);
    return;
  }
  if (each.told || now - each.seen.since < limit.count() ||
      load(header.state) != flight::State::Running)
    return;
  const bool waits = waitsForPeer(*each.recorder);
  if (waits && !(endsWaits && nobodyGoesOn(now)))
    return;
  each.told = true;
  onStuck(header.rank, waits ? describeWait(*each.recorder) : describe(*each.recorder), waits);
}

/// A little longer: who is the cause says so itself, if it can.
bool Watchdog::nobodyGoesOn(std::int64_t now) const {
  const std::int64_t before = now - std::chrono::nanoseconds(limit + 5 * kPulse).count();
  return std::all_of(watched.begin(), watched.end(),
                     [&](const Watched &each) { return each.seen.since < before; }) &&
         std::all_of(others.begin(), others.end(),
                     [&](const Seen &other) { return other.since < before; });
}

/// Then the transport's limit holds.
bool Watchdog::waitsForPeer(const flight::FlightRecorder &recorder) const {
  const plan::Program *program = plan::programOf(plan, recorder.header().rank);
  const std::uint32_t lane = load(recorder.header().waitLane);
  if (!program || lane >= program->lanes.size())
    return false;
  const plan::LaneKind kind = program->lanes[lane].kind;
  return kind == plan::LaneKind::Send || kind == plan::LaneKind::Receive ||
         kind == plan::LaneKind::Group;
}

/// Then the limit of each answer holds (runtime/Reward).
bool Watchdog::waitsForRewards(const flight::FlightRecorder &recorder) const {
  const plan::Program *program = plan::programOf(plan, recorder.header().rank);
  for (flight::WorkerRecord &worker : recorder.header().workers) {
    const std::uint32_t action = load(worker.action);
    if (program && load(worker.begun) > load(worker.finished) && action < program->actions.size() &&
        plan::asksForRewards(program->actions[action].opcode))
      return true;
  }
  return false;
}

Status Watchdog::describeWait(const flight::FlightRecorder &recorder) const {
  const flight::FlightRecord record = flight::snapshotOf(recorder);
  return Status(StatusCode::Hang, fmt::format("rank {} {}: no rank went on within {} s",
                                              record.header.rank, flight::placeOf(plan, record),
                                              std::chrono::duration<double>(limit).count()));
}

Status Watchdog::describe(const flight::FlightRecorder &recorder) const {
  const flight::FlightRecord record = flight::snapshotOf(recorder);
  const std::uint32_t rank = record.header.rank;
  std::string place = flight::placeOf(plan, record);
  if (const flight::WorkerRecord *worker = record.workerOf(record.header.waitLane))
    place = fmt::format("in action {} ({})", worker->action,
                        plan::describe(plan, rank, worker->action));
  return Status(StatusCode::Hang, fmt::format("rank {} {} did not go on within {} s", rank, place,
                                              std::chrono::duration<double>(limit).count()));
}

} // namespace vime
