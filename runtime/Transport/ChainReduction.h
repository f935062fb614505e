// Chain reduction: an all-reduce over messages between neighbours.
//
// The members stand in a chain. A partial sum goes up it chunk by chunk, each member adding what it
// has, so that members are added in ascending order; the last one has the sum, which goes back
// down. Every member sends and receives the whole twice, whatever the number of members. Chunks
// follow one another: several are under way at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/Base/Status.h"
#include "runtime/Transport/Transport.h"

namespace vime {

/// The messages of one member of a sum. Those between two members in one direction are matched in
/// the order in which they are started; waits are for the oldest one that nobody has waited for
/// yet.
class ChainLinks {
public:
  virtual ~ChainLinks() = default;
  virtual void send(std::uint32_t member, const void *source, std::size_t bytes) = 0;
  virtual void receive(std::uint32_t member, void *destination, std::size_t bytes) = 0;
  virtual Status awaitSend(std::uint32_t member) = 0;
  virtual Status awaitReceive(std::uint32_t member) = 0;
};

/// Returns when the sum is at `payload.destination`. All members call it alike.
Status reduceAlongChain(const Payload &payload, std::uint32_t member, std::uint32_t members,
                        ChainLinks &links);

} // namespace vime
