#include "compiler/Driver/ChildProcess.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace vime {
namespace {

constexpr int kCannotStart = 127; // as shells have it

/// Blocked while a child runs, so that we are told of it at one place.
class HeldSignals {
public:
  HeldSignals() {
    sigemptyset(&held);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD})
      sigaddset(&held, signal);
    sigprocmask(SIG_BLOCK, &held, &before);
  }
  ~HeldSignals() { sigprocmask(SIG_SETMASK, &before, nullptr); }
  HeldSignals(const HeldSignals &) = delete;

  /// A terminal has already told the child what it tells us.
  struct Signal {
    int number;
    bool isOursAlone;
  };
  Signal next() const {
    siginfo_t info{};
    const int number = sigwaitinfo(&held, &info);
    return {number, info.si_code <= 0};
  }
  const sigset_t &mask() const { return before; }

private:
  sigset_t held{}, before{};
};

/// Only async-signal-safe calls.
[[noreturn]] void become(char *const *arguments, const sigset_t &mask, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent)
    _exit(kCannotStart);
  signal(SIGQUIT, SIG_IGN); // it ends by the SIGTERM that follows, and leaves nothing behind
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  execv(arguments[0], arguments);
  _exit(kCannotStart);
}

} // namespace

StatusOr<int> runChild(const std::vector<std::string> &command) {
  if (access(command.front().c_str(), X_OK) != 0)
    return Status(StatusCode::File,
                  fmt::format("cannot start `{}`: {}", command.front(), std::strerror(errno)));
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  const HeldSignals signals;
  const pid_t parent = getpid(), child = fork();
  if (child == 0)
    become(arguments.data(), signals.mask(), parent);
  if (child < 0)
    return Status(StatusCode::File,
                  fmt::format("cannot start `{}`: {}", command.front(), std::strerror(errno)));
  bool interrupted = false;
  for (;;) {
    int state = 0;
    if (waitpid(child, &state, WNOHANG) == child) {
      const bool saidSo =
          WIFEXITED(state) && WEXITSTATUS(state) == static_cast<int>(StatusCode::Interrupted);
      if (interrupted && !saidSo)
        return Status(StatusCode::Interrupted, "interrupted");
      if (WIFSIGNALED(state))
        return Status(StatusCode::Internal, fmt::format("`{}` was killed by signal {}",
                                                        command.front(), WTERMSIG(state)));
      return WEXITSTATUS(state);
    }
    const auto signal = signals.next();
    if (signal.number <= 0 || signal.number == SIGCHLD)
      continue;
    interrupted = true;
    if (signal.number == SIGQUIT)
      kill(child, SIGTERM);
    else if (signal.isOursAlone)
      kill(child, signal.number);
  }
}

} // namespace vime
