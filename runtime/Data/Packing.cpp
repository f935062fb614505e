#include "runtime/Data/Packing.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace vime {

namespace {

/// No packing has more microbatches: so many are full of samples, and of the others any two that
/// follow each other have more tokens than one has room for.
std::uint64_t mostMicrobatches(std::span<const std::uint32_t> lengths, Packing::Room room) {
  const auto tokens = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  return std::min<std::uint64_t>(lengths.size(),
                                 lengths.size() / room.samples + 2 * tokens / room.tokens + 2);
}

} // namespace

void Packing::pack(std::span<const std::uint32_t> lengths, Room room) {
  leaves = static_cast<std::uint32_t>(
      std::bit_ceil(std::max<std::uint64_t>(mostMicrobatches(lengths, room), 1)));
  rooms.assign(2 * std::size_t{leaves}, room.tokens);
  tokens.clear();
  counts.clear();
  chosen.clear();
  for (const std::uint32_t length : lengths)
    chosen.push_back(put(length, room));
  sortByMicrobatch();
}

/// An untouched microbatch has room for any sample, and there is always one.
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
