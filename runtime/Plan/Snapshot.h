// Snapshot: what a checkpoint holds of one stage, as it lies in memory until it is on the disk.
//
// A head, the weights, the moments: each as long as a multiple of 64 bytes, laid out as in the
// stage's own regions. Weights that are rounded masters are left out: the masters are among the
// moments. `snapshot` fills it between two steps, `checkpoint_shard` writes it to a
// file while the next step runs.
#pragma once

#include <cstdint>

#include "runtime/ModelSpec/Masters.h"
#include "runtime/ModelSpec/ModelSpec.h"

namespace vime::plan {

struct SnapshotHead {
  std::uint64_t steps;       // done when it was taken
  std::uint64_t updates;     // of the optimizer, which steps with bad gradients do not count in
  std::uint64_t reserved[6]; // zero
};
static_assert(sizeof(SnapshotHead) == 64);

constexpr std::uint64_t weightsInSnapshot() { return sizeof(SnapshotHead); }
inline std::uint64_t snapshotWeightBytes(const StageSpec &spec) {
  return hasMasters(spec) ? 0 : spec.weightBytes;
}
inline std::uint64_t momentsInSnapshot(const StageSpec &spec) {
  return weightsInSnapshot() + snapshotWeightBytes(spec);
}
inline std::uint64_t snapshotBytes(const StageSpec &spec) {
  return momentsInSnapshot(spec) + spec.momentBytes;
}

} // namespace vime::plan
