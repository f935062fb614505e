// The fields of config.json that decide what a decoder computes, and refusals for those that vime
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
  // What messages show of a value is printed again: it must not be nested without end.
  constexpr int kDeepest = 16;
  const auto notTooDeep = [](int depth, Json::parse_event_t, Json &) { return depth <= kDeepest; };
  Json json = Json::parse(stream, notTooDeep, /*allow_exceptions=*/false);
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
  /// False when absent.
  bool flag(const char *name) {
    const Json *value = find(name);
    if (!value)
      return false;
    return value->is_boolean() ? value->get<bool>() : fail(name, "true or false") != 0;
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

ModelFamily familyOf(Fields &fields) {
  const Json *type = fields.find("model_type");
  for (const ModelFamily family : {ModelFamily::Llama, ModelFamily::Qwen2, ModelFamily::Qwen3})
    if (type && *type == nameOf(family))
      return family;
  fields.refuseField(
      type
          ? fmt::format("`model_type` is {}: only `llama`, `qwen2` and `qwen3` models are computed",
                        type->dump())
          : "no `model_type`");
  return ModelFamily::Llama;
}

void requireFullAttention(Fields &fields) {
  constexpr const char *kWhy = "only full attention is computed";
  fields.require("use_sliding_window", false, kWhy);
  if (const Json *types = fields.find("layer_types"); types && types->is_array())
    for (const Json &type : *types)
      if (type != "full_attention")
        return fields.refuseField(fmt::format("`layer_types` has {}: {}", type.dump(), kWhy));
}

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
  ModelConfig config{.family = familyOf(fields), .type = type};
  fields.require("hidden_act", "silu", "only `silu` is computed yet");
  if (config.family != ModelFamily::Qwen2) // whose biases are always the same
    fields.require("attention_bias", false, "biases are not computed");
  fields.require("mlp_bias", false, "biases are not computed");
  fields.require("attention_dropout", 0, "dropout is not computed");
  requireFullAttention(fields);

  config.tiedHead = fields.flag("tie_word_embeddings");
  config.layers = fields.size("num_hidden_layers");
  config.hidden = fields.size("hidden_size");
  config.heads = fields.size("num_attention_heads");
  config.kvHeads = fields.size("num_key_value_heads", config.heads);
  constexpr std::uint32_t kHeadWidthOfQwen3 = 128;
  config.headWidth = fields.size("head_dim", config.family == ModelFamily::Qwen3 ? kHeadWidthOfQwen3
                                             : config.heads ? config.hidden / config.heads
                                                            : 0);
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
