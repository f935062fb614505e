// Kept: what a stage was before its optimizer ran early, so that a step on which the verdict is bad
// can be taken back to the bit.
//
// A head, the weights, the moments, laid out as in a snapshot (runtime/Plan/Snapshot.h): weights
// that are rounded masters are left out. `optimize_early` fills it, `redo` reads it.
#pragma once

#include "runtime/Plan/Snapshot.h"

namespace vime::plan {

/// Of the step that ran early: its header may be gone when it is done again.
struct KeptHead {
  std::uint64_t updates; // of the optimizer before it
  double learningRate;
  std::uint64_t reserved[6]; // zero
};
static_assert(sizeof(KeptHead) == sizeof(SnapshotHead));

constexpr std::uint64_t weightsInKept() { return weightsInSnapshot(); }
inline std::uint64_t momentsInKept(const StageSpec &spec) { return momentsInSnapshot(spec); }
inline std::uint64_t keptBytes(const StageSpec &spec) { return snapshotBytes(spec); }

} // namespace vime::plan
