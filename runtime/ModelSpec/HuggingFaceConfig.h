// HuggingFaceConfig: which model a Hugging Face directory holds, from its config.json alone.
#pragma once

#include <string>

#include "runtime/Base/Status.h"
#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

/// The model in `directory`, to be computed in `type`. InvalidInput names what vime does not
/// compute: another model_type than llama, qwen2 and qwen3, scaled RoPE, other biases, sliding
/// windows, another activation.
StatusOr<ModelConfig> readHuggingFaceConfig(const std::string &directory, DataType type);

} // namespace vime
