// RunValues: what a ModelRun holds, as the oracle reads it, and weights that no mistake hides in.
#pragma once

#include <string>

#include "tests/Oracle/TorchDecoder.h"
#include "tests/model/ModelRun.h"

namespace vime {

/// `type`: of the bytes.
NamedTensors named(const ModelRun &run, const ModelRun::Tensors &tensors, DataType type);

/// Root of the summed squared differences, relative to the size of `expected`.
double distance(const Values &found, const Values &expected);

/// The initializer's weights are small; with larger ones every term of a gradient counts. The same
/// for a seed, however the model is cut.
void enlargeWeights(ModelRun &run, DataType type, std::size_t seed = 0);

inline constexpr const char *kEmbedding = "model.embed_tokens.weight";

/// The head's gradient of a tied matrix, added to `others`.
Values tiedGradients(const ModelRun &run, DataType type, Values others);

inline TorchBatch torchBatch(const Batch &batch) {
  return {batch.tokens, batch.labels, batch.offsets};
}

} // namespace vime
