#include "runtime/Data/Packing.h"

#include <algorithm>
#include <bit>

namespace vime {

void Packing::pack(std::span<const std::uint32_t> lengths, Room room) {
  const auto samples = static_cast<std::uint32_t>(lengths.size());
  leaves = std::bit_ceil(std::max(samples, 1u));
  rooms.assign(2 * std::size_t{leaves}, room.tokens);
  tokens.clear();
  counts.clear();
  chosen.clear();
  for (const std::uint32_t length : lengths)
    chosen.push_back(put(length, room));
  sortByMicrobatch();
}

/// An untouched microbatch has room for any sample, and there are as many as samples.
std::uint32_t Packing::put(std::uint32_t length, Room room) {
  std::uint32_t node = 1;
  while (node < leaves)
    node = 2 * node + (rooms[2 * node] >= length ? 0 : 1);
  const std::uint32_t microbatch = node - leaves;
  if (microbatch == tokens.size()) {
    tokens.push_back(0);
    counts.push_back(0);
  }
  tokens[microbatch] += length;
  rooms[node] = ++counts[microbatch] == room.samples ? 0 : rooms[node] - length;
  for (node /= 2; node != 0; node /= 2)
    rooms[node] = std::max(rooms[2 * node], rooms[2 * node + 1]);
  return microbatch;
}

void Packing::sortByMicrobatch() {
  begins.assign(counts.size() + 1, 0);
  for (std::size_t microbatch = 0; microbatch < counts.size(); ++microbatch)
    begins[microbatch + 1] = begins[microbatch] + counts[microbatch];
  places.resize(chosen.size());
  for (std::uint32_t place = 0; place < chosen.size(); ++place) {
    const std::uint32_t microbatch = chosen[place];
    places[begins[microbatch + 1] - counts[microbatch]--] = place;
  }
}

} // namespace vime
