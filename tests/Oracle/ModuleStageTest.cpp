// The tasks of a user's module, one by one, against LibTorch's autograd over the whole of it.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/script.h>
#include <unistd.h>

#include "kernels/KernelError.h"
#include "kernels/LibTorch/LibTorchKernels.h"
#include "kernels/LibTorch/Loan.h"
#include "runtime/Model/LibTorch/TorchScriptStage.h"
#include "tests/Oracle/SmallModule.h"

namespace vime {
namespace {

using namespace small_module;
using testing::HasSubstr;

/// Two samples of one length, an empty one, and a longer one.
constexpr std::int32_t kOffsets[] = {0, 5, 10, 10, 17};
constexpr std::int64_t kTokens = 17;
constexpr MicrobatchCaps kCaps{.tokens = 20, .segments = 4, .segmentTokens = 10};

ModelConfig config(std::uint64_t taskBytes = 1 << 20) {
  return {.family = ModelFamily::TorchScript,
          .type = DataType::Float64,
          .layers = kLayers,
          .hidden = kHidden,
          .vocab = kVocab,
          .embeddingElements = kVocab * kHidden,
          .layerElements = 2 * kInner * kHidden,
          .headElements = kVocab * kHidden,
          .taskBytes = taskBytes};
}

/// A stage and the regions that a plan would give it.
struct Part {
  StageSpec spec;
  std::unique_ptr<TorchScriptStage> stage;
  std::vector<double> weights, gradients, stash, workspace;

  Part(const ModelConfig &config, StageRange range, const std::string &file)
      : spec(stageSpec(config, range, kCaps)) {
    StatusOr<std::unique_ptr<TorchScriptStage>> made =
        TorchScriptStage::load(config, {file, range, kCaps}, *libTorchKernels(DataType::Float64));
    EXPECT_TRUE(made.ok()) << made.status().message();
    stage = std::move(*made);
    weights.resize(spec.weightBytes / 8);
    gradients.assign(spec.gradientBytes / 8, NAN); // overwritten by the first microbatch
    stash.resize(spec.stashBytes / 8);
    workspace.resize(spec.backwardWorkspace / 8);
    stage->bringWeights(weights.data());
  }
};

class ModuleStages : public testing::Test {
protected:
  void SetUp() override {
    lendToLibTorch();
    file = std::filesystem::temp_directory_path() / ("vime-stages-" + std::to_string(getpid()));
    for (std::int64_t token = 0; token < kTokens; ++token) {
      tokens.push_back(std::int32_t(token * 37 % kVocab));
      labels.push_back(std::int32_t(token * 11 % kVocab));
    }
  }
  void TearDown() override { std::filesystem::remove(file); }

  /// Forward through both halves, then back; `split`: input gradients first.
  double run(Part &first, Part &last, bool split) {
    const Segments segments{kOffsets, 4};
    std::vector<double> between(kTokens * kHidden), back(kTokens * kHidden);
    double loss = 0;
    first.stage->forward(segments, {.input = tokens.data(),
                                    .weights = first.weights.data(),
                                    .stash = first.stash.data(),
                                    .output = between.data(),
                                    .workspace = first.workspace.data()});
    last.stage->forward(segments, {.input = between.data(),
                                   .weights = last.weights.data(),
                                   .stash = last.stash.data(),
                                   .output = nullptr,
                                   .workspace = last.workspace.data()});
    last.stage->loss(segments, {labels.data(), last.stash.data(), &loss});
    backward(last, segments, between.data(), nullptr, back.data(), split);
    backward(first, segments, tokens.data(), back.data(), nullptr, split);
    return loss;
  }

  static void backward(Part &part, const Segments &segments, const void *input,
                       const void *outputGradient, void *inputGradient, bool split) {
    if (!split)
      return part.stage->backward(segments, /*overwrite=*/true,
                                  {outputGradient, input, part.weights.data(), part.stash.data(),
                                   part.gradients.data(), inputGradient, part.workspace.data()});
    part.stage->backwardInput(segments,
                              {outputGradient, input, part.weights.data(), part.stash.data(),
                               nullptr, inputGradient, part.workspace.data()});
    part.stage->backwardWeight(segments, /*overwrite=*/true,
                               {outputGradient, input, part.weights.data(), part.stash.data(),
                                nullptr, part.gradients.data(), part.workspace.data()});
  }

  /// Loss and flat gradients of the whole module by autograd, sample by sample.
  std::pair<double, std::vector<at::Tensor>> expected(torch::jit::Module module) const {
    std::vector<at::Tensor> members;
    at::Tensor loss = torch::zeros({}, torch::kDouble);
    std::vector<std::vector<at::Tensor>> parameters;
    const auto add = [&](const torch::jit::Module &member) {
      parameters.emplace_back();
      for (const at::Tensor &parameter : member.parameters())
        parameters.back().push_back(parameter.set_requires_grad(true));
    };
    std::vector<torch::jit::Module> all{module.attr("embedding").toModule()};
    for (const torch::jit::Module &layer : module.attr("layers").toModule().children())
      all.push_back(layer);
    all.push_back(module.attr("head").toModule());
    for (const torch::jit::Module &member : all)
      add(member);
    for (int sample = 0; sample < 4; ++sample) {
      const std::int64_t begin = kOffsets[sample], length = kOffsets[sample + 1] - begin;
      if (length == 0)
        continue;
      const auto integers = [&](const std::vector<std::int32_t> &values) {
        return torch::from_blob(const_cast<std::int32_t *>(values.data() + begin), {1, length},
                                torch::kInt)
            .to(torch::kLong);
      };
      at::Tensor x = integers(tokens);
      for (torch::jit::Module &member : all)
        x = member.forward({x}).toTensor();
      loss = loss - torch::log_softmax(x, 2).gather(2, integers(labels).unsqueeze(2)).sum();
    }
    for (const std::vector<at::Tensor> &list : parameters) {
      std::vector<at::Tensor> flat;
      for (const at::Tensor &gradient : torch::autograd::grad({loss}, list, {}, true))
        flat.push_back(gradient.flatten());
      members.push_back(torch::cat(flat));
    }
    return {loss.item<double>(), members};
  }

  void expectGradients(const Part &part, const std::vector<at::Tensor> &all, std::size_t first) {
    for (const TensorSpec &tensor : part.spec.tensors) {
      const at::Tensor &gradient = all[first++];
      ASSERT_EQ(gradient.numel(), std::int64_t(tensor.elements()));
      const at::Tensor found =
          torch::from_blob(const_cast<double *>(part.gradients.data() + tensor.offset),
                           {gradient.numel()}, torch::kDouble);
      EXPECT_LE((found - gradient).norm().item<double>(), 1e-13 * gradient.norm().item<double>())
          << tensor.name;
    }
  }

  std::string file;
  std::vector<std::int32_t> tokens, labels;
};

TEST_F(ModuleStages, HaveTheGradientsOfAutograd) {
  const torch::jit::Module module = make();
  module.save(file);
  const auto [loss, gradients] = expected(module);
  for (const bool split : {false, true}) {
    Part first(config(), {0, 1, true, false}, file), last(config(), {1, 4, false, true}, file);
    EXPECT_NEAR(run(first, last, split) / loss, 1, 1e-13);
    expectGradients(first, gradients, 0);
    expectGradients(last, gradients, 2);
  }
}

TEST_F(ModuleStages, AddToGradientsOfEarlierMicrobatches) {
  make().save(file);
  Part whole(config(), {0, 4, true, true}, file);
  const Segments segments{kOffsets, 4};
  const auto task = [&](bool overwrite) {
    double loss = 0;
    whole.stage->forward(segments, {tokens.data(), whole.weights.data(), whole.stash.data(),
                                    nullptr, whole.workspace.data()});
    whole.stage->loss(segments, {labels.data(), whole.stash.data(), &loss});
    whole.stage->backward(segments, overwrite,
                          {nullptr, tokens.data(), whole.weights.data(), whole.stash.data(),
                           whole.gradients.data(), nullptr, whole.workspace.data()});
  };
  task(true);
  const std::vector<double> once = whole.gradients;
  task(false);
  for (const TensorSpec &tensor : whole.spec.tensors)
    for (std::uint64_t at = tensor.offset; at < tensor.offset + tensor.elements(); ++at)
      ASSERT_NEAR(whole.gradients[at], 2 * once[at], 1e-12);
}

TEST_F(ModuleStages, StayInTheirWorkspace) {
  const auto messageOf = [&](const ModelConfig &config) {
    Part first(config, {0, 1, true, false}, file), last(config, {1, 4, false, true}, file);
    try {
      run(first, last, /*split=*/false);
    } catch (const KernelError &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  make().save(file);
  EXPECT_EQ(messageOf(config()), "");
  EXPECT_THAT(messageOf(config(8 << 10)), HasSubstr("LibTorch asks for"));
  make(/*keeps=*/true).save(file);
  EXPECT_THAT(messageOf(config()), HasSubstr("of a workspace beyond its task"));
}

TEST_F(ModuleStages, RefuseFilesThatAreNotTheModel) {
  const auto refusalOf = [&](const ModelConfig &config) {
    return std::string(TorchScriptStage::load(config, {file, {0, 4, true, true}, kCaps},
                                              *libTorchKernels(DataType::Float64))
                           .status()
                           .message());
  };
  EXPECT_THAT(refusalOf(config()), HasSubstr("cannot be used"));
  make().save(file);
  EXPECT_EQ(refusalOf(config()), "");
  ModelConfig other = config();
  other.layers = 5;
  EXPECT_THAT(refusalOf(other), HasSubstr("has 4 layers, the plan was made for 5"));
  other = config();
  other.headElements = 1;
  EXPECT_THAT(refusalOf(other), HasSubstr("`head` has 4096 parameters, the plan was made for 1"));
  other = config();
  other.vocab = 200;
  EXPECT_THAT(refusalOf(other),
              HasSubstr("`head` gives Double[1, 1, 256] where Double[1, 1, 200]"));
  other = config();
  other.type = DataType::Float32;
  EXPECT_THAT(refusalOf(other), HasSubstr("parameters of type Double"));
}

} // namespace
} // namespace vime
