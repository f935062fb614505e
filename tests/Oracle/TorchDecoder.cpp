#include "tests/Oracle/TorchDecoder.h"

#include <torch/torch.h>

#include "kernels/SumType.h"

namespace vime {
namespace {

namespace F = torch::nn::functional;
using torch::Tensor;
using Parameters = std::map<std::string, Tensor>;

torch::Dtype torchType(DataType type) {
  return type == DataType::Float64   ? torch::kFloat64
         : type == DataType::Float32 ? torch::kFloat32
                                     : torch::kBFloat16;
}

Tensor fromValues(const Values &values, at::IntArrayRef shape, torch::Dtype type) {
  return torch::tensor(values, torch::kFloat64).reshape(shape).to(type);
}
Values toValues(const Tensor &tensor) {
  const Tensor flat = tensor.detach().to(torch::kFloat64).contiguous().flatten();
  return Values(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
}
Tensor fromIntegers(const std::vector<std::int32_t> &values) {
  return torch::tensor(values, torch::kInt32).to(torch::kInt64);
}

/// What is trained: of a bfloat16 model float32 masters.
Parameters leaves(const ModelConfig &config, const NamedTensors &tensors) {
  Parameters parameters;
  for (const auto &[name, tensor] : tensors)
    parameters[name] = fromValues(tensor.values, tensor.shape, torchType(sumTypeOf(config.type)))
                           .set_requires_grad(true);
  return parameters;
}
/// What is computed with; autograd goes through the rounding as if it were not there.
Parameters rounded(const ModelConfig &config, const Parameters &leaves) {
  Parameters parameters;
  for (const auto &[name, leaf] : leaves)
    parameters[name] = leaf.to(torchType(config.type));
  return parameters;
}
NamedTensors toNamed(const Parameters &parameters, bool gradients) {
  NamedTensors tensors;
  for (const auto &[name, parameter] : parameters)
    tensors[name] = {parameter.sizes().vec(), toValues(gradients ? parameter.grad() : parameter)};
  return tensors;
}

/// Rotates x[heads, tokens, width] by the angles of positions 0, 1, ...; frequencies and angles in
/// float32, as Hugging Face has them whatever the model's type.
Tensor rotate(const Tensor &x, double theta) {
  const auto width = x.size(-1);
  const Tensor exponent = torch::arange(0, width, 2, torch::kFloat32) / double(width);
  const Tensor power = torch::pow(theta, exponent.to(torch::kFloat64)).to(torch::kFloat32);
  const Tensor positions = torch::arange(x.size(-2), torch::kFloat32);
  const Tensor angle = torch::outer(positions, 1 / power).to(torch::kFloat64);
  const Tensor both = torch::cat({angle, angle}, -1);
  const std::vector<Tensor> halves = x.chunk(2, -1);
  return x * both.cos().to(x.dtype()) +
         torch::cat({-halves[1], halves[0]}, -1) * both.sin().to(x.dtype());
}

/// Causal softmax attention of one segment; q[heads, tokens, width], k and v with as many or fewer
/// heads.
Tensor attend(const Tensor &q, const Tensor &k, const Tensor &v) {
  const auto group = q.size(0) / k.size(0);
  const Tensor keys = k.repeat_interleave(group, 0), values = v.repeat_interleave(group, 0);
  const auto tokens = q.size(1);
  const Tensor hidden = torch::ones({tokens, tokens}, torch::kBool).triu(1);
  const Tensor scores = q.matmul(keys.transpose(1, 2)) / std::sqrt(double(q.size(2)));
  return scores.masked_fill(hidden, -std::numeric_limits<double>::infinity())
      .softmax(-1)
      .matmul(values);
}

/// The decoder, a function of its parameters.
struct Decoder {
  const ModelConfig &config;
  const Parameters &parameters;

  const Tensor &at(const std::string &name) const { return parameters.at(name + ".weight"); }
  Tensor norm(const Tensor &x, const std::string &name) const {
    return torch::rms_norm(x, {x.size(-1)}, at(name), config.normEpsilon);
  }

  Tensor attention(const Tensor &h, const TorchBatch &batch, const std::string &name) const {
    const auto heads = [&](const char *projection, std::uint32_t count) {
      Tensor rows = h.matmul(at(name + projection).t());
      if (config.family == ModelFamily::Qwen2)
        rows = rows + parameters.at(name + projection + ".bias");
      return rows.view({-1, std::int64_t(count), std::int64_t(config.headWidth)}).transpose(0, 1);
    };
    const auto normed = [&](const Tensor &rows, const char *ofHead) {
      return config.family == ModelFamily::Qwen3 ? norm(rows, name + ofHead) : rows;
    };
    const Tensor q = normed(heads("q_proj", config.heads), "q_norm"),
                 k = normed(heads("k_proj", config.kvHeads), "k_norm"),
                 v = heads("v_proj", config.kvHeads);
    std::vector<Tensor> segments;
    for (std::size_t segment = 0; segment + 1 < batch.offsets.size(); ++segment) {
      const auto begin = batch.offsets[segment], end = batch.offsets[segment + 1];
      if (begin == end)
        continue;
      const auto cut = [&](const Tensor &x) { return x.slice(1, begin, end); };
      segments.push_back(
          attend(rotate(cut(q), config.ropeTheta), rotate(cut(k), config.ropeTheta), cut(v)));
    }
    const Tensor all = torch::cat(segments, 1).transpose(0, 1).flatten(1);
    return all.matmul(at(name + "o_proj").t());
  }

  Tensor layer(Tensor x, const TorchBatch &batch, std::uint32_t index) const {
    const std::string name = "model.layers." + std::to_string(index) + ".";
    x = x + attention(norm(x, name + "input_layernorm"), batch, name + "self_attn.");
    const Tensor h = norm(x, name + "post_attention_layernorm");
    const Tensor gate = F::silu(h.matmul(at(name + "mlp.gate_proj").t()));
    const Tensor up = h.matmul(at(name + "mlp.up_proj").t());
    return x + (gate * up).matmul(at(name + "mlp.down_proj").t());
  }

  Tensor run(StageRange range, const TorchBatch &batch, Tensor x) const {
    if (range.embedding)
      x = at("model.embed_tokens").index_select(0, fromIntegers(batch.tokens));
    for (std::uint32_t index = range.first; index < range.end; ++index)
      x = layer(x, batch, index);
    const char *const head = config.tiedHead ? "model.embed_tokens" : "lm_head";
    return range.head ? norm(x, "model.norm").matmul(at(head).t()) : x;
  }
};

/// Of bfloat16 logits in float32, as transformers has it.
Tensor summedLoss(const Tensor &logits, const TorchBatch &batch) {
  const auto type =
      logits.scalar_type() == torch::kBFloat16 ? torch::kFloat32 : logits.scalar_type();
  return F::cross_entropy(logits.to(type), fromIntegers(batch.labels),
                          F::CrossEntropyFuncOptions().reduction(torch::kSum).ignore_index(-100));
}

} // namespace

TorchStageResult torchStage(const ModelConfig &config, StageRange range,
                            const NamedTensors &tensors, const TorchBatch &batch,
                            const Values &input, const Values &outputGradient) {
  torch::set_num_threads(1);
  const Parameters parameters = leaves(config, tensors);
  const std::int64_t tokens = std::int64_t(batch.tokens.size());
  Tensor x;
  if (!range.embedding)
    x = fromValues(input, {tokens, config.hidden}, torchType(config.type)).set_requires_grad(true);
  const Parameters computed = rounded(config, parameters);
  const Tensor output = Decoder{config, computed}.run(range, batch, x);

  TorchStageResult result{.output = toValues(output)};
  if (outputGradient.empty()) {
    const Tensor loss = summedLoss(output, batch);
    result.loss = loss.item<double>();
    loss.backward();
  } else {
    output.backward(fromValues(outputGradient, output.sizes(), torchType(config.type)));
  }
  if (!range.embedding)
    result.inputGradient = toValues(x.grad());
  result.gradients = toNamed(parameters, /*gradients=*/true);
  return result;
}

struct TorchTraining::State {
  ModelConfig config;
  Parameters parameters;
  std::vector<Tensor> list;
  std::unique_ptr<torch::optim::AdamW> optimizer;
};

TorchTraining::TorchTraining(const ModelConfig &config, const NamedTensors &tensors,
                             double learningRate, double weightDecay)
    : state(new State{config, leaves(config, tensors), {}, nullptr}) {
  torch::set_num_threads(1);
  for (const auto &[name, parameter] : state->parameters)
    state->list.push_back(parameter);
  state->optimizer = std::make_unique<torch::optim::AdamW>(
      state->list, torch::optim::AdamWOptions(learningRate).weight_decay(weightDecay));
}

TorchTraining::~TorchTraining() = default;

double TorchTraining::step(std::span<const TorchBatch> batches) {
  const StageRange whole{0, state->config.layers, true, true};
  std::int64_t labels = 0;
  for (const TorchBatch &batch : batches)
    labels += (fromIntegers(batch.labels) >= 0).sum().item<std::int64_t>();
  double sum = 0;
  state->optimizer->zero_grad();
  for (const TorchBatch &batch : batches) {
    if (batch.tokens.empty())
      continue;
    const Parameters computed = rounded(state->config, state->parameters);
    const Tensor logits = Decoder{state->config, computed}.run(whole, batch, {});
    const Tensor loss = summedLoss(logits, batch);
    sum += loss.item<double>();
    (loss / double(labels)).backward();
  }
  torch::nn::utils::clip_grad_norm_(state->list, 1.0);
  state->optimizer->step();
  return sum / double(labels);
}

double TorchTraining::descend(const TorchBatch &batch,
                              const std::function<Values(const Values &)> &slopesOf) {
  state->optimizer->zero_grad();
  const Parameters computed = rounded(state->config, state->parameters);
  const Tensor logits =
      Decoder{state->config, computed}.run({0, state->config.layers, true, true}, batch, {});
  logits.backward(
      fromValues(slopesOf(toValues(logits)), logits.sizes(), torchType(state->config.type)));
  const double norm = torch::nn::utils::clip_grad_norm_(state->list, 1.0);
  state->optimizer->step();
  return norm;
}

NamedTensors TorchTraining::parameters() const { return toNamed(state->parameters, false); }

} // namespace vime
