// The workspaces that a plan reserves for the LibTorch kernels hold what these allocate, over
// shapes drawn at random: each call runs in exactly that much, and throws where it asks for more.
#include <random>

#include <gtest/gtest.h>

#include "kernels/LibTorch/LibTorchKernels.h"
#include "kernels/Workspace.h"
#include "tests/Conformance/KernelsTensor.h"

namespace vime {
namespace {

class LibTorchWorkspace : public testing::TestWithParam<DataType> {
protected:
  const Kernels &kernels() const { return *libTorchKernels(GetParam()); }
  std::int64_t upTo(std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(1, most)(dice);
  }
  Tensor tensor(std::int64_t rows, std::int64_t columns) {
    return Tensor(GetParam(), rows, columns, upTo(4) - 1).randomize(1);
  }
  std::mt19937_64 dice{7};
};

INSTANTIATE_TEST_SUITE_P(Types, LibTorchWorkspace,
                         testing::Values(DataType::Float32, DataType::Float64),
                         [](const auto &info) { return nameOf(info.param); });

TEST_P(LibTorchWorkspace, OfAttention) {
  for (int round = 0; round < 40; ++round) {
    const auto sharers = std::int32_t(upTo(3)), shared = std::int32_t(upTo(3));
    const Attention attention{sharers * shared, shared, std::int32_t(upTo(80))};
    const auto longest = std::int32_t(upTo(round % 8 == 0 ? 900 : 100));
    const std::int32_t offsets[] = {0, longest / 2, longest / 2, longest / 2 + longest};
    const Segments segments{offsets, 3};
    SCOPED_TRACE(testing::Message() << attention.heads << " heads, " << shared << " of keys, width "
                                    << attention.headWidth << ", " << longest << " tokens");
    Workspace workspace(attentionWorkspace(GetParam(), attention, longest, KernelLibrary::LibTorch),
                        8);
    Tensor qkv = tensor(segments.tokens(), attention.qkvWidth()),
           out = tensor(segments.tokens(), attention.queryWidth()),
           lse = Tensor(GetParam(), segments.tokens(), attention.heads);
    kernels().attentionForward(attention, segments, {}, qkv.matrix(), out.matrix(), lse.data(),
                               workspace.poisoned());
    kernels().attentionBackward(attention, segments, {}, qkv.matrix(), out.matrix(), out.matrix(),
                                lse.data(), workspace.poisoned());
  }
}

TEST_P(LibTorchWorkspace, OfAttentionWithACache) {
  for (int round = 0; round < 40; ++round) {
    const auto sharers = std::int32_t(upTo(3)), shared = std::int32_t(upTo(3));
    const Attention attention{sharers * shared, shared, std::int32_t(upTo(80))};
    const std::int64_t before = upTo(round % 8 == 0 ? 900 : 100), tokens = upTo(20);
    SCOPED_TRACE(testing::Message() << attention.heads << " heads, " << shared << " of keys, width "
                                    << attention.headWidth << ", " << before << " + " << tokens);
    Workspace workspace(attentionWithCacheWorkspace(GetParam(), attention, before + tokens,
                                                    KernelLibrary::LibTorch),
                        8),
        cache(keyValueCacheBytes(GetParam(), attention, before + tokens), 8);
    Tensor qkv = tensor(before + tokens, attention.qkvWidth()),
           out = tensor(before + tokens, attention.queryWidth());
    const KeyValueCache keyValues{cache.poisoned(), before + tokens};
    kernels().attentionWithCache(attention, 0, before, qkv.matrix(), keyValues, out.matrix(),
                                 workspace.poisoned());
    kernels().attentionWithCache(attention, before, tokens, {qkv.at(before, 0), qkv.stride},
                                 keyValues, {out.at(before, 0), out.stride}, workspace.poisoned());
  }
}

TEST_P(LibTorchWorkspace, OfProducts) {
  for (int round = 0; round < 40; ++round) {
    const Linear linear{upTo(200), upTo(300), upTo(300)};
    Workspace workspace(linearWorkspace(GetParam(), linear, KernelLibrary::LibTorch));
    Tensor x = tensor(linear.tokens, linear.inputs), y = tensor(linear.tokens, linear.outputs),
           weight = Tensor(GetParam(), linear.outputs, linear.inputs).randomize(2);
    const Tensor residual = tensor(linear.tokens, linear.outputs);
    linearForward(kernels(), linear, x.matrix(), weight.data(), residual.matrix(), y.matrix(),
                  workspace.poisoned());
    linearBackwardInput(kernels(), linear, y.matrix(), weight.data(), kNoMatrix, x.matrix(),
                        workspace.poisoned());
    linearBackwardWeight(kernels(), linear, y.matrix(), x.matrix(), true, weight.data(),
                         workspace.poisoned());
  }
}

/// Rows wider than a temporary are taken in parts.
TEST_P(LibTorchWorkspace, OfTheThreadForWideRows) {
  const std::int64_t width = 150000;
  const Tensor x = tensor(2, width), weight = Tensor(GetParam(), 1, width).randomize(3);
  Tensor y = tensor(2, width), reciprocal(GetParam(), 1, 2), sums(GetParam(), 1, width);
  kernels().rmsNormForward({2, width, 1e-5}, x.matrix(), weight.data(), y.matrix(),
                           reciprocal.data());
  kernels().rmsNormBackward({2, width, 1e-5}, x.matrix(), weight.data(), reciprocal.data(),
                            y.matrix(), x.matrix(), y.matrix(), sums.data());
  Tensor gateUp = tensor(2, 2 * width), s = tensor(2, width);
  kernels().swigluForward(2, width, gateUp.matrix(), s.matrix());
  kernels().swigluBackward(2, width, gateUp.matrix(), x.matrix(), s.matrix());
  kernels().columnSums(2, width, x.matrix(), true, sums.data());
  Tensor logits = tensor(2, width);
  const std::int32_t labels[] = {0, 149999};
  double logProbabilities[2];
  Tensor weights = tensor(2, width);
  kernels().logProbabilities(2, width, logits.matrix(), labels, logProbabilities);
  kernels().softmaxWeights(2, width, logits.matrix(), 0.5, weights.matrix());
  kernels().entropies(2, width, logits.matrix(), logProbabilities);
  const double slopes[] = {1, -1};
  Tensor gradient = logits;
  kernels().logProbabilitiesBackward(2, width, gradient.matrix(), labels, slopes, nullptr);
  gradient = logits;
  kernels().logProbabilitiesBackward(2, width, gradient.matrix(), labels, slopes, slopes);
  kernels().crossEntropy(2, width, logits.matrix(), labels, 1);
}

} // namespace
} // namespace vime
