#include "runtime/Transport/ScatterReduction.h"

#include <algorithm>
#include <cstring>

#include "runtime/Transport/Reduce.h"

namespace vime {
namespace {

// Of the staging: the sum of a chunk, what is added to it, and what arrives meanwhile.
constexpr std::size_t kAreas = 3, kArriving = 2, kLargestElement = 8;
// Chunks that are sent before the first of them is waited for.
constexpr std::size_t kAhead = 4;

/// Rounds, in each of which a chunk of every part goes to the member that adds it up. Who is in the
/// earliest round waits only for what has been started already: no circle.
class PartSum {
public:
  PartSum(const Payload &payload, std::uint32_t member, std::uint32_t members, ChainLinks &links)
      : payload(payload), links(links), member(member), members(members),
        part(payload.bytes / members),
        chunk(payload.stagingBytes / kAreas / kLargestElement * kLargestElement),
        chunks((part + chunk - 1) / chunk) {}

  Status run() {
    if (members == 1)
      return Status();
    for (std::size_t index = 0; index < std::min(kAhead, chunks); ++index)
      sendChunk(index);
    for (std::size_t index = 0; index < std::min(kArriving, chunks * (members - 1)); ++index)
      expect(index);
    for (std::size_t index = 0; index < chunks; ++index) {
      if (Status status = addChunk(index); !status.ok())
        return status;
      if (Status status = finishSends(); !status.ok())
        return status;
      if (index + kAhead < chunks)
        sendChunk(index + kAhead);
    }
    return Status();
  }

private:
  std::byte *at(std::uint32_t ofMember, std::size_t index) const {
    return static_cast<std::byte *>(payload.destination) + ofMember * part + index * chunk;
  }
  std::byte *area(std::size_t index) const {
    return static_cast<std::byte *>(payload.staging) + index * chunk;
  }
  std::byte *arrivalOf(std::size_t message) const { return area(1 + message % kArriving); }
  std::size_t bytesOf(std::size_t index) const { return std::min(chunk, part - index * chunk); }

  /// The others in ascending order.
  std::uint32_t other(std::size_t place) const {
    return static_cast<std::uint32_t>(place < member ? place : place + 1);
  }

  void sendChunk(std::size_t index) {
    for (std::uint32_t place = 0; place + 1 < members; ++place)
      links.send(other(place), at(other(place), index), bytesOf(index));
  }

  /// Messages are counted over all chunks and members.
  void expect(std::size_t message) {
    links.receive(other(message % (members - 1)), arrivalOf(message),
                  bytesOf(message / (members - 1)));
  }

  Status addChunk(std::size_t index) {
    std::byte *const sum = area(0);
    const std::size_t bytes = bytesOf(index);
    const auto add = [&](std::uint32_t from, const std::byte *summand) {
      if (from == 0)
        std::memcpy(sum, summand, bytes);
      else
        addTo(payload.type, sum, summand, bytes);
    };
    std::size_t message = index * (members - 1);
    for (std::uint32_t from = 0; from < members; ++from) {
      if (from == member) {
        add(from, at(member, index));
        continue;
      }
      if (Status status = links.awaitReceive(from); !status.ok())
        return status;
      add(from, arrivalOf(message));
      if (message + kArriving < chunks * (members - 1))
        expect(message + kArriving);
      ++message;
    }
    std::memcpy(at(member, index), sum, bytes);
    return Status();
  }

  /// Of the oldest chunk that is under way.
  Status finishSends() {
    for (std::uint32_t place = 0; place + 1 < members; ++place)
      if (Status status = links.awaitSend(other(place)); !status.ok())
        return status;
    return Status();
  }

  const Payload &payload;
  ChainLinks &links;
  const std::uint32_t member, members;
  const std::size_t part, chunk, chunks;
};

} // namespace

Status reduceToParts(const Payload &payload, std::uint32_t member, std::uint32_t members,
                     ChainLinks &links) {
  return PartSum(payload, member, members, links).run();
}

} // namespace vime
