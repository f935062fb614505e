#include "runtime/Exec/Watchdog.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

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

Watchdog::Watchdog(const plan::Plan &plan, std::vector<flight::FlightRecorder *> recorders,
                   std::chrono::nanoseconds limit, OnStuck onStuck)
    : plan(plan), limit(limit), onStuck(std::move(onStuck)) {
  for (flight::FlightRecorder *recorder : recorders)
    watched.push_back({.recorder = recorder, .since = flight::now()});
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
  while (!wake.wait_for(lock, kPulse, [&] { return over; }))
    for (Watched &each : watched)
      look(each);
}

void Watchdog::look(Watched &each) {
  flight::Header &header = each.recorder->header();
  const std::int64_t now = flight::now();
  std::atomic_ref(header.aliveAt).store(now, std::memory_order_relaxed);
  if (const std::uint64_t moves = movesOf(header); moves != each.moves) {
    each.moves = moves;
    each.since = now;
    std::atomic_ref(header.movedAt).store(now, std::memory_order_relaxed);
    return;
  }
  if (each.told || now - each.since < limit.count() ||
      load(header.state) != flight::State::Running || waitsForPeer(*each.recorder) ||
      waitsForRewards(*each.recorder))
    return;
  each.told = true;
  onStuck(header.rank, describe(*each.recorder));
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
