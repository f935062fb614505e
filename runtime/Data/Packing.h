// Packing: the samples of a step in microbatches: in their order, each goes into the first
// microbatch that still has room for it.
//
//   Packing packing;
//   const std::uint32_t lengths[] = {100, 60, 20, 60};
//   packing.pack(lengths, {.tokens = 128, .samples = 4});
//   packing.microbatches()   // 2: {100, 20} and {60, 60}
//
// One rule for everybody: coordinator, replicas and compiler find the same microbatches. Kept from
// step to step, it allocates only to grow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vime {

class Packing {
public:
  /// Of a microbatch. `tokens` is no less than any sample has.
  struct Room {
    std::uint32_t tokens = 0, samples = 0;
  };
  /// `lengths`: tokens of each sample, at least 1.
  void pack(std::span<const std::uint32_t> lengths, Room room);

  std::uint32_t microbatches() const { return static_cast<std::uint32_t>(tokens.size()); }
  std::uint32_t tokensOf(std::uint32_t microbatch) const { return tokens[microbatch]; }
  /// Places in `lengths`, ascending.
  std::span<const std::uint32_t> samplesOf(std::uint32_t microbatch) const {
    return std::span(places).subspan(begins[microbatch],
                                     begins[microbatch + 1] - begins[microbatch]);
  }

private:
  std::uint32_t put(std::uint32_t length, Room room);
  void sortByMicrobatch();

  std::vector<std::uint32_t> tokens; // of each microbatch
  std::vector<std::uint32_t> counts; // samples of each microbatch
  std::vector<std::uint32_t> chosen; // microbatch of each sample
  std::vector<std::uint32_t> places, begins;
  /// A heap-like tree over all microbatches there could be: leaves have their room, nodes the
  /// larger of their children's.
  std::vector<std::uint32_t> rooms;
  std::uint32_t leaves = 0;
};

} // namespace vime
