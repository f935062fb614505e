// Backward kernels against finite differences of their forward kernels, in float64.
#include "kernels/Workspace.h"
#include "tests/Conformance/KernelsSuite.h"
#include "tests/Conformance/KernelsTensor.h"

#include <cmath>

#include <gtest/gtest.h>

namespace vime {
namespace {

class KernelsGradients : public testing::TestWithParam<KernelsUnderTest> {
protected:
  void SetUp() override {
    if (!GetParam().float64)
      GTEST_SKIP() << "this machine cannot run " << GetParam().name;
  }
  const Kernels &kernels() const { return *GetParam().float64; }
};

INSTANTIATE_TEST_SUITE_P(Kernels, KernelsGradients, testing::ValuesIn(kernelsUnderTest()),
                         [](const auto &info) { return info.param.name; });

Tensor tensor(std::int64_t rows, std::int64_t columns) {
  return Tensor(DataType::Float64, rows, columns);
}

/// Sum of all elements of both, multiplied one by one.
double dot(const Tensor &a, const Tensor &b) {
  double sum = 0;
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (std::int64_t column = 0; column < a.columns; ++column)
      sum += a.get(row, column) * b.get(row, column);
  return sum;
}

/// Moves each element of `x` both ways and compares the slope of loss(x) with `gradient`.
template <typename Loss>
void expectGradient(const Tensor &gradient, Tensor x, const Loss &loss, const char *what) {
  constexpr double kStep = 1e-5;
  for (std::int64_t row = 0; row < x.rows; ++row)
    for (std::int64_t column = 0; column < x.columns; ++column) {
      const double value = x.get(row, column);
      x.set(row, column, value + kStep);
      const double up = loss(x);
      x.set(row, column, value - kStep);
      const double down = loss(x);
      x.set(row, column, value);
      ASSERT_NEAR(gradient.get(row, column), (up - down) / (2 * kStep), 1e-8)
          << what << " at (" << row << ", " << column << ")";
    }
}

TEST_P(KernelsGradients, Attention) {
  const Attention attention{4, 2, 6};
  const std::int32_t offsets[] = {0, 3, 9};
  const Segments segments{offsets, 2};
  const Tensor qkv = tensor(9, attention.qkvWidth()).randomize(1),
               dOut = tensor(9, attention.queryWidth()).randomize(2);
  Tensor out = tensor(9, attention.queryWidth()), lse = tensor(9, attention.heads);
  Workspace workspace(attentionWorkspace(DataType::Float64, attention, 6, GetParam().library));
  const auto loss = [&](const Tensor &x) {
    kernels().attentionForward(attention, segments, {}, x.matrix(), out.matrix(), lse.data(),
                               workspace.poisoned());
    return dot(out, dOut);
  };
  loss(qkv);
  Tensor gradient = qkv;
  kernels().attentionBackward(attention, segments, {}, gradient.matrix(), out.matrix(),
                              dOut.matrix(), lse.data(), workspace.poisoned());
  expectGradient(gradient, qkv, loss, "qkv");
}

TEST_P(KernelsGradients, RmsNorm) {
  const RmsNorm norm{3, 20, 1e-5};
  const Tensor x = tensor(3, 20).randomize(1), weight = tensor(1, 20).randomize(2),
               dy = tensor(3, 20).randomize(3);
  Tensor y = tensor(3, 20), r = tensor(1, 3), dx = tensor(3, 20), dw = tensor(1, 20);
  const auto loss = [&](const Tensor &input, const Tensor &scale) {
    kernels().rmsNormForward(norm, input.matrix(), scale.data(), y.matrix(), r.data());
    return dot(y, dy);
  };
  loss(x, weight);
  kernels().rmsNormBackward(norm, x.matrix(), weight.data(), r.data(), dy.matrix(), kNoMatrix,
                            dx.matrix(), dw.data());
  expectGradient(dx, x, [&](const Tensor &moved) { return loss(moved, weight); }, "x");
  expectGradient(dw, weight, [&](const Tensor &moved) { return loss(x, moved); }, "weight");
}

TEST_P(KernelsGradients, SwiGlu) {
  const Tensor gateUp = tensor(2, 14).randomize(1, 3), ds = tensor(2, 7).randomize(2);
  Tensor s = tensor(2, 7), gradient = gateUp;
  const auto loss = [&](const Tensor &x) {
    kernels().swigluForward(2, 7, x.matrix(), s.matrix());
    return dot(s, ds);
  };
  kernels().swigluBackward(2, 7, gradient.matrix(), ds.matrix(), s.matrix());
  expectGradient(gradient, gateUp, loss, "gate, up");
}

TEST_P(KernelsGradients, CrossEntropy) {
  const std::int32_t labels[] = {4, -1, 0};
  const Tensor logits = tensor(3, 21).randomize(1, 3);
  const auto loss = [&](Tensor x) {
    return kernels().crossEntropy(3, 21, x.matrix(), labels, 1) * 0.125;
  };
  Tensor gradient = logits;
  kernels().crossEntropy(3, 21, gradient.matrix(), labels, 0.125);
  expectGradient(gradient, logits, loss, "logits");
}

TEST_P(KernelsGradients, LogProbabilitiesAndEntropies) {
  const std::int32_t labels[] = {4, 20, 0};
  const double byLogProbability[] = {0.5, -1.25, 0}, byEntropy[] = {0.125, 0, -0.75};
  const Tensor logits = tensor(3, 21).randomize(1, 3);
  const auto loss = [&](const Tensor &x) {
    double logProbabilities[3], entropies[3], sum = 0;
    kernels().logProbabilities(3, 21, x.matrix(), labels, logProbabilities);
    kernels().entropies(3, 21, x.matrix(), entropies);
    for (int token = 0; token < 3; ++token)
      sum +=
          byLogProbability[token] * logProbabilities[token] + byEntropy[token] * entropies[token];
    return sum;
  };
  Tensor gradient = logits;
  kernels().logProbabilitiesBackward(3, 21, gradient.matrix(), labels, byLogProbability, byEntropy);
  expectGradient(gradient, logits, loss, "logits");
}

TEST_P(KernelsGradients, RopeInverseIsItsGradient) {
  const std::int32_t offsets[] = {0, 5};
  const Segments segments{offsets, 1};
  Tensor table = tensor(5, 6);
  kernels().ropeTable(5, 6, 1e4, table.data());
  const Tensor x = tensor(5, 12).randomize(1), dy = tensor(5, 12).randomize(2);
  const auto loss = [&](Tensor moved) {
    kernels().rope(segments, 2, 6, table.data(), false, moved.matrix());
    return dot(moved, dy);
  };
  Tensor gradient = dy;
  kernels().rope(segments, 2, 6, table.data(), true, gradient.matrix());
  expectGradient(gradient, x, loss, "x");
}

} // namespace
} // namespace vime
