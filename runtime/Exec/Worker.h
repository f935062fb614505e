// Worker: the thread behind a host or io lane. Runs what the dispatcher hands it, in order.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "runtime/Base/Status.h"
#include "runtime/Exec/Instruction.h"
#include "runtime/Trace/FlightRecord.h"
#include "runtime/Transport/Sleeper.h"

namespace vime {

class Worker {
public:
  /// `dispatcher` is woken when an action has finished, and interrupted when one has failed.
  Worker(RankState &state, Sleeper &dispatcher, flight::WorkerRecord &record);
  ~Worker();
  Worker(const Worker &) = delete;

  /// Hands over the next action of the lane; waits when the queue is full. False when interrupted.
  /// By the dispatcher.
  bool push(const Instruction &instruction);

  const std::atomic<std::uint64_t> &finished() const { return done; }

  /// The action that failed and why; null while all went well.
  const Instruction *failedAt() const { return failure.load(std::memory_order_acquire); }
  const Status &status() const { return outcome; } // of that action

private:
  static constexpr std::uint64_t kQueue = 64;
  void run();

  RankState &state;
  Sleeper &dispatcher;
  flight::WorkerRecord &record;
  Sleeper own{/*spins=*/false};
  std::array<const Instruction *, kQueue> queue{};
  std::atomic<std::uint64_t> pushed{0}, done{0};
  std::atomic<const Instruction *> failure{nullptr};
  Status outcome; // written before `failure`
  std::thread thread;
};

} // namespace vime
