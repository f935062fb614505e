// What an engine says of its tokens, against a decoder in plain LibTorch operations; with the
// native kernels and with those by LibTorch.
#include <cmath>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "kernels/LibTorch/LibTorchKernels.h"
#include "kernels/LibTorch/Loan.h"
#include "kernels/Native.h"
#include "tests/Oracle/TorchDecoder.h"
#include "tests/engine/FullForward.h"
#include "tests/engine/TestModels.h"
#include "tests/model/Values.h"

namespace vime {
namespace {

constexpr EngineCaps kCaps{.slots = 4, .rows = kMostRows, .batchTokens = 9};

NamedTensors named(const ModelConfig &config, const GuardedRegion &weights) {
  NamedTensors result;
  const StageSpec spec = stageSpec(config, {0, config.layers, true, true}, {1, 1, 1});
  for (const TensorSpec &tensor : spec.tensors)
    for (const SourceTensor &source : tensor.sources) {
      std::vector<std::int64_t> shape(tensor.shape.begin(), tensor.shape.end());
      const std::uint64_t row = tensor.elements() / tensor.shape.front();
      shape.front() = std::int64_t(source.rows);
      const auto first = std::int64_t(tensor.offset + source.row * row);
      result[source.name] = {shape, doubles(elementAt(weights.data(), first, config.type),
                                            source.rows * row, config.type)};
    }
  return result;
}

/// Of the tokens from position `from` on.
std::vector<double> logProbabilitiesByTorch(const ModelConfig &config,
                                            const NamedTensors &parameters,
                                            const std::vector<std::int32_t> &tokens,
                                            std::size_t from) {
  const TorchBatch batch{tokens, tokens, {0, std::int32_t(tokens.size())}};
  const Values logits =
      torchStage(config, {0, config.layers, true, true}, parameters, batch, {}, {}).output;
  std::vector<double> found;
  for (std::size_t at = from; at < tokens.size(); ++at) {
    const double *row = logits.data() + (at - 1) * config.vocab;
    double sum = 0;
    for (std::uint32_t word = 0; word < config.vocab; ++word)
      sum += std::exp(row[word]);
    found.push_back(row[tokens[at]] - std::log(sum));
  }
  return found;
}

class EngineOracle : public testing::TestWithParam<std::tuple<DataType, KernelLibrary, TestModel>> {
protected:
  const DataType type = std::get<0>(GetParam());
  const KernelLibrary library = std::get<1>(GetParam());
  const double tolerance = type == DataType::Float64 ? 1e-12 : 1e-5;

  const Kernels *kernels() const {
    if (library == KernelLibrary::Native)
      return nativeKernels(type);
    at::set_num_threads(1);
    lendToLibTorch();
    return libTorchKernels(type);
  }
};

INSTANTIATE_TEST_SUITE_P(All, EngineOracle,
                         testing::Combine(testing::Values(DataType::Float32, DataType::Float64),
                                          testing::Values(KernelLibrary::Native,
                                                          KernelLibrary::LibTorch),
                                          testing::ValuesIn(kTestModels)),
                         [](const auto &info) {
                           return std::string(nameOf(std::get<0>(info.param))) + "_" +
                                  nameOf(std::get<1>(info.param)) + "_" +
                                  std::get<2>(info.param).name;
                         });

TEST_P(EngineOracle, LogProbabilitiesAreThoseOfADecoderInLibTorch) {
  if (!kernels())
    GTEST_SKIP() << nativeRefusal(type);
  ModelConfig config = configOf(std::get<2>(GetParam()), type);
  config.kernels = library;
  EngineRun run(config, kCaps, *kernels());
  run.publish(1, 7);
  run.start();
  const auto done = run.generate(someRequests(12, config.vocab, 5));
  const GuardedRegion weights = sharpWeights(config, *kernels(), 7);
  const NamedTensors parameters = named(config, weights);
  const FullForward trainer(config, *kernels(), weights, kMostRows);
  for (const Finished &one : done) {
    const std::size_t from = one.tokens.size() - one.drawn.size();
    const auto expected = logProbabilitiesByTorch(config, parameters, one.tokens, from);
    const auto trained = trainer.logProbabilities(one.tokens, from);
    const auto inRounds = trainer.logProbabilitiesOfRounds(one.tokens, from);
    ASSERT_EQ(one.logProbabilities.size(), expected.size());
    for (std::size_t at = 0; at < expected.size(); ++at) {
      EXPECT_NEAR(one.logProbabilities[at], expected[at], tolerance);
      EXPECT_NEAR(one.logProbabilities[at], trained[at], tolerance);
      EXPECT_NEAR(one.logProbabilities[at], inRounds[at], tolerance);
    }
  }
  EXPECT_TRUE(run.fencesIntact());
}

} // namespace
} // namespace vime
