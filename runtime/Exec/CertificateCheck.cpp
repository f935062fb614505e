#include "runtime/Exec/CertificateCheck.h"

#include <fmt/format.h>

#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Loops.h"

namespace vime {
namespace {

class Checker {
public:
  Checker(const plan::Plan &plan, std::uint32_t rank)
      : plan(plan), rank(rank), program(*plan::programOf(plan, rank)) {}

  Status run() {
    if (const auto misfit = plan::findLoopMisfit(program))
      return Status(StatusCode::Unacceptable,
                    fmt::format("loop {} of rank {} {}", misfit->loop->id, rank, misfit->problem));
    return checkBody(0, static_cast<std::uint32_t>(program.actions.size()), 0);
  }

private:
  /// Actions [begin, end) with the loops among them, of which `nextLoop` is the first; `origin`:
  /// from where their clock counts.
  Status checkBody(std::uint32_t begin, std::uint32_t end, std::int64_t origin) {
    std::int64_t start = origin; // of the segment
    while (nextLoop < program.loops.size() && program.loops[nextLoop].begin < end) {
      const plan::Loop &loop = program.loops[nextLoop++];
      if (Status status = checkStraight(begin, loop.begin, start); !status.ok())
        return status;
      if (Status status = checkLoop(loop, origin); !status.ok())
        return status;
      begin = loop.end;
      start = origin + loop.start + loop.trips * loop.period;
    }
    return checkStraight(begin, end, start);
  }

  Status checkStraight(std::uint32_t begin, std::uint32_t end, std::int64_t start) {
    for (std::uint32_t action = begin; action < end; ++action)
      if (Status status = advance(action, start + program.actions[action].time); !status.ok())
        return status;
    return Status();
  }

  /// First iteration in order; the bases span less than the period, so that every later one
  /// follows; the last iteration ends the loop.
  Status checkLoop(const plan::Loop &loop, std::int64_t origin) {
    constexpr std::int64_t kFarthest = std::int64_t(1) << 61; // no sum over nested loops overflows
    std::int64_t all = 0;
    if (loop.period < 0 || __builtin_mul_overflow(std::int64_t(loop.trips), loop.period, &all) ||
        all > kFarthest / 2 || loop.start > kFarthest / 2 || loop.start < -kFarthest / 2)
      return Status(StatusCode::Unacceptable,
                    fmt::format("loop {} of rank {} leaves the clock's range", loop.id, rank));
    const std::int64_t start = origin + loop.start, first = firstTimeOf(loop, start);
    if (Status status = checkBody(loop.begin, loop.end, start); !status.ok())
      return status;
    if (time - first >= loop.period)
      return refuse(loop.end - 1, fmt::format("the times of loop {} span {}, its period is {}",
                                              loop.id, time - first, loop.period));
    time += (loop.trips - 1) * loop.period;
    return Status();
  }

  /// `nextLoop` is the first loop inside, or one behind.
  std::int64_t firstTimeOf(const plan::Loop &loop, std::int64_t start) const {
    const bool beginsInner =
        nextLoop < program.loops.size() && program.loops[nextLoop].begin == loop.begin;
    return start + (beginsInner ? program.loops[nextLoop].start : 0) +
           program.actions[loop.begin].time;
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
  std::size_t nextLoop = 0;
  std::int64_t time = -1; // of the latest action; the clock starts at 0
};

} // namespace

Status checkCertificate(const plan::Plan &plan, std::uint32_t rank) {
  return Checker(plan, rank).run();
}

} // namespace vime
