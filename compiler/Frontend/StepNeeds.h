// StepNeeds: how many microbatches the steps of a run need, where samples are packed by tokens.
//
// The compiler packs every step of the run, with the packing that the run will use: so what it
// finds is what happens. Where a run is too long for that, it takes a number that no step can
// exceed, whatever the shuffle is.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/Data/TextDataset.h"

namespace vime {

struct StepNeeds {
  /// In the replica that has most: each number that occurs, ascending. All up to the largest, where
  /// the run is too long to look at.
  std::vector<std::uint32_t> microbatches;
  bool isBound = false;   // the largest is one that no step exceeds
  std::uint64_t step = 0; // else the first one that needs the largest
};

StepNeeds needsOf(TextDataset &text, std::uint64_t steps, std::uint32_t replicas);

/// Whatever samples of the text a step takes, packing them by first fit gives no more microbatches
/// than this.
std::uint32_t packingBound(const TextSamples &samples, const BatchShape &shape);

} // namespace vime
