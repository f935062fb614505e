#include "runtime/Transport/Sleeper.h"

#include <ctime>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vime {
namespace {

using Clock = std::chrono::steady_clock;

long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

} // namespace

Sleeper::Sleeper(bool spins)
    : pays(spins), orders(spins && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0) {}

void Sleeper::announce(Cause cause) {
  state.store(cause, std::memory_order_seq_cst);
  if (orders)
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

bool Sleeper::sleepUntil(Clock::time_point deadline, Cause cause) {
  const auto remaining = deadline - Clock::now();
  if (remaining <= Clock::duration::zero())
    return false;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(remaining);
  const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (remaining - seconds).count()};
  syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, cause, &timeout, nullptr, 0);
  return true;
}

void Sleeper::wake() {
  if (state.exchange(kAwake, std::memory_order_seq_cst) != kAwake)
    syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void Sleeper::interrupt() {
  stopped.store(true, std::memory_order_seq_cst);
  wake();
}

bool Sleeper::Lingering::pause() {
  // A sleep and a wake take about 15 µs between two cores of a virtual machine, less on a real one:
  // spinning at most doubles what the better choice would have cost, also when other programs want
  // the core.
  constexpr std::chrono::microseconds kLimit{20};
  constexpr unsigned kLooksPerTime = 32;
  if (looks == 2)
    end = Clock::now() + kLimit;
  else if (looks % kLooksPerTime == 0 && Clock::now() >= end)
    return false;
#if defined(__x86_64__)
  _mm_pause();
#endif
  return true;
}

bool Sleeper::Lingering::yield() {
  // Who yields to a program that computes comes back a time slice later, who sleeps is woken
  // before.
  constexpr unsigned kYields = 16, kWaitsUntilNextTry = 64;
  constexpr std::chrono::microseconds kLong{200};
  if (looks == 2 && sleeper.crowded > 0) {
    --sleeper.crowded;
    return false;
  }
  if (looks > kYields)
    return false;
  const Clock::time_point start = Clock::now();
  sched_yield();
  if (Clock::now() - start > kLong) {
    sleeper.crowded = kWaitsUntilNextTry;
    looks = kYields; // one more look
  }
  return true;
}

} // namespace vime
