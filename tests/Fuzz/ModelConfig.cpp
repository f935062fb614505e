// Fuzz target `config`: config.json of a Hugging Face directory, and its index of shards.
#include <fstream>

#include "runtime/Model/HuggingFaceFiles.h"
#include "runtime/ModelSpec/HuggingFaceConfig.h"
#include "tests/Fuzz/Target.h"
#include "tests/model/TemporaryDirectory.h"

namespace vime::fuzz {
namespace {

/// What the compiler does with a model: counts its bytes.
void splits(const ModelConfig &config) {
  if (config.layers > 64)
    return;
  for (const StageRange &range : splitLayers(config, std::min(config.layers, 3u)))
    must(!stageSpec(config, range, {8, 2, 4}).tensors.empty(), "a stage has tensors");
}

StatusOr<ModelConfig> read(std::string_view bytes) {
  static const TemporaryDirectory kFolder;
  const std::string path = kFolder.path("config.json");
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  (void)readIndex(path);
  (void)isOurIndex(path);
  return readHuggingFaceConfig(kFolder.path(""), DataType::Float32);
}

} // namespace

void eat(std::string_view bytes) {
  const StatusOr<ModelConfig> config = read(bytes);
  if (!config.ok())
    return must(!config.status().message().empty(), "a refusal says why");
  splits(*config);
  const StatusOr<ModelConfig> exported = read(huggingFaceConfigText(*config, 128));
  must(exported.ok() && *exported == *config, "a model is the same when it was exported");
}

std::vector<std::string> seeds() {
  std::vector<std::string> seeds;
  for (const ModelFamily family : {ModelFamily::Llama, ModelFamily::Qwen2, ModelFamily::Qwen3})
    seeds.push_back(huggingFaceConfigText({.family = family,
                                           .layers = 4,
                                           .hidden = 8,
                                           .heads = 2,
                                           .kvHeads = 1,
                                           .headWidth = 4,
                                           .ffn = 12,
                                           .vocab = 256},
                                          128));
  seeds.push_back(indexText({{"a", "model-1.safetensors"}, {"b", "model-2.safetensors"}}, 64));
  return seeds;
}

} // namespace vime::fuzz
