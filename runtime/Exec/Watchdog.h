// Watchdog: a thread that shows that its process is alive, and notices a rank that does not go on.
//
//   Watchdog watchdog({&recorder}, limit, [](std::uint32_t rank, const Status &status, bool) { …
//   });
//
// Waits for peers end by the transport's own limit. What nothing else ends is an action that does
// not return: a task without end, a disk that does not answer. After `limit` the watchdog says so,
// once a rank, from its own thread; it cannot end the action.
//
// Of a plan with rounds nobody knows how long a wait may be. Who generates shows that it goes on
// between two steps of the engine (FlightRecorder::advance); rewards have limits of their own, and
// meanwhile the watchdog shows it. So where it sees the records of all ranks, waits end when nobody
// at all has gone on for as long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Plan/Plan.h"
#include "runtime/Trace/FlightRecorder.h"

namespace vime {

class Watchdog {
public:
  /// `blamesPeer`: the rank waits for one that does not go on.
  using OnStuck = std::function<void(std::uint32_t rank, const Status &status, bool blamesPeer)>;

  /// Throws std::system_error when there is no room for a thread.
  Watchdog(const plan::Plan &plan, const std::vector<flight::FlightRecorder *> &recorders,
           std::chrono::nanoseconds limit, OnStuck onStuck,
           const std::vector<flight::Header *> &others = {});
  ~Watchdog();
  Watchdog(const Watchdog &) = delete;

private:
  /// A rank, here or in another process.
  struct Seen {
    flight::Header *header;
    std::uint64_t moves = 0; // counts all that it did
    std::int64_t since = 0;  // that count
    bool hasMoved(std::int64_t now);
  };
  struct Watched {
    flight::FlightRecorder *recorder;
    Seen seen;
    bool told = false;
  };
  void run();
  void look(Watched &watched);
  bool waitsForPeer(const flight::FlightRecorder &recorder) const;
  bool waitsForRewards(const flight::FlightRecorder &recorder) const;
  bool nobodyGoesOn(std::int64_t now) const;
  Status describe(const flight::FlightRecorder &recorder) const;
  Status describeWait(const flight::FlightRecorder &recorder) const;

  const plan::Plan &plan;
  const std::chrono::nanoseconds limit;
  const OnStuck onStuck;
  std::vector<Watched> watched;
  std::vector<Seen> others;
  bool endsWaits = false;
  std::mutex mutex;
  std::condition_variable wake;
  bool over = false;
  std::thread thread;
};

} // namespace vime
