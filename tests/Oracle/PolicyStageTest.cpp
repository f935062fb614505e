// Gradients of policy losses through a decoder of several layers, against LibTorch autograd in
// float64: for every number of stages, packing and number of microbatches. LibTorch sees the step
// as one padded batch of samples that know nothing of each other.
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "kernels/Native.h"
#include "tests/Oracle/RunValues.h"
#include "tests/Oracle/TorchPolicy.h"

namespace vime {
namespace {

using Backward = ModelRun::Backward;

constexpr double kTolerance = 1e-10;
constexpr MicrobatchCaps kCaps{.tokens = 140, .segments = 12, .segmentTokens = 20};

const ModelConfig kModels[] = {{.type = DataType::Float64,
                                .layers = 5,
                                .hidden = 37,
                                .heads = 6,
                                .kvHeads = 2,
                                .headWidth = 10,
                                .ffn = 51,
                                .vocab = 43},
                               {.family = ModelFamily::Qwen2,
                                .type = DataType::Float64,
                                .layers = 4,
                                .hidden = 24,
                                .heads = 3,
                                .kvHeads = 3,
                                .headWidth = 8,
                                .ffn = 33,
                                .vocab = 60,
                                .tiedHead = true}};

/// All samples of a step, one behind the other, and their log-probabilities in LibTorch.
struct Step {
  Batch batch; // labels of tokens with mask 1
  PolicySamples samples;
};

/// Samples of 2 to 20 inputs: a prompt, then tokens of the policy with one here and there that an
/// environment put in.
Step randomStep(std::uint32_t vocab) {
  std::mt19937 random(11);
  Step step{{.offsets = {0}}, {}};
  for (std::uint32_t sample = 0; sample < 11; ++sample) {
    const std::uint32_t length = 2 + random() % 19, prompt = 1 + random() % (length - 1);
    std::uint32_t trained = 0;
    for (std::uint32_t token = 0; token < length; ++token) {
      const bool learns = token + 1 >= prompt && (token + 1 == length || random() % 6 != 0);
      trained += learns ? 1 : 0;
      step.samples.mask.push_back(learns ? 1 : 0);
      step.batch.tokens.push_back(std::int32_t(random() % vocab));
      step.batch.labels.push_back(learns ? std::int32_t(random() % vocab) : -1);
    }
    step.samples.begins.push_back(std::uint32_t(step.batch.tokens.size()));
    step.batch.offsets.push_back(std::int32_t(step.batch.tokens.size()));
    step.samples.step.push_back(
        {.rollout = sample / 2 * 2 + sample % 4 / 2, .prompt = sample / 4, .tokens = trained});
  }
  return step;
}

torch::Tensor logitsOf(const ModelConfig &config, const NamedTensors &weights, const Batch &batch) {
  const Values noGradient(batch.tokens.size() * config.vocab);
  const Values logits =
      torchStage(config, {0, config.layers, true, true}, weights, torchBatch(batch), {}, noGradient)
          .output;
  return torch::tensor(logits, torch::kFloat64).view({-1, std::int64_t(config.vocab)});
}

Values valuesOf(const torch::Tensor &tensor) {
  const torch::Tensor flat = tensor.detach().contiguous();
  return Values(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
}

struct Expected {
  double loss;
  NamedTensors gradients;
};

Expected byAutograd(const ModelConfig &config, const NamedTensors &weights, const PolicyCase &made,
                    const Step &step) {
  const torch::Tensor logits = logitsOf(config, weights, step.batch).set_requires_grad(true);
  const auto [logProbabilities, entropies] = policyOf(logits, step.batch.labels);
  const torch::Tensor loss = torchPolicyLoss(made, step.samples, logProbabilities, entropies);
  loss.backward();
  return {loss.item<double>(), torchStage(config, {0, config.layers, true, true}, weights,
                                          torchBatch(step.batch), {}, valuesOf(logits.grad()))
                                   .gradients};
}

using Packing = std::vector<std::vector<std::uint32_t>>; // samples of each microbatch

Packing packingOf(std::uint32_t samples, std::uint32_t microbatches, unsigned seed) {
  std::vector<std::uint32_t> order(samples);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  Packing packing(microbatches);
  for (std::uint32_t place = 0; place < samples; ++place)
    packing[seed % 2 ? place % microbatches : place * microbatches / samples].push_back(
        order[place]);
  return packing;
}

PolicyBatch packed(const Step &step, const std::vector<double> &denominators,
                   const std::vector<std::uint32_t> &chosen) {
  PolicyBatch batch;
  batch.offsets = {0};
  for (const std::uint32_t sample : chosen) {
    const std::uint32_t begin = step.samples.begins[sample], end = step.samples.begins[sample + 1];
    const auto append = [&](auto &to, const auto &from) {
      to.insert(to.end(), from.begin() + begin, from.begin() + end);
    };
    append(batch.tokens, step.batch.tokens);
    append(batch.labels, step.batch.labels);
    append(batch.advantages, step.samples.advantages);
    append(batch.old, step.samples.old);
    append(batch.sampled, step.samples.sampled);
    append(batch.reference, step.samples.reference);
    batch.offsets.push_back(std::int32_t(batch.tokens.size()));
    batch.denominators.push_back(denominators[sample]);
  }
  return batch;
}

class PolicyStage : public testing::TestWithParam<ModelConfig> {
protected:
  void SetUp() override {
    if (!nativeKernels(DataType::Float64))
      GTEST_SKIP() << nativeRefusal(DataType::Float64);
  }
  const ModelConfig config = GetParam();

  ModelRun model(std::uint32_t stages, std::size_t seed = 0) const {
    ModelRun run(config, stages, kCaps, *nativeKernels(DataType::Float64), 3);
    enlargeWeights(run, DataType::Float64, seed);
    return run;
  }
  NamedTensors weightsOf(const ModelRun &run) const {
    return named(run, run.weights(), DataType::Float64);
  }
  /// The step, with an old policy and a sampler near the present one, and a reference model.
  Step makeStep() const {
    Step step = randomStep(config.vocab);
    const Values now =
        valuesOf(policyOf(logitsOf(config, weightsOf(model(1)), step.batch), step.batch.labels)
                     .logProbabilities);
    ModelRun reference = model(3, /*seed=*/5);
    reference.pass(step.batch);
    step.samples.reference = reference.logProbabilities(step.batch);
    std::mt19937 random(4);
    const auto uniform = [&](double most) { return most * (double(random()) / 0x1p31 - 1); };
    for (const double present : now) {
      step.samples.old.push_back(present + uniform(0.7));
      step.samples.sampled.push_back(step.samples.old.back() + uniform(1));
      step.samples.advantages.push_back(uniform(2));
    }
    return step;
  }

  struct Found {
    double loss = 0, clipped = 0, corrected = 0;
    ModelRun::Tensors gradients;
  };
  Found train(ModelRun &run, const PolicyCase &made, const Step &step, const Packing &packing,
              Backward kind) const {
    const auto denominators = lossDenominators(made.unit, step.samples.step, kPolicyConstant);
    std::vector<PolicyBatch> batches;
    Found found;
    for (const std::vector<std::uint32_t> &samples : packing) {
      batches.push_back(packed(step, *denominators, samples));
      run.pass(batches.back(), batches.size() - 1);
      const plan::PolicyNumbers numbers =
          run.policyLoss(batches.back(), made.settings, batches.size() - 1);
      found.loss += numbers.loss;
      found.clipped += numbers.clipped;
      found.corrected += numbers.corrected;
    }
    for (std::size_t slot = 0; slot < batches.size(); ++slot)
      run.backward(batches[slot], /*overwrite=*/slot == 0, kind, slot);
    run.addTiedGradients();
    found.gradients = run.gradients();
    EXPECT_TRUE(run.fencesIntact());
    return found;
  }
  /// Else the comparison says less than its cases promise.
  static void expectReached(const PolicyCase &made, const Found &found) {
    const Objective objective = made.settings.objective;
    EXPECT_EQ(found.clipped != 0,
              objective != Objective::Reinforce && objective != Objective::Likelihood);
    EXPECT_EQ(found.corrected != 0, made.settings.offPolicy.correction != Correction::None);
  }
  void expectNear(const ModelRun &run, const Found &found, const Expected &expected) const {
    EXPECT_NEAR(found.loss, expected.loss, kTolerance);
    for (const auto &[name, gradient] : named(run, found.gradients, DataType::Float64))
      EXPECT_LT(distance(gradient.values, expected.gradients.at(name).values), kTolerance) << name;
  }
};

INSTANTIATE_TEST_SUITE_P(Models, PolicyStage, testing::ValuesIn(kModels),
                         [](const auto &info) { return nameOf(info.param.family); });

TEST_P(PolicyStage, GradientsAreThoseOfAutograd) {
  const Step step = makeStep();
  ModelRun runs[] = {model(1), model(2), model(4)};
  const NamedTensors weights = weightsOf(runs[0]);
  for (const PolicyCase &made : policyCases()) {
    const Expected expected = byAutograd(config, weights, made, step);
    unsigned seed = 0;
    for (const std::uint32_t microbatches : {1, 2, 5, 11}) {
      const Packing packing =
          packingOf(std::uint32_t(step.samples.step.size()), microbatches, ++seed);
      ModelRun::Tensors gradients;
      for (ModelRun &run : runs) {
        SCOPED_TRACE(testing::Message() << made.name << ", " << run.parts.size() << " stages, "
                                        << microbatches << " microbatches");
        const Backward kind = seed % 2 ? Backward::Combined : Backward::Split;
        const Found found = train(run, made, step, packing, kind);
        expectNear(run, found, expected);
        EXPECT_TRUE(gradients.empty() || found.gradients == gradients) << "or bits changed";
        gradients = found.gradients;
        expectReached(made, found);
      }
    }
  }
}

TEST_P(PolicyStage, LogProbabilitiesAreThoseOfLibTorch) {
  const Step step = makeStep();
  ModelRun run = model(4);
  run.pass(step.batch);
  const Values expected = valuesOf(
      policyOf(logitsOf(config, weightsOf(run), step.batch), step.batch.labels).logProbabilities);
  const Values found = run.logProbabilities(step.batch);
  for (std::size_t token = 0; token < expected.size(); ++token)
    EXPECT_NEAR(found[token], expected[token], kTolerance) << "token " << token;
}

} // namespace
} // namespace vime
