#include "runtime/Exec/CertificateCheck.h"

#include <fmt/format.h>

#include "runtime/Plan/Describe.h"

namespace vime {
namespace {

class Checker {
public:
  Checker(const plan::Plan &plan, std::uint32_t rank)
      : plan(plan), rank(rank), program(*plan::programOf(plan, rank)) {}

  Status run() {
    std::uint32_t next = 0;
    std::int64_t start = 0; // of the segment
    for (const plan::Loop &loop : program.loops) {
      if (loop.begin < next || loop.end < loop.begin || loop.end > program.actions.size())
        return Status(StatusCode::Unacceptable, fmt::format("the loops of rank {} overlap", rank));
      if (Status status = checkStraight(next, loop.begin, start); !status.ok())
        return status;
      if (Status status = checkLoop(loop); !status.ok())
        return status;
      next = loop.end;
      start = loop.start + loop.trips * loop.period;
    }
    return checkStraight(next, static_cast<std::uint32_t>(program.actions.size()), start);
  }

private:
  Status checkStraight(std::uint32_t begin, std::uint32_t end, std::int64_t start) {
    for (std::uint32_t action = begin; action < end; ++action)
      if (Status status = advance(action, start + program.actions[action].time); !status.ok())
        return status;
    return Status();
  }

  /// First iteration in order; the bases span less than the period, so that every later one
  /// follows; the last iteration ends the loop.
  Status checkLoop(const plan::Loop &loop) {
    constexpr std::int64_t kFarthest = std::int64_t(1) << 62; // no sum of two times overflows
    std::int64_t all = 0;
    if (loop.period < 0 || __builtin_mul_overflow(std::int64_t(loop.trips), loop.period, &all) ||
        all > kFarthest / 2 || loop.start > kFarthest / 2 || loop.start < -kFarthest / 2)
      return Status(StatusCode::Unacceptable,
                    fmt::format("loop {} of rank {} leaves the clock's range", loop.id, rank));
    if (loop.begin == loop.end || loop.trips == 0)
      return Status();
    if (Status status = checkStraight(loop.begin, loop.end, loop.start); !status.ok())
      return status;
    const std::int64_t first = program.actions[loop.begin].time,
                       last = program.actions[loop.end - 1].time;
    if (last - first >= loop.period)
      return refuse(loop.end - 1, fmt::format("the times of loop {} span {}, its period is {}",
                                              loop.id, last - first, loop.period));
    time = loop.start + (loop.trips - 1) * loop.period + last;
    return Status();
  }

  Status advance(std::uint32_t action, std::int64_t now) {
    if (now <= time)
      return refuse(action,
                    fmt::format("it stands at {} of the clock, what is dispatched before it at {}",
                                now, time));
    time = now;
    return checkWaits(action);
  }

  /// A distance of 1 or more is a wait for something dispatched before; only its lane must exist.
  Status checkWaits(std::uint32_t action) {
    for (const plan::Wait wait : program.actions[action].waits)
      if (!wait.empty() &&
          (wait.distance() == 0 || static_cast<std::size_t>(wait.lane()) >= program.lanes.size()))
        return refuse(
            action, fmt::format("it waits for lane {}, distance {}", wait.lane(), wait.distance()));
    return Status();
  }

  Status refuse(std::uint32_t action, const std::string &why) const {
    return Status(StatusCode::Unacceptable,
                  fmt::format("action {} of rank {}, {}, breaks the plan's certificate: {}", action,
                              rank, plan::describe(plan, rank, action), why));
  }

  const plan::Plan &plan;
  const std::uint32_t rank;
  const plan::Program &program;
  std::int64_t time = -1; // of the latest action; the clock starts at 0
};

} // namespace

Status checkCertificate(const plan::Plan &plan, std::uint32_t rank) {
  return Checker(plan, rank).run();
}

} // namespace vime
