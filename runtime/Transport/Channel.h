// Channel: messages from one thread to another of the same process.
//
//   Channel channel(senderSleeper, receiverSleeper);
//   ChannelSender sender(channel);      // the ends, one in each thread
//   ChannelReceiver receiver(channel);
//
// Messages use kOpenTransfers slots in turn. A short one is copied into its slot, and its sender is
// done; the receiver takes it when it looks. Of a long one both ends note their address, and who
// comes second copies. So a short message costs one line of memory that goes from core to core, and
// nobody waits for the other unless the slots are full; a long one is copied once.
//
// No cycle comes of full slots: a receiver takes what has come to any of its ends before it sleeps.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/Transport/LocalEnd.h"

namespace vime {

class Channel {
public:
  /// Bytes of the longest short message: a slot is four lines of memory.
  static constexpr std::size_t kShort = 240;

  Channel(Sleeper &sender, Sleeper &receiver) : sender(sender), receiver(receiver) {}

private:
  friend class ChannelSender;
  friend class ChannelReceiver;

  /// How far message k has come in its slot. A stamp says k and this; that of an earlier message
  /// means that nothing of this one is there.
  enum Phase : std::uint64_t { Sent = 1, HalfMet = 2, Copied = 3 }; // short; long; long
  static std::uint64_t stampOf(std::uint64_t index, Phase phase) { return 4 * index + phase; }

  struct alignas(64) Slot {
    std::atomic<std::uint64_t> stamp{0};
    std::uint64_t bytes = 0; // by the sender, as what follows
    union {
      const void *source; // of a long message
      std::array<std::byte, kShort> data;
    };
    Slot() : source(nullptr) {}
  };
  static_assert(sizeof(Slot) == 256);

  Slot &slotOf(std::uint64_t index) { return slots[index % kOpenTransfers]; }
  const Slot &slotOf(std::uint64_t index) const { return slots[index % kOpenTransfers]; }
  bool isLong(std::size_t bytes) const { return bytes > kShort; }
  bool meet(std::uint64_t index, Sleeper &other);
  Sleeper::Cause cause() const { return Sleeper::causeOf(this); }

  Sleeper &sender, &receiver;
  std::array<Slot, kOpenTransfers> slots;
  /// Where the receiver wants its messages: read by the sender of a long one that comes second.
  struct Place {
    void *destination;
    std::size_t bytes;
  };
  alignas(64) std::array<Place, kOpenTransfers> places{};
  alignas(64) std::atomic<std::uint64_t> taken{0}; // by the receiver: their slots are free
};

class ChannelSender final : public LocalEnd {
public:
  explicit ChannelSender(std::shared_ptr<Channel> channel) : channel(std::move(channel)) {}
  bool hasRoom() override;
  void askForRoom() override { channel->receiver.rouse(); }
  bool post(const Payload &payload) override;
  bool look() override;
  Sleeper::Cause cause() const override { return channel->cause(); }
  int missing(std::uint64_t) const override { return 1; }
  const std::atomic<std::uint64_t> &finished() const override { return done; }

private:
  const std::shared_ptr<Channel> channel;
  std::uint64_t taken = 0;    // as far as seen
  std::uint64_t longOnes = 0; // of the open messages: a bit for each slot
  std::atomic<std::uint64_t> done{0};
};

class ChannelReceiver final : public LocalEnd {
public:
  explicit ChannelReceiver(std::shared_ptr<Channel> channel) : channel(std::move(channel)) {}
  bool hasRoom() override;
  bool post(const Payload &payload) override;
  bool look() override;
  Sleeper::Cause cause() const override { return channel->cause(); }
  int missing(std::uint64_t) const override { return 0; }
  const std::atomic<std::uint64_t> &finished() const override { return done; }

private:
  const std::shared_ptr<Channel> channel;
  std::atomic<std::uint64_t> done{0};
};

} // namespace vime
