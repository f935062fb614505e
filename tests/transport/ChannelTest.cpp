// Channels between threads of one process: what is short, what is long, and slots that are full.
#include "runtime/Transport/Channel.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace vime {
namespace {

struct Ends {
  Sleeper first{/*spins=*/false}, second{/*spins=*/false};
  std::shared_ptr<Channel> channel = std::make_shared<Channel>(first, second);
  ChannelSender sender{channel};
  ChannelReceiver receiver{channel};

  bool send(const std::vector<std::byte> &from) {
    return sender.post({.source = from.data(), .bytes = from.size()});
  }
  bool receive(std::vector<std::byte> &to) {
    return receiver.post({.destination = to.data(), .bytes = to.size()});
  }
};

std::vector<std::byte> message(std::size_t bytes, int seed) {
  std::vector<std::byte> data(bytes);
  for (std::size_t at = 0; at < bytes; ++at)
    data[at] = static_cast<std::byte>(at * 7 + seed);
  return data;
}

TEST(Channel, AShortMessageIsSentBeforeItIsReceived) {
  Ends ends;
  std::vector<std::byte> sent = message(Channel::kShort, 3), got(Channel::kShort);
  ASSERT_TRUE(ends.send(sent));
  EXPECT_EQ(ends.sender.finished(), 1u);
  std::fill(sent.begin(), sent.end(), std::byte{0}); // its memory is the sender's again
  ASSERT_TRUE(ends.receive(got));
  ASSERT_TRUE(ends.receiver.look());
  EXPECT_EQ(ends.receiver.finished(), 1u);
  EXPECT_EQ(got, message(Channel::kShort, 3));
}

TEST(Channel, ALongMessageIsCopiedByWhoComesSecond) {
  for (const bool receiverFirst : {false, true}) {
    Ends ends;
    const std::vector<std::byte> sent = message(Channel::kShort + 1, 5);
    std::vector<std::byte> got(sent.size());
    ASSERT_TRUE(receiverFirst ? ends.receive(got) : ends.send(sent));
    EXPECT_EQ(ends.sender.finished() + ends.receiver.finished(), 0u);
    ASSERT_TRUE(receiverFirst ? ends.send(sent) : ends.receive(got));
    EXPECT_EQ(got, sent);
    ASSERT_TRUE(ends.sender.look() && ends.receiver.look());
    EXPECT_EQ(ends.sender.finished(), 1u);
    EXPECT_EQ(ends.receiver.finished(), 1u);
  }
}

TEST(Channel, ShortAndLongOnesFinishInOrder) {
  Ends ends;
  const std::vector<std::vector<std::byte>> sent = {message(2000, 1), message(8, 2), message(0, 3),
                                                    message(999, 4)};
  std::vector<std::vector<std::byte>> got;
  for (const auto &one : sent) {
    ASSERT_TRUE(ends.send(one));
    got.emplace_back(one.size());
  }
  EXPECT_EQ(ends.sender.finished(), 0u); // the first one is open
  for (auto &one : got)
    ASSERT_TRUE(ends.receive(one));
  ASSERT_TRUE(ends.sender.look() && ends.receiver.look());
  EXPECT_EQ(ends.sender.finished(), 4u);
  EXPECT_EQ(ends.receiver.finished(), 4u);
  EXPECT_EQ(got, sent);
}

TEST(Channel, AReceiverThatLooksMakesRoom) {
  Ends ends;
  for (std::uint32_t index = 0; index < kOpenTransfers; ++index) {
    ASSERT_TRUE(ends.sender.hasRoom());
    ASSERT_TRUE(ends.send(message(16, index)));
  }
  EXPECT_FALSE(ends.sender.hasRoom());
  std::vector<std::byte> got(16);
  ASSERT_TRUE(ends.receive(got));
  EXPECT_FALSE(ends.sender.hasRoom()); // posted is not taken
  ASSERT_TRUE(ends.receiver.look());
  EXPECT_TRUE(ends.sender.hasRoom());
  EXPECT_EQ(got, message(16, 0));
}

TEST(Channel, SlotsAreUsedAgain) {
  Ends ends;
  for (std::uint32_t index = 0; index < 5 * kOpenTransfers; ++index) {
    const std::vector<std::byte> sent = message(index % 3 ? 24 : 500, index);
    std::vector<std::byte> got(sent.size());
    ASSERT_TRUE(ends.sender.hasRoom() && ends.send(sent));
    ASSERT_TRUE(ends.receiver.hasRoom() && ends.receive(got));
    ASSERT_TRUE(ends.receiver.look() && ends.sender.look());
    ASSERT_EQ(ends.receiver.finished(), index + 1);
    ASSERT_EQ(ends.sender.finished(), index + 1);
    ASSERT_EQ(got, sent);
  }
}

} // namespace
} // namespace vime
