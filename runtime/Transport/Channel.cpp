#include "runtime/Transport/Channel.h"

#include <cstring>

namespace vime {

/// Either end of a long message. False when sizes differ.
bool Channel::meet(std::uint64_t index, Sleeper &other) {
  Slot &slot = slotOf(index);
  const std::uint64_t half = stampOf(index, HalfMet);
  const std::uint64_t before = slot.stamp.exchange(half, std::memory_order_acq_rel);
  if (before == stampOf(index, Sent))
    return false; // a short message was sent
  if (before != half)
    return true; // the other will copy
  const Place &place = places[index % kOpenTransfers];
  if (place.bytes != slot.bytes)
    return false;
  if (place.destination != slot.source)
    std::memcpy(place.destination, slot.source, slot.bytes);
  other.publish(slot.stamp, stampOf(index, Copied), cause());
  return true;
}

bool ChannelSender::hasRoom() {
  if (postedCount - taken < kOpenTransfers)
    return true;
  taken = channel->taken.load(std::memory_order_seq_cst);
  return postedCount - taken < kOpenTransfers;
}

bool ChannelSender::post(const Payload &payload) {
  look(); // long messages whose slots come into use again have been taken
  const std::uint64_t index = postedCount++;
  Channel::Slot &slot = channel->slotOf(index);
  slot.bytes = payload.bytes;
  if (channel->isLong(payload.bytes)) {
    longOnes |= std::uint64_t{1} << index % kOpenTransfers;
    slot.source = payload.source;
    return channel->meet(index, channel->receiver) && look();
  }
  if (payload.bytes != 0)
    std::memcpy(slot.data.data(), payload.source, payload.bytes);
  channel->receiver.publish(slot.stamp, Channel::stampOf(index, Channel::Sent), channel->cause());
  return look();
}

bool ChannelSender::look() {
  static_assert(kOpenTransfers == 64); // bits of `longOnes`
  std::uint64_t index = done.load(std::memory_order_relaxed);
  const std::uint64_t before = index;
  for (; index < postedCount; ++index) {
    const std::uint64_t bit = std::uint64_t{1} << index % kOpenTransfers;
    if ((longOnes & bit) == 0)
      continue;
    if (channel->slotOf(index).stamp.load(std::memory_order_seq_cst) !=
        Channel::stampOf(index, Channel::Copied))
      break;
    longOnes &= ~bit;
  }
  if (index != before)
    done.store(index, std::memory_order_release);
  return true;
}

bool ChannelReceiver::hasRoom() {
  const auto isFull = [this] { return postedCount - done.load() >= kOpenTransfers; };
  return !isFull() || (look(), !isFull());
}

bool ChannelReceiver::post(const Payload &payload) {
  const std::uint64_t index = postedCount++;
  channel->places[index % kOpenTransfers] = {payload.destination, payload.bytes};
  return !channel->isLong(payload.bytes) || channel->meet(index, channel->sender);
}

bool ChannelReceiver::look() {
  std::uint64_t index = done.load(std::memory_order_relaxed);
  const std::uint64_t before = index;
  bool agrees = true;
  for (; index < postedCount; ++index) {
    const Channel::Slot &slot = channel->slotOf(index);
    const Channel::Place &place = channel->places[index % kOpenTransfers];
    const std::uint64_t stamp = slot.stamp.load(std::memory_order_seq_cst);
    if (channel->isLong(place.bytes)) {
      agrees = stamp != Channel::stampOf(index, Channel::Sent);
      if (stamp != Channel::stampOf(index, Channel::Copied))
        break;
      continue;
    }
    agrees = stamp != Channel::stampOf(index, Channel::HalfMet);
    if (stamp != Channel::stampOf(index, Channel::Sent))
      break;
    agrees = slot.bytes == place.bytes;
    if (!agrees)
      break;
    if (place.bytes != 0)
      std::memcpy(place.destination, slot.data.data(), place.bytes);
  }
  if (index != before) {
    done.store(index, std::memory_order_release);
    channel->sender.publish(channel->taken, index, channel->cause());
  }
  return agrees;
}

} // namespace vime
