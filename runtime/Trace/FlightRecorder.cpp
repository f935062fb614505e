#include "runtime/Trace/FlightRecorder.h"

#include <algorithm>
#include <cstring>

#include <time.h>
#include <unistd.h>

namespace vime::flight {
namespace {

std::int64_t read(clockid_t id) {
  timespec time;
  clock_gettime(id, &time);
  return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// As much as fits, always ended by a zero.
template <std::size_t Size> void copyText(std::array<char, Size> &field, std::string_view text) {
  const std::size_t length = std::min(text.size(), Size - 1);
  for (std::size_t index = 0; index < Size; ++index)
    std::atomic_ref(field[index])
        .store(index < length ? text[index] : '\0', std::memory_order_relaxed);
}

} // namespace

std::int64_t now() { return read(CLOCK_MONOTONIC); }

FlightRecorder::FlightRecorder(FlightFile given)
    : memory(std::move(given)), head(&memory.header()), ring(memory.ring()), current(ring),
      clock(now()) {}

void FlightRecorder::identify(const Identity &identity) {
  head->planId = identity.planId;
  head->rank = identity.rank;
  head->ranks = identity.ranks;
  copyText(head->plan, identity.plan);
  adopt();
}

void FlightRecorder::adopt() {
  head->process = static_cast<std::uint64_t>(getpid());
  head->startedAt = head->aliveAt = head->movedAt = now();
  head->startedWall = read(CLOCK_REALTIME);
  gethostname(head->host.data(), head->host.size() - 1);
}

WorkerRecord &FlightRecorder::worker(std::uint32_t lane) {
  for (WorkerRecord &worker : head->workers)
    if (worker.lane == kNothing || worker.lane == lane) {
      worker.lane = lane;
      return worker;
    }
  return head->workers.back(); // no program of this version has more
}

void FlightRecorder::begin(WorkerRecord &worker, std::uint32_t action) {
  put(worker.action, action);
  put(worker.since, now());
  publish(worker.begun, worker.begun + 1);
}

void FlightRecorder::fail(const Status &status, bool blamesPeer) {
  if (head->state == State::Failed)
    return;
  copyText(head->failure, status.message());
  put(head->failureCode, static_cast<std::uint32_t>(status.exitCode()));
  put(head->blamesPeer, std::uint32_t{blamesPeer});
  put(head->failedAt, now());
  enter(State::Failed);
}

void FlightRecorder::ended(Ending ending, int value) {
  put(head->endingValue, std::int32_t{value});
  publish(head->ending, ending);
}

} // namespace vime::flight
