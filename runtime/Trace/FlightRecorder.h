// FlightRecorder: writes a rank's flight record while it runs. A few stores an action: no heap, no
// lock, no system call, and no look at the clock but where the executor looks anyway.
//
//   recorder.begin(action, iteration, step);
//   recorder.waitFor(lane, count); … recorder.goOn();     // only where it blocks
//   recorder.start(microbatch);
//   recorder.dispatched(lane, count);
//   recorder.finish();
//
// All but the workers' part and `alive` by the rank's dispatcher.
#pragma once

#include <atomic>
#include <string_view>

#include "runtime/Base/Status.h"
#include "runtime/Trace/FlightFile.h"

namespace vime::flight {

/// CLOCK_MONOTONIC, nanoseconds.
std::int64_t now();

class FlightRecorder {
public:
  explicit FlightRecorder(FlightFile memory);

  struct Identity {
    std::array<std::uint64_t, 2> planId{};
    std::uint32_t rank = 0, ranks = 0;
    std::string_view plan; // path
  };
  void identify(const Identity &identity);
  /// The process that writes from now on is this one.
  void adopt();

  void enter(State state) { publish(head->state, state); }

  void begin(std::uint32_t action, std::uint32_t iteration, std::uint32_t step) {
    current = &ring[count % kKeptActions];
    put(current->action, action);
    put(current->iteration, iteration);
    put(current->step, step);
    put(current->microbatch, kNothing);
    put(current->begin, clock);
    put(current->end, std::int64_t{0});
    publish(head->begun, ++count);
  }
  void start(std::uint32_t microbatch) { put(current->microbatch, microbatch); }
  /// The present action takes long, and goes on.
  void advance() { publish(head->progress, head->progress + 1); }
  /// The present action computed from `from` to `to`.
  void computed(std::int64_t from, std::int64_t to) {
    put(current->begin, from);
    clock = to;
  }
  void dispatched(std::uint32_t lane, std::uint64_t actions) {
    put(head->dispatched[lane], actions);
  }
  void finish() { put(current->end, clock); }

  void waitFor(std::uint32_t lane, std::uint64_t finished) {
    put(head->waitCount, finished);
    publish(head->waitLane, lane);
  }
  void goOn() { publish(head->waitLane, kNothing); }

  /// The worker of a lane; one that only it writes to.
  WorkerRecord &worker(std::uint32_t lane);
  static void begin(WorkerRecord &worker, std::uint32_t action);
  static void finish(WorkerRecord &worker) { publish(worker.finished, worker.begun); }

  /// The first failure stays. `blamesPeer`: another rank is the cause, or the run was over.
  void fail(const Status &status, bool blamesPeer);
  /// What became of the rank's process, by who started it.
  void ended(Ending ending, int value);

  Header &header() const { return *head; }
  const ActionRecord *actions() const { return ring; }

private:
  // Others look while this is written: every store is whole, on this machine at no cost.
  template <typename Value> static void put(Value &field, Value value) {
    std::atomic_ref(field).store(value, std::memory_order_relaxed);
  }
  template <typename Value> static void publish(Value &field, Value value) {
    std::atomic_ref(field).store(value, std::memory_order_release);
  }

  FlightFile memory;
  Header *head;
  ActionRecord *ring;
  ActionRecord *current;
  std::uint64_t count = 0;
  std::int64_t clock;
};

} // namespace vime::flight
