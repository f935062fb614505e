#include "runtime/Exec/InterruptSignals.h"

#include <csignal>
#include <sys/signalfd.h>
#include <unistd.h>

namespace vime {
namespace {

sigset_t interruptSet() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  struct sigaction hangup;
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) // else under nohup: blocking it would make it heard
    sigaddset(&set, SIGHUP);
  return set;
}

} // namespace

InterruptSignals::InterruptSignals() {
  const sigset_t set = interruptSet();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  file = signalfd(-1, &set, SFD_CLOEXEC);
}

InterruptSignals::~InterruptSignals() {
  close(file);
  const sigset_t set = interruptSet();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void consumeInterrupt(int descriptor) {
  signalfd_siginfo info;
  [[maybe_unused]] const ssize_t got = read(descriptor, &info, sizeof info);
}

} // namespace vime
