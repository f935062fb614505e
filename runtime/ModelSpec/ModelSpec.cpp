// The split into stages, and the table of a stage's tensors and bytes.
#include "runtime/ModelSpec/ModelSpec.h"

#include <algorithm>
#include <cassert>

#include "kernels/SumType.h"
#include "runtime/ModelSpec/StageRegions.h"

namespace vime {
namespace {

/// Null and Sleep stages own one vector of this many elements, so that the norm and the optimizer
/// have work.
constexpr std::uint64_t kTokenElements = 4;

/// Collects tensors one behind the other, each at a multiple of kRegionAlignment bytes.
class TensorTable {
public:
  explicit TensorTable(DataType type) : type(type) {}

  void add(std::string name, std::vector<std::uint64_t> shape, std::vector<SourceTensor> sources,
           Start start = Start::Normal) {
    tensors.push_back(
        {std::move(name), std::move(shape), end / sizeOf(type), std::move(sources), start});
    end += alignRegion(tensors.back().elements() * sizeOf(type));
  }
  /// A tensor that is one Hugging Face tensor.
  void addPlain(std::string name, std::vector<std::uint64_t> shape, std::string source,
                Start start = Start::Normal) {
    const std::uint64_t rows = shape.front();
    add(std::move(name), std::move(shape), {{std::move(source), 0, rows}}, start);
  }
  void moveTo(StageSpec &spec) {
    spec.tensors = std::move(tensors);
    spec.weightBytes = end;
    spec.gradientBytes = end / sizeOf(type) * sizeOf(sumTypeOf(type));
    spec.momentBytes = (sumTypeOf(type) == type ? 2 : 3) * spec.gradientBytes;
  }

private:
  DataType type;
  std::vector<TensorSpec> tensors;
  std::uint64_t end = 0;
};

void addLayer(TensorTable &table, const ModelConfig &config, std::uint32_t layer) {
  const std::uint64_t hidden = config.hidden, ffn = config.ffn;
  const std::uint64_t query = queryWidth(config), keyValue = keyValueWidth(config);
  const std::string ours = "layers." + std::to_string(layer) + ".", theirs = "model." + ours;
  const auto attention = [&](const char *name) {
    return theirs + "self_attn." + name + "_proj.weight";
  };
  const auto bias = [&](const char *name) { return theirs + "self_attn." + name + "_proj.bias"; };
  const auto mlp = [&](const char *name) { return theirs + "mlp." + name + "_proj.weight"; };

  table.addPlain(ours + "norm1", {hidden}, theirs + "input_layernorm.weight", Start::Ones);
  table.add(ours + "qkv", {qkvWidth(config), hidden},
            {{attention("q"), 0, query},
             {attention("k"), query, keyValue},
             {attention("v"), query + keyValue, keyValue}});
  if (hasQkvBias(config))
    table.add(ours + "qkv_bias", {qkvWidth(config)},
              {{bias("q"), 0, query},
               {bias("k"), query, keyValue},
               {bias("v"), query + keyValue, keyValue}},
              Start::Zeros);
  if (hasHeadNorms(config)) {
    table.addPlain(ours + "q_norm", {config.headWidth}, theirs + "self_attn.q_norm.weight",
                   Start::Ones);
    table.addPlain(ours + "k_norm", {config.headWidth}, theirs + "self_attn.k_norm.weight",
                   Start::Ones);
  }
  table.addPlain(ours + "o", {hidden, query}, attention("o"));
  table.addPlain(ours + "norm2", {hidden}, theirs + "post_attention_layernorm.weight", Start::Ones);
  table.add(ours + "gate_up", {2 * ffn, hidden}, {{mlp("gate"), 0, ffn}, {mlp("up"), ffn, ffn}});
  table.addPlain(ours + "down", {hidden, ffn}, mlp("down"));
}

StageSpec llamaSpec(const ModelConfig &config, StageRange range, MicrobatchCaps caps) {
  StageSpec spec{.range = range};
  TensorTable table(config.type);
  if (range.embedding)
    table.addPlain("embedding", {config.vocab, config.hidden}, "model.embed_tokens.weight");
  for (std::uint32_t layer = range.first; layer < range.end; ++layer)
    addLayer(table, config, layer);
  if (range.head) {
    table.addPlain("norm", {config.hidden}, "model.norm.weight", Start::Ones);
    if (!config.tiedHead)
      table.addPlain("head", {config.vocab, config.hidden}, "lm_head.weight");
  }
  table.moveTo(spec);

  const StageRegions regions = stageRegions(config, range, caps);
  if (config.tiedHead && (range.embedding || range.head)) {
    spec.tiedWeightBytes = tiedBytes(config, config.type);
    spec.tiedGradientBytes = tiedBytes(config, sumTypeOf(config.type));
  }
  spec.boundaryBytesPerToken = static_cast<std::uint32_t>(config.hidden * sizeOf(config.type));
  // A layer in the middle that is recomputed keeps nothing but its input.
  spec.stashBytes = std::max(regions.stashBytes, kRegionAlignment);
  spec.weightStashBytes = regions.weightStashBytes;
  const std::uint64_t layers = range.end - range.first;
  spec.contextBytes = layers * regions.context.keyValues;
  spec.contextGradientBytes = layers * regions.context.gradients;
  spec.forwardWorkspace = regions.forwardWorkspace;
  spec.backwardWorkspace = regions.backwardWorkspace;
  spec.backwardInputWorkspace = regions.backwardInputWorkspace;
  spec.backwardWeightWorkspace = regions.backwardWeightWorkspace;
  return spec;
}

/// Every region exists and is as small as a region can be.
StageSpec emptySpec(const ModelConfig &config, StageRange range, MicrobatchCaps caps) {
  StageSpec spec{.range = range};
  TensorTable table(config.type);
  table.add("layers." + std::to_string(range.first) + ".nothing", {kTokenElements}, {},
            Start::Ones);
  table.moveTo(spec);
  spec.boundaryBytesPerToken =
      static_cast<std::uint32_t>(std::max(config.hidden, 1u) * sizeOf(config.type));
  spec.stashBytes = spec.weightStashBytes = kRegionAlignment;
  if (caps.slices > 1)
    spec.contextBytes = spec.contextGradientBytes = kRegionAlignment;
  spec.forwardWorkspace = spec.backwardWorkspace = kRegionAlignment;
  spec.backwardInputWorkspace = spec.backwardWeightWorkspace = kRegionAlignment;
  return spec;
}

/// Parts of the user's module own one flat vector each, in the order of their parameters
/// (`torch.nn.utils.parameters_to_vector`).
StageSpec torchScriptSpec(const ModelConfig &config, StageRange range, MicrobatchCaps caps) {
  StageSpec spec{.range = range};
  TensorTable table(config.type);
  if (range.embedding)
    table.addPlain("embedding", {config.embeddingElements}, "embedding");
  for (std::uint32_t layer = range.first; layer < range.end; ++layer) {
    const std::string name = "layers." + std::to_string(layer);
    table.addPlain(name, {config.layerElements}, name);
  }
  if (range.head)
    table.addPlain("head", {config.headElements}, "head");
  table.moveTo(spec);
  spec.boundaryBytesPerToken = static_cast<std::uint32_t>(config.hidden * sizeOf(config.type));
  const std::uint64_t logits = std::uint64_t(caps.tokens) * config.vocab * sizeOf(config.type);
  spec.stashBytes = range.head ? alignRegion(logits) : kRegionAlignment;
  spec.weightStashBytes = kRegionAlignment; // a backward runs its forward again
  spec.forwardWorkspace = spec.backwardWorkspace = alignRegion(config.taskBytes);
  spec.backwardInputWorkspace = spec.backwardWeightWorkspace = alignRegion(config.taskBytes);
  return spec;
}

} // namespace

std::uint64_t TensorSpec::elements() const {
  std::uint64_t product = 1;
  for (std::uint64_t extent : shape)
    product *= extent;
  return product;
}

std::vector<StageRange> splitLayers(const ModelConfig &config, std::uint32_t stages) {
  assert(stages >= 1 && stages <= config.layers);
  std::vector<StageRange> ranges;
  std::uint32_t first = 0;
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    const std::uint32_t layers = config.layers / stages + (stage < config.layers % stages ? 1 : 0);
    ranges.push_back({first, first + layers, stage == 0, stage + 1 == stages});
    first += layers;
  }
  return ranges;
}

StageSpec stageSpec(const ModelConfig &config, StageRange range, MicrobatchCaps caps) {
  if (config.family == ModelFamily::TorchScript)
    return torchScriptSpec(config, range, caps);
  return isDecoder(config.family) ? llamaSpec(config, range, caps) : emptySpec(config, range, caps);
}

const char *nameOf(ModelFamily family) {
  constexpr const char *kNames[] = {"llama", "null", "sleep", "qwen2", "qwen3", "torchscript"};
  return kNames[static_cast<std::size_t>(family)];
}

} // namespace vime
