#include "runtime/Exec/ProcessRun.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "runtime/Exec/InterruptSignals.h"
#include "runtime/Exec/RankProcessVariables.h"
#include "runtime/Exec/RankReports.h"
#include "runtime/Exec/RunOutcome.h"
#include "runtime/Plan/PlanFile.h"
#include "runtime/Trace/FlightRecords.h"
#include "runtime/Transport/TcpStoreServer.h"

extern char **environ;

namespace vime {
namespace {

using Clock = std::chrono::steady_clock;

/// How long the others have to tell what happened once a rank lost a peer: the cause is seldom the
/// first to arrive.
constexpr std::chrono::milliseconds kGrace{1500};

constexpr const char *kHost = "127.0.0.1"; // of the store; the ranks are all here

/// Nobody else's keys: a prefix that cannot be guessed.
std::string runToken() {
  std::array<std::uint64_t, 2> bits{};
  [[maybe_unused]] const ssize_t got = getrandom(bits.data(), sizeof bits, 0);
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

/// The strings of execve, which must be ready before fork: what torchrun would set, and the pipe.
class Environment {
public:
  Environment(std::uint32_t rank, std::uint32_t ranks, std::uint16_t port, const std::string &token,
              int reports, const std::string &record, const std::string &resume) {
    for (char **entry = environ; *entry; ++entry)
      strings.emplace_back(*entry);
    set("RANK", rank);
    set("WORLD_SIZE", ranks);
    set("MASTER_ADDR", kHost);
    set("MASTER_PORT", port);
    set("TORCHELASTIC_USE_AGENT_STORE", "True"); // hosted by this process
    set("TORCHELASTIC_RUN_ID", token);
    set("TORCHELASTIC_RESTART_COUNT", 0);
    set(kReportsVariable, reports);
    set(kRecordVariable, record);
    set(kResumeVariable, resume);
    for (std::string &entry : strings)
      pointers.push_back(entry.data());
    pointers.push_back(nullptr);
  }
  char *const *data() const { return pointers.data(); }

private:
  template <typename Value> void set(const std::string &name, const Value &value) {
    std::erase_if(strings, [&](const std::string &entry) { return entry.starts_with(name + "="); });
    strings.push_back(fmt::format("{}={}", name, value));
  }
  std::vector<std::string> strings;
  std::vector<char *> pointers;
};

/// In the child: a fresh process that ends with its parent. Only async-signal-safe calls.
[[noreturn]] void becomeRank(char *const *arguments, char *const *environment, int reports,
                             pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) // it went before we asked
    _exit(70);
  // Ctrl-C and the end of a terminal reach the whole group; what they mean for ranks the parent
  // decides.
  signal(SIGINT, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  fcntl(reports, F_SETFD, 0); // survives exec
  execve("/proc/self/exe", arguments, environment);
  _exit(70);
}

struct Child {
  std::uint32_t rank = 0;
  pid_t process = -1;
  int pipe = -1;
  std::unique_ptr<ReportReader> reports;
  bool running() const { return process > 0; }
};

class Processes {
public:
  Processes(const plan::Plan &plan, char *const *arguments, const RunOptions &options,
            RunObserver &observer, flight::FlightRecords &records)
      : plan(plan), arguments(arguments), options(options), observer(observer), records(records) {}

  ~Processes() {
    killAll();
    for (Child &child : children)
      if (child.running())
        reap(child);
  }

  Status run() {
    StatusOr<std::unique_ptr<TcpStoreServer>> hosted = TcpStoreServer::listen(kHost, /*port=*/0);
    if (!hosted.ok())
      return hosted.status();
    store = std::move(*hosted);
    for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
      if (Status status = start(rank); !status.ok())
        return status;
    store->serve(); // a thread: after the last fork
    while (std::any_of(children.begin(), children.end(),
                       [](const Child &child) { return child.running(); }))
      attend();
    return records.conclude(outcome.status(), plan);
  }

private:
  Status start(std::uint32_t rank) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return cannotStart(rank);
    const Environment environment(rank, plan.mesh.ranks(), store->port(), token, ends[1],
                                  records.fileOf(rank), options.resume.chosen);
    const pid_t parent = getpid(), process = fork();
    if (process == 0)
      becomeRank(arguments, environment.data(), ends[1], parent);
    close(ends[1]);
    if (process < 0) {
      const Status status = cannotStart(rank);
      close(ends[0]);
      return status;
    }
    children.push_back({rank, process, ends[0], std::make_unique<ReportReader>(ends[0], observer)});
    return Status();
  }

  Status cannotStart(std::uint32_t rank) const {
    return Status(StatusCode::Unacceptable,
                  fmt::format("cannot start rank {} of {}: {}\nhelp: this machine allows no more "
                              "processes, open files or memory; see `ulimit -a`",
                              rank, plan.mesh.ranks(), std::strerror(errno)));
  }

  /// Waits for the next thing to happen, and deals with it.
  void attend() {
    std::vector<pollfd> files = {{options.interrupts, POLLIN, 0}};
    for (const Child &child : children)
      files.push_back({child.running() ? child.pipe : -1, POLLIN, 0});
    if (poll(files.data(), files.size(), patience()) == 0)
      killAll(); // the grace is over
    if (files[0].revents & POLLIN) {
      consumeInterrupt(options.interrupts);
      outcome.interrupt();
      killAll();
    }
    for (std::size_t index = 0; index < children.size(); ++index)
      if (files[index + 1].revents != 0)
        listen(children[index]);
  }

  void listen(Child &child) {
    if (!child.reports->read())
      end(child);
  }

  void end(Child &child) {
    const int status = reap(child);
    const bool killed = WIFSIGNALED(status);
    if (killed && !killing)
      outcome.recordDeath(
          Status(StatusCode::RankFailed,
                 fmt::format("rank {} (process {}) was ended by signal {}, {}", child.rank,
                             child.process, WTERMSIG(status), strsignal(WTERMSIG(status)))));
    else if (child.reports->hasEnded())
      outcome.record(child.reports->status(), child.reports->failedItself(),
                     records.of(child.rank).header().failedAt);
    else if (!killed)
      outcome.recordDeath(
          Status(StatusCode::RankFailed,
                 fmt::format("rank {} (process {}) ended with exit code {} and no word", child.rank,
                             child.process, WEXITSTATUS(status))));
    child.process = -1;
    noteEnding(child.rank, status);
    if (outcome.isCertain())
      killAll();
    else if (!outcome.status().ok() && deadline == Clock::time_point::max())
      deadline = Clock::now() + kGrace;
  }

  void noteEnding(std::uint32_t rank, int status) {
    if (!WIFSIGNALED(status))
      records.of(rank).ended(flight::Ending::Exited, WEXITSTATUS(status));
    else
      records.of(rank).ended(killing ? flight::Ending::Stopped : flight::Ending::Signalled,
                             WTERMSIG(status));
  }

  /// Milliseconds until ranks that should have stopped are killed; -1: for ever.
  int patience() const {
    if (deadline == Clock::time_point::max() || killing)
      return -1;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    return std::max(0, static_cast<int>(left.count()) + 1);
  }

  void killAll() {
    killing = true;
    for (const Child &child : children)
      if (child.running())
        kill(child.process, SIGKILL);
  }

  static int reap(Child &child) {
    int status = 0;
    while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
    }
    close(child.pipe);
    return status;
  }

  const plan::Plan &plan;
  char *const *const arguments;
  const RunOptions &options;
  RunObserver &observer;
  flight::FlightRecords &records;
  const std::string token = runToken();
  std::unique_ptr<TcpStoreServer> store;
  std::vector<Child> children;
  RunOutcome outcome;
  bool killing = false;
  Clock::time_point deadline = Clock::time_point::max();
};

} // namespace

Status runProcesses(const plan::Plan &plan, char *const *arguments, const RunOptions &options,
                    RunObserver &observer) {
  if (Status status = checkMemory(plan); !status.ok())
    return status;
  const StatusOr<ExportClaim> claim = claimExport(plan, options.base);
  if (!claim.ok())
    return claim.status();
  StatusOr<flight::FlightRecords> records = flight::FlightRecords::open(
      plan, {.planId = plan::planId(plan), .planPath = options.plan, .folder = options.records});
  if (!records.ok())
    return records.status();
  return Processes(plan, arguments, options, observer, *records).run();
}

} // namespace vime
