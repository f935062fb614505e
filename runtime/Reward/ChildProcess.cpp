#include "runtime/Reward/ChildProcess.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace vime {
namespace {

/// Both ends of a pipe, closed unless they are taken.
struct Pipe {
  int ends[2] = {-1, -1}; // read, write
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0)
      ends[0] = ends[1] = -1;
  }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0)
        close(end);
  }
  Pipe(const Pipe &) = delete;
  bool isOpen() const { return ends[0] >= 0; }
  int take(int end) { return std::exchange(ends[end], -1); }
};

/// Why a child did not come to its program; through a pipe that closes when it does.
struct Failure {
  int number = 0;
  bool isFolder = false;
};

/// In the child of a process with threads: calls that are safe in signal handlers only.
[[noreturn]] void becomeProgram(char *const *words, const char *folder, const int (&streams)[3],
                                int report, int parent) {
  const auto fail = [&](bool isFolder) {
    const Failure failure{errno, isFolder};
    [[maybe_unused]] const auto written = write(report, &failure, sizeof(failure));
    _exit(127);
  };
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) // it is dead already
    _exit(127);
  for (int stream = 0; stream < 3; ++stream)
    dup2(streams[stream], stream);
  struct sigaction byDefault{};
  byDefault.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal)
    sigaction(signal, &byDefault, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (*folder != '\0' && chdir(folder) != 0)
    fail(true);
  // Whatever this process has open and does not close by itself stays out of the program.
  const int kept = dup2(report, 3) == 3 ? 3 : report;
  fcntl(kept, F_SETFD, FD_CLOEXEC);
  report = kept;
  if (kept == 3)
    syscall(SYS_close_range, 4u, ~0u, 0u);
  execvp(words[0], words);
  fail(false);
  _exit(127);
}

/// Nothing if the program runs.
int readFailure(int report, Failure &failure) {
  ssize_t bytes;
  do
    bytes = read(report, &failure, sizeof(failure));
  while (bytes < 0 && errno == EINTR);
  return static_cast<int>(bytes);
}

void stopBlocking(int file) { fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK); }

} // namespace

StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::vector<std::string> &words,
                                                            const std::string &folder) {
  Pipe input, output, errors, report;
  if (!input.isOpen() || !output.isOpen() || !errors.isOpen() || !report.isOpen())
    return Status(StatusCode::File,
                  fmt::format("cannot open pipes to `{}`: {}", words[0], strerror(errno)));
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  const int parent = getpid();
  const pid_t process = fork();
  if (process == 0)
    becomeProgram(arguments.data(), folder.c_str(), {input.ends[0], output.ends[1], errors.ends[1]},
                  report.ends[1], parent);
  if (process < 0)
    return Status(StatusCode::File,
                  fmt::format("cannot start `{}`: {}", words[0], strerror(errno)));
  setpgid(process, process); // whoever of both comes first
  close(report.take(1));
  std::unique_ptr<ChildProcess> child(
      new ChildProcess(process, {input.take(1), output.take(0), errors.take(0)}));
  Failure failure;
  if (readFailure(report.ends[0], failure) > 0)
    return Status(
        StatusCode::File,
        failure.isFolder
            ? fmt::format("cannot run `{}` in `{}`: {}", words[0], folder, strerror(failure.number))
            : fmt::format("cannot run `{}`: {}", words[0], strerror(failure.number)));
  return child;
}

ChildProcess::ChildProcess(int process, const int (&from)[3]) : process(process) {
  std::copy(std::begin(from), std::end(from), std::begin(streams));
  for (const int stream : streams)
    stopBlocking(stream);
}

/// Whether it has ended; it stays a zombie, which keeps the name of its group.
bool ChildProcess::waitFor(double seconds) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const auto file = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (file >= 0) {
    pollfd wanted{.fd = file, .events = POLLIN};
    int ready;
    do {
      const std::chrono::duration<double> left = deadline - std::chrono::steady_clock::now();
      ready = poll(&wanted, 1, std::max(0, static_cast<int>(left.count() * 1000)));
    } while (ready < 0 && errno == EINTR);
    close(file);
    return ready > 0;
  }
  siginfo_t info{};
  while (waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return info.si_pid != 0;
}

std::string ChildProcess::end(double grace) {
  if (process < 0)
    return how;
  close(std::exchange(streams[0], -1));
  const bool byItself = waitFor(grace);
  kill(-process, SIGKILL);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  process = -1;
  for (int stream : {1, 2})
    close(std::exchange(streams[stream], -1));
  how = !byItself             ? "was killed by us"
        : WIFSIGNALED(status) ? fmt::format("was killed by signal {}", WTERMSIG(status))
                              : fmt::format("ended with status {}", WEXITSTATUS(status));
  return how;
}

} // namespace vime
