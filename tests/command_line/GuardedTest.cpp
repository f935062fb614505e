// What nobody foresaw ends a verb with a sentence and exit code 70.
#include <new>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/Driver/Output.h"

namespace vime {
namespace {

std::pair<int, std::string> endOf(const std::function<int()> &verb) {
  testing::internal::CaptureStderr();
  const int code = guarded(verb);
  return {code, testing::internal::GetCapturedStderr()};
}

TEST(Guarded, TheVerbsOwnCode) {
  EXPECT_EQ(endOf([] { return 0; }), std::pair(0, std::string()));
  EXPECT_EQ(endOf([] { return 4; }), std::pair(4, std::string()));
}

TEST(Guarded, WhatTheLibraryThrowsIsAnInternalError) {
  EXPECT_EQ(endOf([]() -> int { throw std::out_of_range("index 7 of 3"); }),
            std::pair(70, std::string("error: internal error: index 7 of 3\n")));
  EXPECT_EQ(endOf([]() -> int { throw std::bad_alloc(); }).first, 70);
}

} // namespace
} // namespace vime
