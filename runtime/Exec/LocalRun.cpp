#include "runtime/Exec/LocalRun.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "runtime/Exec/InterruptSignals.h"
#include "runtime/Exec/RankRun.h"
#include "runtime/Exec/RunOutcome.h"
#include "runtime/Transport/LocalTransport.h"

namespace vime {
namespace {

/// Readable once `signal` was called.
class Event {
public:
  Event() : file(eventfd(0, EFD_CLOEXEC)) {}
  ~Event() { close(file); }
  Event(const Event &) = delete;
  void signal() { eventfd_write(file, 1); }
  int descriptor() const { return file; }

private:
  const int file;
};

class Ranks {
public:
  Ranks(const plan::Plan &plan, plan::Hash128 planId, const RunOptions &options,
        RunObserver &observer)
      : plan(plan), planId(planId), options(options), observer(observer),
        running(plan.mesh.ranks()) {
    const bool spins = plan.mesh.ranks() <= availableCores();
    for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank) {
      sleepers.push_back(std::make_unique<Sleeper>(spins));
      pointers.push_back(sleepers.back().get());
    }
  }

  Status connect() {
    std::vector<RankEnds> ends;
    for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank) {
      StatusOr<RankEnds> own = endsOf(plan, rank);
      if (!own.ok())
        return own.status();
      ends.push_back(std::move(*own));
    }
    StatusOr<LocalTransports> connected = connectLocal(ends, pointers, transferLimit(plan));
    if (!connected.ok())
      return connected.status();
    transports = std::move(*connected);
    return Status();
  }

  Status run() {
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
      threads.emplace_back([this, rank] { runRank(rank); });
    awaitEnd();
    for (std::thread &thread : threads)
      thread.join();
    return outcome.status();
  }

private:
  /// Until all ranks have stopped. The first signal asks them to, at their next action; the second
  /// does not wait.
  void awaitEnd() {
    pollfd files[] = {{over.descriptor(), POLLIN, 0}, {options.interrupts, POLLIN, 0}};
    for (bool asked = false; (files[0].revents & POLLIN) == 0; poll(files, 2, -1)) {
      if ((files[1].revents & POLLIN) == 0)
        continue;
      if (asked)
        std::_Exit(Status(StatusCode::Interrupted, "").exitCode());
      asked = true;
      consumeInterrupt(options.interrupts);
      outcome.interrupt();
      transports.front()->abort();
    }
  }

  void runRank(std::uint32_t rank) {
    Status status = prepareAndExecute(rank);
    if (!status.ok()) {
      outcome.record(status); // before the others can fail of it
      transports[rank]->abort();
    }
    if (--running == 0)
      over.signal();
  }

  Status prepareAndExecute(std::uint32_t rank) {
    StatusOr<std::unique_ptr<RankRun>> run = RankRun::prepare({.plan = plan,
                                                               .planId = planId,
                                                               .rank = rank,
                                                               .base = options.base,
                                                               .observer = observer,
                                                               .edge = options.edge});
    return run.ok() ? (*run)->execute(*transports[rank], *sleepers[rank]) : run.status();
  }

  const plan::Plan &plan;
  const plan::Hash128 planId;
  const RunOptions &options;
  RunObserver &observer;
  std::vector<std::unique_ptr<Sleeper>> sleepers;
  std::vector<Sleeper *> pointers;
  LocalTransports transports;
  RunOutcome outcome;
  Event over;
  std::atomic<std::uint32_t> running;
};

} // namespace

Status runLocal(const plan::Plan &plan, plan::Hash128 planId, const RunOptions &options,
                RunObserver &observer) {
  if (Status status = checkMemory(plan); !status.ok())
    return status;
  Ranks ranks(plan, planId, options, observer);
  if (Status status = ranks.connect(); !status.ok())
    return status;
  Status status = ranks.run();
  if (!status.ok())
    removePartialExport(plan, options.base);
  return status;
}

} // namespace vime
