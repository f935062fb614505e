// The JSON of a Hugging Face directory: config.json out, the index in and out.
#include "runtime/Model/HuggingFaceFiles.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace vime {

using Json = nlohmann::ordered_json;

// The mark by which a later export knows that it may replace this one.
constexpr const char *kWriterField = "writer", *kWriter = "vime";

namespace {

const char *architectureOf(ModelFamily family) {
  switch (family) {
  case ModelFamily::Qwen2:
    return "Qwen2ForCausalLM";
  case ModelFamily::Qwen3:
    return "Qwen3ForCausalLM";
  default:
    return "LlamaForCausalLM";
  }
}

/// Of a user's module: what its flat vectors are to be taken apart by.
std::string moduleConfigText(const ModelConfig &config) {
  const Json json = {{"model_type", nameOf(config.family)},
                     {"hidden_size", config.hidden},
                     {"num_hidden_layers", config.layers},
                     {"vocab_size", config.vocab},
                     {"embedding_parameters", config.embeddingElements},
                     {"layer_parameters", config.layerElements},
                     {"head_parameters", config.headElements},
                     {"dtype", nameOf(config.type)}};
  return json.dump(2) + "\n";
}

} // namespace

std::string huggingFaceConfigText(const ModelConfig &config, std::uint32_t positions) {
  if (config.family == ModelFamily::TorchScript)
    return moduleConfigText(config);
  Json json = {
      {"architectures", {architectureOf(config.family)}},
      {"model_type", nameOf(config.family)},
      {"hidden_act", "silu"},
      {"hidden_size", config.hidden},
      {"intermediate_size", config.ffn},
      {"num_hidden_layers", config.layers},
      {"num_attention_heads", config.heads},
      {"num_key_value_heads", config.kvHeads},
      {"head_dim", config.headWidth},
      {"vocab_size", config.vocab},
      {"max_position_embeddings", positions},
      {"rms_norm_eps", config.normEpsilon},
      {"rope_theta", config.ropeTheta}, // transformers 4 reads this, 5 the next
      {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", config.ropeTheta}}},
  };
  if (config.family == ModelFamily::Llama)
    json["mlp_bias"] = false;
  else
    json["use_sliding_window"] = false;
  if (config.family != ModelFamily::Qwen2) // which has no choice
    json["attention_bias"] = false;
  json["tie_word_embeddings"] = config.tiedHead;
  json["bos_token_id"] = json["eos_token_id"] = nullptr;
  json["dtype"] = nameOf(config.type);
  json["torch_dtype"] = nameOf(config.type); // the older name
  return json.dump(2) + "\n";
}

StatusOr<std::map<std::string, std::string>> readIndex(const std::string &path) {
  const auto refuse = [&](const std::string &what) {
    return Status(StatusCode::InvalidInput, fmt::format("`{}`: {}", path, what));
  };
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return Status(StatusCode::File, fmt::format("cannot open `{}`", path));
  const Json json = Json::parse(stream, nullptr, /*allow_exceptions=*/false);
  const auto weightMap = json.find("weight_map"); // none in what is no object
  if (weightMap == json.end() || !weightMap->is_object())
    return refuse("no `weight_map`");
  std::map<std::string, std::string> fileOf;
  for (const auto &[tensor, file] : weightMap->items()) {
    // A name that leaves the directory would read what the user did not point at.
    if (!file.is_string() || file.get_ref<const std::string &>().find('/') != std::string::npos)
      return refuse(fmt::format("`{}` lies in no file of the directory", tensor));
    fileOf[tensor] = file.get<std::string>();
  }
  return fileOf;
}

bool isOurIndex(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) // a pipe would be waited for
    return false;
  std::ifstream stream(path, std::ios::binary);
  const Json json = Json::parse(stream, nullptr, /*allow_exceptions=*/false);
  const auto metadata = json.find("metadata");
  if (metadata == json.end() || !metadata->is_object())
    return false;
  const auto writer = metadata->find(kWriterField);
  return writer != metadata->end() && *writer == kWriter;
}

std::string indexText(const std::map<std::string, std::string> &fileOf, std::uint64_t bytes) {
  const Json json = {{"metadata", {{"total_size", bytes}, {kWriterField, kWriter}}},
                     {"weight_map", fileOf}};
  return json.dump(2) + "\n";
}

} // namespace vime
