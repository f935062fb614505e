#include "runtime/Transport/ChainReduction.h"

#include <algorithm>

#include "runtime/Transport/Reduce.h"

namespace vime {
namespace {

constexpr std::size_t kHalves = 2; // of the staging: one is added while the other one fills
constexpr std::size_t kLargestElement = 8, kMostUnderWay = 16;

/// One member's way through the chunks: in round c chunk c goes up, and one that went up some
/// rounds ago comes down. It waits only for what a neighbour starts in the same round or before,
/// and a neighbour's way up in a round waits for nothing on the way down in it: no circle.
class Member {
public:
  Member(const Payload &payload, std::uint32_t member, std::uint32_t members, ChainLinks &links)
      : payload(payload), links(links), below(member - 1), above(member + 1), isFirst(member == 0),
        isLast(above == members),
        chunk(payload.stagingBytes / kHalves / kLargestElement * kLargestElement),
        chunks((payload.bytes + chunk - 1) / chunk),
        underWay(std::min<std::size_t>(2 * std::size_t{members}, kMostUnderWay)) {}

  Status run() {
    if (isFirst && isLast)
      return Status();
    for (std::size_t index = 0; !isFirst && index < std::min(kHalves, chunks); ++index)
      expectFromBelow(index);
    const std::size_t lag = isLast ? 0 : underWay;
    for (std::size_t round = 0; round < chunks + lag; ++round) {
      if (round < chunks)
        if (Status status = passUp(round); !status.ok())
          return status;
      if (round >= lag && round - lag < chunks)
        if (Status status = passDown(round - lag); !status.ok())
          return status;
    }
    return finish();
  }

private:
  std::byte *at(std::size_t index) const {
    return static_cast<std::byte *>(payload.destination) + index * chunk;
  }
  std::byte *stagingOf(std::size_t index) const {
    return static_cast<std::byte *>(payload.staging) + index % kHalves * chunk;
  }
  std::size_t bytesOf(std::size_t index) const {
    return std::min(chunk, payload.bytes - index * chunk);
  }

  void expectFromBelow(std::size_t index) {
    links.receive(below, stagingOf(index), bytesOf(index));
  }

  Status passUp(std::size_t index) {
    if (!isFirst) {
      if (Status status = links.awaitReceive(below); !status.ok())
        return status;
      addTo(payload.type, at(index), stagingOf(index), bytesOf(index));
      if (index + kHalves < chunks)
        expectFromBelow(index + kHalves);
    }
    if (!isLast) {
      links.send(above, at(index), bytesOf(index));
      // The sum is sent only after the last member has what goes up here: it meets no unsent byte.
      links.receive(above, at(index), bytesOf(index));
    }
    return Status();
  }

  Status passDown(std::size_t index) {
    if (!isLast) {
      if (Status status = links.awaitSend(above); !status.ok())
        return status;
      if (Status status = links.awaitReceive(above); !status.ok())
        return status;
    }
    if (isFirst)
      return Status();
    links.send(below, at(index), bytesOf(index));
    return index >= underWay ? links.awaitSend(below) : Status();
  }

  Status finish() {
    for (std::size_t left = isFirst ? 0 : std::min(underWay, chunks); left > 0; --left)
      if (Status status = links.awaitSend(below); !status.ok())
        return status;
    return Status();
  }

  const Payload &payload;
  ChainLinks &links;
  const std::uint32_t below, above;
  const bool isFirst, isLast;
  const std::size_t chunk, chunks, underWay;
};

} // namespace

Status reduceAlongChain(const Payload &payload, std::uint32_t member, std::uint32_t members,
                        ChainLinks &links) {
  return Member(payload, member, members, links).run();
}

} // namespace vime
