// Tasks on all cores: each once, and what happens when one fails.
#include "runtime/Base/SideBySide.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace vime {
namespace {

TEST(SideBySide, EveryTaskRunsOnce) {
  for (const std::size_t threads : {1u, 2u, 7u})
    for (const std::size_t count : {0u, 1u, 5u, 1000u}) {
      std::vector<std::atomic<int>> runs(count);
      sideBySide(count, [&](std::size_t index) { ++runs[index]; }, threads);
      for (const std::atomic<int> &times : runs)
        ASSERT_EQ(times, 1);
    }
}

TEST(SideBySide, AnExceptionComesOutWhenAllHaveStopped) {
  for (const std::size_t threads : {1u, 4u}) {
    std::atomic<int> begun{0}, ended{0};
    std::string said;
    try {
      sideBySide(
          1000,
          [&](std::size_t index) {
            ++begun;
            if (index == 3)
              throw std::runtime_error("the fourth");
            ++ended;
          },
          threads);
    } catch (const std::runtime_error &error) {
      said = error.what();
    }
    EXPECT_EQ(said, "the fourth");
    EXPECT_EQ(begun, ended + 1); // nobody is still at it
  }
}

} // namespace
} // namespace vime
