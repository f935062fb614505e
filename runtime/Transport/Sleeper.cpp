#include "runtime/Transport/Sleeper.h"

#include <ctime>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vime {
namespace {

using Clock = std::chrono::steady_clock;

// About as long as a sleep and a wake cost (2 to 5 µs): spinning at most doubles what the better
// choice would have cost, also when other programs want the core.
constexpr int kSpins = 100;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

} // namespace

Sleeper::Outcome Sleeper::await(const std::atomic<std::uint64_t> &counter, std::uint64_t count,
                                std::chrono::nanoseconds limit) {
  const auto reached = [&] { return counter.load(std::memory_order_seq_cst) >= count; };
  for (int spin = 0; spins && spin < kSpins; ++spin) {
    if (reached())
      return Outcome::Reached;
    pause();
  }
  const Clock::time_point deadline = Clock::now() + limit;
  for (;;) {
    // Announce the sleep first, look second: whoever advances the counter stores first and looks at
    // the state second, so that at least one of the two sees the other.
    state.store(kAsleep, std::memory_order_seq_cst);
    if (reached() || interrupted()) {
      state.store(kAwake, std::memory_order_relaxed);
      return reached() ? Outcome::Reached : Outcome::Interrupted;
    }
    const auto remaining = deadline - Clock::now();
    if (remaining <= std::chrono::nanoseconds::zero()) {
      state.store(kAwake, std::memory_order_relaxed);
      return Outcome::Late;
    }
    sleep(remaining);
  }
}

void Sleeper::sleep(std::chrono::nanoseconds remaining) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(remaining);
  const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (remaining - seconds).count()};
  syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, kAsleep, &timeout, nullptr, 0);
}

void Sleeper::wake() {
  if (state.exchange(kAwake, std::memory_order_seq_cst) == kAsleep)
    syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void Sleeper::interrupt() {
  stopped.store(true, std::memory_order_seq_cst);
  wake();
}

unsigned availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return count > 0 ? static_cast<unsigned>(count) : 1;
}

} // namespace vime
