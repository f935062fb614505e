// No run reads or writes beside its buffers: every slot stands between pages that are none, and
// training goes on to the same bits.
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/Exec/RankState.h"
#include "runtime/Plan/Describe.h"
#include "tests/Memory/SpreadPlan.h"
#include "tests/Memory/TrainingShapes.h"

namespace vime {
namespace {

constexpr plan::Tier kTiers[] = {plan::Tier::Device, plan::Tier::Host};

/// Whether a byte can be read: the kernel says so without a fault.
class Reachable {
public:
  Reachable() { EXPECT_EQ(pipe(ends), 0); }
  ~Reachable() {
    close(ends[0]);
    close(ends[1]);
  }
  bool operator()(const std::byte *at) const {
    std::byte taken;
    return write(ends[1], at, 1) == 1 && read(ends[0], &taken, 1) == 1;
  }

private:
  int ends[2];
};

void fence(const plan::Layout &layout, const ArenaBases &bases) {
  for (const plan::Tier tier : kTiers)
    for (const Extent &gap : gapsOf(layout, tier))
      ASSERT_EQ(mprotect(bases[static_cast<std::size_t>(tier)] + gap.begin, gap.end - gap.begin,
                         PROT_NONE),
                0)
          << std::strerror(errno);
}

void expectFenced(const plan::Layout &layout, const ArenaBases &bases, Side side) {
  const Reachable reaches;
  for (const plan::Tier tier : kTiers)
    for (const Region &region : regionsOf(layout, tier)) {
      const std::byte *base = bases[static_cast<std::size_t>(tier)];
      const std::byte *first = base + region.extent.begin, *behind = base + region.extent.end;
      ASSERT_TRUE(reaches(first) && reaches(behind - 1)) << "buffer " << region.buffer;
      if (side == Side::Start)
        ASSERT_FALSE(reaches(first - 1)) << "buffer " << region.buffer;
      else if (region.extent.end % kPage == 0)
        ASSERT_FALSE(reaches(behind)) << "buffer " << region.buffer;
      else // a table of an odd number of indices, or of a size that no double ends at
        ASSERT_LT(kPage - region.extent.end % kPage, sizeof(double)) << "buffer " << region.buffer;
    }
}

class Guarded : public testing::TestWithParam<NamedShape> {};

TEST_P(Guarded, NothingIsTouchedBesideABuffer) {
  const TrainingJob job(GetParam().shape);
  const Outcome usual = job.run(job.plan);
  ASSERT_EQ(usual.losses.size(), std::size_t(GetParam().shape.steps));
  for (const Side side : {Side::Start, Side::End}) {
    const plan::Plan wide = spread(job.plan, side);
    const RankProbe probe{.reserved = [&](std::uint32_t rank, const ArenaBases &bases) {
      const plan::Layout &layout = *plan::layoutOf(wide, rank);
      fence(layout, bases);
      expectFenced(layout, bases, side);
    }};
    EXPECT_TRUE(job.run(wide, &probe) == usual);
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, Guarded, testing::ValuesIn(trainingShapes()),
                         [](const auto &info) { return info.param.name; });

/// A forward that writes one byte too many.
Status forwardTooFar(RankState &state, const Instruction &instruction) {
  constexpr std::uint32_t kStash = 4;
  const plan::Buffer &stash = operandBuffer(state, instruction.action, kStash);
  static_cast<volatile std::byte *>(instruction.operands[kStash])[stash.bytes] = std::byte{1};
  return Status();
}

TEST(GuardedDeathTest, AByteTooManyIsAFault) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const TrainingJob job({});
  const plan::Plan wide = spread(job.plan, Side::End);
  RoutineTable routines = trainingRoutines();
  routines[plan::code(plan::Opcode::Forward)] = forwardTooFar;
  const RankProbe probe{.routines = &routines,
                        .reserved = [&](std::uint32_t rank, const ArenaBases &bases) {
                          fence(*plan::layoutOf(wide, rank), bases);
                        }};
  EXPECT_EXIT(job.run(wide, &probe), testing::KilledBySignal(SIGSEGV), "");
}

} // namespace
} // namespace vime
