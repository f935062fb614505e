#include "runtime/Exec/Worker.h"

#include "runtime/Exec/RankState.h"
#include "runtime/Exec/RunRoutine.h"

namespace vime {
namespace {

constexpr std::chrono::hours kForever{24 * 365};

} // namespace

Worker::Worker(RankState &state, Sleeper &dispatcher, flight::WorkerRecord &record)
    : state(state), dispatcher(dispatcher), record(record), thread(&Worker::run, this) {}

Worker::~Worker() {
  own.interrupt();
  thread.join();
}

bool Worker::push(const Instruction &instruction) {
  const std::uint64_t index = pushed.load(std::memory_order_relaxed);
  if (index >= kQueue &&
      dispatcher.await(done, index + 1 - kQueue, kForever) != Sleeper::Outcome::Reached)
    return false;
  queue[index % kQueue] = &instruction;
  own.advance(pushed, index + 1);
  return true;
}

void Worker::run() {
  for (std::uint64_t next = 0;; ++next) {
    if (own.await(pushed, next + 1, kForever) != Sleeper::Outcome::Reached || own.interrupted())
      return; // the run is over
    const Instruction &instruction = *queue[next % kQueue];
    flight::FlightRecorder::begin(record, instruction.action);
    bool threw = false; // a failure of a worker is always the rank's own
    Status status = runRoutine(state, instruction, threw);
    if (!status.ok()) {
      outcome = std::move(status);
      failure.store(&instruction, std::memory_order_release);
      dispatcher.interrupt();
      state.transport->abort(); // where the dispatcher may be waiting for a peer
      return;
    }
    flight::FlightRecorder::finish(record);
    dispatcher.advance(done, next + 1);
  }
}

} // namespace vime
