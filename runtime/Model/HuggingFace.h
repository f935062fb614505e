// HuggingFace: a model directory (config.json and safetensors) in and out.
//
//   readHuggingFaceConfig("checkpoint", DataType::Float32)   // which model it is
//   loadStage("checkpoint", config, spec, weights)            // the tensors of one stage
//   exportShard("out/model", config, spec, stage, stages, weights)  // on the rank of the stage
//   exportCommit("out/model", config, specs, positions)       // once all shards are written
//
// An export appears under its name when it is complete, or not at all: shards are written to
// `<directory>.partial`.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/ModelSpec/HuggingFaceConfig.h"
#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

/// Fills the parameters of a stage, in the sumTypeOf the model's type, from model.safetensors or
/// the shards of model.safetensors.index.json. Files may hold F32, F64, F16 or BF16; values are
/// converted.
Status loadStage(const std::string &directory, const ModelConfig &config, const StageSpec &spec,
                 void *parameters);

/// Whether `loadStage` would find all tensors of these stages with the right shapes: looks at the
/// files' headers, reads no values.
Status checkStages(const std::string &directory, const ModelConfig &config,
                   std::span<const StageSpec> stages);

/// Writes the tensors of one stage as shard `stage` of `stages`, fused tensors taken apart. Gives
/// the number of tensors written.
StatusOr<std::uint64_t> exportShard(const std::string &directory, const ModelConfig &config,
                                    const StageSpec &spec, std::uint32_t stage,
                                    std::uint32_t stages, const void *weights);

/// Checks that every shard is there, writes config.json and the index, and makes the directory
/// visible; an older export of ours of that name is replaced, what else its directory held kept
/// (ExportTarget.h). When that last step fails, the export stays in `<directory>.partial`.
/// `positions`: the longest sequence the model was trained on.
Status exportCommit(const std::string &directory, const ModelConfig &config,
                    std::span<const StageSpec> stages, std::uint32_t positions);

} // namespace vime
