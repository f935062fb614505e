#include "runtime/Transport/Interfaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vime {
namespace {

TEST(Interfaces, HaveAddresses) { EXPECT_EQ(*addressOfInterface("lo"), "127.0.0.1"); }

TEST(Interfaces, WhatIsNotThereIsNamedWithWhatIs) {
  const StatusOr<std::string> address = addressOfInterface("token-ring0");
  EXPECT_EQ(address.status().code(), StatusCode::Usage);
  EXPECT_THAT(address.status().message(),
              testing::MatchesRegex("no network interface `token-ring0` with an address is here, "
                                    "there are: .*lo.*"));
}

} // namespace
} // namespace vime
