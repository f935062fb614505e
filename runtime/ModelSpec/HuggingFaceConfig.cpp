// The fields of config.json that decide what a Llama computes, and refusals for those that vime
// lacks.
#include "runtime/ModelSpec/HuggingFaceConfig.h"

#include <cmath>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace vime {
namespace {

using Json = nlohmann::ordered_json;

Status refuse(std::string text) { return Status(StatusCode::InvalidInput, std::move(text)); }

StatusOr<Json> parseFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return Status(StatusCode::File, fmt::format("cannot open `{}`", path));
  Json json = Json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return refuse(fmt::format("`{}` is no JSON object", path));
  return json;
}

/// Reads fields of one file and keeps the first fault.
class Fields {
public:
  Fields(const Json &json, const std::string &path) : json(json), path(path) {}

  std::uint32_t size(const char *name, std::optional<std::uint32_t> fallback = std::nullopt) {
    const Json *value = find(name);
    if (!value && fallback)
      return *fallback;
    if (value && value->is_number_unsigned() &&
        value->get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max())
      return value->get<std::uint32_t>();
    return fail(name, "a count");
  }
  double number(const char *name, double fallback) {
    const Json *value = find(name);
    if (!value)
      return fallback;
    return value->is_number() ? value->get<double>() : fail(name, "a number");
  }
  /// The field, where present, must say this; `why` completes the sentence.
  void require(const char *name, const Json &expected, const char *why) {
    const Json *value = find(name);
    if (value && *value != expected)
      refuseField(fmt::format("`{}` is {}: {}", name, value->dump(), why));
  }
  void refuseField(const std::string &what) {
    if (fault.ok())
      fault = refuse(fmt::format("`{}`: {}", path, what));
  }
  void adopt(const Status &status) {
    if (fault.ok())
      fault = status;
  }
  /// Null when absent or JSON's null.
  const Json *find(const char *name) const {
    const auto found = json.find(name);
    return found == json.end() || found->is_null() ? nullptr : &*found;
  }
  const Status &status() const { return fault; }

private:
  std::uint32_t fail(const char *name, const char *kind) {
    refuseField(find(name) ? fmt::format("`{}` is {}, not {}", name, find(name)->dump(), kind)
                           : fmt::format("no `{}`", name));
    return 0;
  }

  const Json &json;
  const std::string &path;
  Status fault;
};

/// Newer files keep the base of RoPE in `rope_parameters`, older ones beside the rest.
double ropeTheta(Fields &fields, const std::string &path) {
  constexpr double kDefault = 10000;
  if (fields.find("rope_scaling"))
    fields.refuseField("`rope_scaling` is set: scaled rotary positions are not computed yet");
  const double theta = fields.number("rope_theta", kDefault);
  const Json *parameters = fields.find("rope_parameters");
  if (!parameters)
    return theta;
  if (!parameters->is_object()) {
    fields.refuseField("`rope_parameters` is no object");
    return theta;
  }
  Fields inner(*parameters, path);
  inner.require("rope_type", "default", "scaled rotary positions are not computed yet");
  inner.require("partial_rotary_factor", 1, "only whole heads are rotated");
  const double innerTheta = inner.number("rope_theta", theta);
  fields.adopt(inner.status());
  return innerTheta;
}

} // namespace

StatusOr<ModelConfig> readHuggingFaceConfig(const std::string &directory, DataType type) {
  const std::string path = directory + "/config.json";
  const StatusOr<Json> json = parseFile(path);
  if (!json.ok())
    return json.status();
  Fields fields(*json, path);
  if (!fields.find("model_type"))
    fields.refuseField("no `model_type`");
  fields.require("model_type", "llama", "only `llama` models are computed yet");
  fields.require("hidden_act", "silu", "only `silu` is computed yet");
  fields.require("tie_word_embeddings", false, "tied embeddings are not computed yet");
  fields.require("attention_bias", false, "biases are not computed");
  fields.require("mlp_bias", false, "biases are not computed");
  fields.require("attention_dropout", 0, "dropout is not computed");

  ModelConfig config{.family = ModelFamily::Llama, .type = type};
  config.layers = fields.size("num_hidden_layers");
  config.hidden = fields.size("hidden_size");
  config.heads = fields.size("num_attention_heads");
  config.kvHeads = fields.size("num_key_value_heads", config.heads);
  config.headWidth = fields.size("head_dim", config.heads ? config.hidden / config.heads : 0);
  config.ffn = fields.size("intermediate_size");
  config.vocab = fields.size("vocab_size");
  config.ropeTheta = ropeTheta(fields, path);
  config.normEpsilon = fields.number("rms_norm_eps", 1e-6);
  if (!fields.status().ok())
    return fields.status();
  if (Status status = check(config); !status.ok())
    return refuse(fmt::format("`{}`: {}", path, status.message()));
  return config;
}

} // namespace vime
