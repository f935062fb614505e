// Microbatch: what a job says of its microbatches and batches, in numbers.
//
// A microbatch is of so many samples, or holds so many tokens: then its samples are packed
// (runtime/Data), and how many microbatches a step has follows from the text. Where the order cuts
// samples into slices, each slice of a microbatch counts as one, as in plans.
#pragma once

#include <cstdint>

#include "compiler/Frontend/Job.h"
#include "runtime/Data/TextDataset.h"
#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

/// Whether `pipeline.microbatch` is in tokens.
bool isPacked(const Job &job);

/// 1 where samples are whole.
std::uint32_t slicesOf(const Job &job);

/// Where there are rounds: microbatches that a step needs in each replica, whatever the lengths of
/// its samples are. First fit puts at least as many samples into every microbatch but the last one
/// as it has room for of the longest.
std::uint64_t mostPackedMicrobatches(const Job &job);

/// Of a microbatch. Of a packed one every sample has at least one token.
MicrobatchCaps capsOf(const Job &job);

/// Of a whole step, in each replica.
std::uint32_t stepMicrobatches(const Job &job);

/// Of an evaluation; 0 if the job has none.
std::uint64_t evaluationBatch(const Job &job);
/// Of an evaluation, in each replica; 0 if the job has none, or none that is known yet.
std::uint32_t evaluationMicrobatches(const Job &job);

/// Of any pass, in each replica: what buffers of every microbatch are made for.
std::uint32_t mostMicrobatches(const Job &job);

/// How the text is cut; the usual ones where there is none.
plan::Split splitOf(const Job &job);
plan::Tail tailOf(const Job &job);

/// What a step takes from the text, and an evaluation from what is held out.
BatchShape batchShapeOf(const Job &job);
BatchShape heldOutShapeOf(const Job &job);

} // namespace vime
