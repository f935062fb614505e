#include "compiler/Analysis/Durations.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

TEST(Durations, EveryOpcodeHasItsOwn) {
  OpcodeTimes times;
  std::int64_t number = 0;
  for (const plan::Signature &signature : plan::signatures())
    times[signature.opcode] = ++number;
  number = 0;
  for (const plan::Signature &signature : plan::signatures())
    EXPECT_EQ(times[signature.opcode], ++number) << signature.name;
}

} // namespace
} // namespace vime
