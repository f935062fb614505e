// In steady state the executor allocates nothing and asks the system for nothing (architecture.md,
// section 6).
//
// Every way to the heap is counted, in the whole process; and one rank alone runs where any system
// call is deadly.
#include <atomic>
#include <cstdlib>

#include <csignal>
#include <cstddef>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/exec/ChainPlan.h"
#include "tests/exec/ChainRun.h"

namespace {
std::atomic<std::uint64_t> allocations{0};
}

// Sanitizers bring their own heap; there, only operator new is counted.
#if defined(VIME_ADDRESS_SANITIZER) || defined(VIME_THREAD_SANITIZER)
void *operator new(std::size_t bytes) {
  ++allocations;
  return std::malloc(bytes);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
#else
extern "C" {
void *__libc_malloc(std::size_t);
void *__libc_calloc(std::size_t, std::size_t);
void *__libc_realloc(void *, std::size_t);
void *malloc(std::size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void *calloc(std::size_t count, std::size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void *realloc(void *memory, std::size_t bytes) {
  ++allocations;
  return __libc_realloc(memory, bytes);
}
}
#endif

namespace vime {
namespace {

constexpr std::uint32_t kSteps = 300, kWarm = 20;

std::atomic<std::uint32_t> step;
std::atomic<std::uint64_t> before, after;

Status countOnRankZero(RankState &state, const Instruction &) {
  if (state.rank != 0)
    return Status();
  if (++step == kWarm)
    before = allocations.load();
  if (step ==
      kSteps - 2) // the others are at most one step apart: the all-gather holds them together
    after = allocations.load();
  return Status();
}

class SteadyState : public testing::TestWithParam<std::uint32_t> {};

void expectNoAllocations(const plan::Plan &plan) {
  ChainRun chain{plan, nullRoutines()};
  chain.routines[plan::code(plan::Opcode::Clip)] = countOnRankZero;
  step = 0;
  for (const Status &status : chain.run())
    EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_GT(before.load(), 0u); // the counter counts
  EXPECT_EQ(after.load(), before.load());
}

TEST_P(SteadyState, AllocatesNothing) {
  plan::Plan plan = chainPlan({.ranks = GetParam(), .microbatches = 8, .steps = kSteps});
  expectNoAllocations(plan);
  for (std::uint32_t rank = 0; rank < GetParam(); ++rank)
    foldMicrobatches(plan, rank); // loops in the loop over steps
  expectNoAllocations(plan);
}

INSTANTIATE_TEST_SUITE_P(Ranks, SteadyState, testing::Values(1, 2, 4),
                         [](const auto &info) { return std::to_string(info.param) + "Ranks"; });

/// From now on every system call but exit kills the process. (Seccomp's strict mode would take the
/// clock away too.)
void closeTheDoors() {
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  const sock_fprog program{.len = 4, .filter = filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    syscall(SYS_exit, 1);
}

Status stepBehindClosedDoors(RankState &, const Instruction &) {
  if (++step == kWarm)
    closeTheDoors();
  if (step == kSteps - 10)
    syscall(SYS_exit, 7);
  return Status();
}

Status callTheSystem(RankState &, const Instruction &) {
  if (step > kWarm)
    syscall(SYS_getppid);
  return Status();
}

TEST(SteadyStateDeathTest, CallsNothingWhenNothingBlocks) {
  ChainRun chain{chainPlan({.ranks = 1, .microbatches = 8, .steps = kSteps}), nullRoutines()};
  chain.routines[plan::code(plan::Opcode::Clip)] = stepBehindClosedDoors;
  step = 0;
  EXPECT_EXIT((void)chain.runAlone(), testing::ExitedWithCode(7), "");
  // And the doors were closed: one call too many does not come back.
  chain.routines[plan::code(plan::Opcode::Forward)] = callTheSystem;
  EXPECT_EXIT((void)chain.runAlone(), testing::KilledBySignal(SIGSYS), "");
}

} // namespace
} // namespace vime
