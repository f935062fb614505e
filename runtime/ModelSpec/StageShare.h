// StageShare: which of a stage's parameters a replica keeps, where each keeps only a part of them.
//
//   const StageShare share = stageShareOf(spec, type, replicas, replica);
//   forEachPiece(spec, share, [](const TensorPiece &piece) { … });   // what of its tensors lies in
//   it
//
// A stage's parameters are one row of elements; shares are consecutive parts of it, all as long,
// the last ones perhaps beyond its end. They begin at multiples of kRegionAlignment bytes of
// weights, as tensors do, so that sums of squares come to the same bits (kernels/SquareSum.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/SumType.h"
#include "runtime/ModelSpec/ModelSpec.h"
#include "runtime/ModelSpec/StageRegions.h"

namespace vime {

/// Elements [first, first + count) of a stage.
struct StageShare {
  std::uint64_t first = 0, count = 0;
};

inline std::uint64_t elementsOf(const StageSpec &spec, DataType type) {
  return spec.weightBytes / sizeOf(type);
}

inline StageShare wholeOf(const StageSpec &spec, DataType type) {
  return {0, elementsOf(spec, type)};
}

inline StageShare stageShareOf(const StageSpec &spec, DataType type, std::uint32_t replicas,
                               std::uint32_t replica) {
  const std::uint64_t bytes = alignRegion((spec.weightBytes + replicas - 1) / replicas);
  const std::uint64_t count = bytes / sizeOf(type);
  return {count * replica, count};
}

/// Elements [first, first + count) of a tensor, which are [inStage, …) of the stage and
/// [inShare, …) of the share.
struct TensorPiece {
  const TensorSpec &tensor;
  std::uint64_t first, count, inStage, inShare;
};

template <typename Visit>
void forEachPiece(const StageSpec &spec, const StageShare &share, Visit visit) {
  for (const TensorSpec &tensor : spec.tensors) {
    const std::uint64_t begin = std::max(tensor.offset, share.first);
    const std::uint64_t end =
        std::min(tensor.offset + tensor.elements(), share.first + share.count);
    if (begin < end)
      visit(TensorPiece{tensor, begin - tensor.offset, end - begin, begin, begin - share.first});
  }
}

/// The bytes of a stage's regions, where so many replicas share it; with 1 they are those of the
/// spec, and there are no shares. Whole weights and gradients have room for all shares; moments are
/// those of one.
struct ParameterRegions {
  std::uint64_t weightBytes, gradientBytes, momentBytes, weightShareBytes;
};

inline ParameterRegions regionsOf(const StageSpec &spec, DataType type, std::uint32_t sharers) {
  if (sharers == 1)
    return {spec.weightBytes, spec.gradientBytes, spec.momentBytes, 0};
  const std::uint64_t count = stageShareOf(spec, type, sharers, 0).count;
  const std::uint64_t sums = count * sizeOf(sumTypeOf(type));
  return {.weightBytes = sharers * count * sizeOf(type),
          .gradientBytes = sharers * sums,
          .momentBytes = spec.momentBytes / spec.gradientBytes * sums,
          .weightShareBytes = count * sizeOf(type)};
}

} // namespace vime
