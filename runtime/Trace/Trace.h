// Trace: when each action of a rank was posted, began and ended in some steps of a run.
//
//   Tracer tracer({.folder = "traces", .first = 1, .last = 3}, program);
//   const std::uint32_t place = tracer.open(lane, {.action = 17, …}, now);   // all waits are over
//   tracer.close(place, begin, end);                                       // it ran inline
//   tracer.ended(lane, finished, now);                                     // a lane's actions so
//   far Status written = writeTrace(tracer.take(…), "traces/rank-3.trace");
//
// Memory is reserved before the first action; a step that is not traced costs a comparison. An end
// is seen when the rank looks: when it waits for it, exactly; of what nobody waited for, later than
// it was, which the record says. When the peer was ready is not known to one rank alone: whoever
// reads the traces of both ends knows (compiler/Analysis/Measured.h).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Plan/Plan.h"

namespace vime::trace {

/// What to trace: steps [first, last], counted from 0.
struct TraceWish {
  std::string folder; // empty: nothing
  std::uint32_t first = 1, last = 3;
};

struct TracedAction {
  std::uint32_t action = 0;     // index in the program
  std::uint32_t iteration = 0;  // by which its microbatch advances
  std::uint32_t step = 0;       // of the loop over steps
  std::uint32_t microbatch = 0; // kNoMicrobatch: it was skipped
  std::int64_t posted = 0;      // CLOCK_MONOTONIC of its machine, nanoseconds
  std::int64_t begin = 0;       // of what runs on the rank's own threads; else as posted
  std::int64_t end = 0;         // 0: not seen before the run ended
  std::uint64_t awaited = 0;    // 1: somebody waited for the end, so that it is exact
};
static_assert(sizeof(TracedAction) == 48 && std::is_trivially_copyable_v<TracedAction>);
constexpr std::uint32_t kNoMicrobatch = 0xFFFFFFFFu;

struct RankTrace {
  std::array<std::uint64_t, 2> planId{};
  std::uint32_t rank = 0, ranks = 0;
  std::int64_t startedAt = 0, startedWall = 0; // one moment on both clocks
  std::uint64_t lost = 0;                      // actions that found no room
  std::vector<TracedAction> actions;           // as dispatched
};

class Tracer {
public:
  Tracer(TraceWish wish, const plan::Program &program);

  bool wants(std::uint32_t step) const { return wish.first <= step && step <= wish.last; }

  /// An action that may start now. kNowhere: there is no room for it.
  static constexpr std::uint32_t kNowhere = 0xFFFFFFFFu;
  std::uint32_t open(const TracedAction &action, std::int64_t now);
  /// It ran on this thread.
  void close(std::uint32_t place, std::int64_t begin, std::int64_t end);
  /// It was handed to a lane as its action of this number, counted from 1.
  void hand(std::uint32_t place, std::uint32_t lane, std::uint64_t number);
  /// So many actions of the lane have ended.
  void ended(std::uint32_t lane, std::uint64_t finished, std::int64_t now, bool awaited);

  std::uint64_t lost() const { return lostActions; }
  std::vector<TracedAction> take() { return std::move(actions); }

private:
  /// Handed to a lane and not seen to end.
  struct Open {
    std::uint64_t number;
    std::uint32_t place;
  };
  struct Queue {
    std::vector<Open> open; // a ring
    std::size_t first = 0, count = 0;
  };

  TraceWish wish;
  std::size_t capacity;
  std::uint64_t lostActions = 0;
  std::vector<TracedAction> actions;
  std::vector<Queue> lanes;
};

/// `rank-3.trace`
std::string traceNameOf(std::uint32_t rank);

/// Complete or absent.
Status writeTrace(const RankTrace &trace, const std::string &path);

/// `File` if it cannot be read, `InvalidInput` if it is no trace.
StatusOr<RankTrace> readTrace(const std::string &path);

} // namespace vime::trace
