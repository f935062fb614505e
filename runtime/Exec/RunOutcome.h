// RunOutcome: how a run of several ranks ended. The first rank that failed by itself explains the
// whole; what the others report afterwards are consequences.
#pragma once

#include <cstdint>
#include <mutex>

#include "runtime/Base/Status.h"

namespace vime {

class RunOutcome {
public:
  /// A rank ended. `own`: what happened began there, whatever the code says; `moment`: when, by
  /// CLOCK_MONOTONIC (0: now). From any thread.
  void record(const Status &status, bool own = false, std::int64_t moment = 0);
  /// A rank's process was killed from outside: the cause of everything else.
  void recordDeath(const Status &status);
  /// The user ended the run: whatever ranks say afterwards does not matter.
  void interrupt();

  /// Ok, or the cause.
  Status status() const;
  /// Whether there is nothing to wait for: what is known is the cause, and no consequence of
  /// something that another rank has still to say; or ranks have waited long enough.
  bool isCertain() const;

private:
  void recordAt(const Status &status, int distance, std::int64_t moment);

  mutable std::mutex mutex;
  bool interrupted = false;
  int closest = kNobody;  // distance of `cause` from the cause of all
  std::int64_t since = 0; // when it happened
  Status cause;
  static constexpr int kNobody = 4;
};

} // namespace vime
