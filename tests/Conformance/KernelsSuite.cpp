// Each kernel against the reference. Tolerances are relative to the largest expected element: what
// is met today is below a third of them.
#include "tests/Conformance/KernelsSuite.h"

#include "kernels/Reference/ReferenceKernels.h"
#include "kernels/Workspace.h"
#include "tests/Conformance/KernelsTensor.h"

#include <cmath>

#include <gtest/gtest.h>

namespace vime {
namespace {

struct Case {
  std::string name;
  DataType type;
  const Kernels *kernels;
};

void PrintTo(const Case &one, std::ostream *out) { *out << one.name; }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const KernelsUnderTest &one : kernelsUnderTest()) {
    all.push_back({one.name + "_float32", DataType::Float32, one.float32});
    all.push_back({one.name + "_float64", DataType::Float64, one.float64});
  }
  return all;
}

class KernelsConformance : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    if (!GetParam().kernels)
      GTEST_SKIP() << "this machine cannot run " << GetParam().name;
  }
  const Kernels &kernels() const { return *GetParam().kernels; }
  const Kernels &reference() const { return *referenceKernels(type()); }
  DataType type() const { return GetParam().type; }
  double tolerance() const { return type() == DataType::Float32 ? 2e-6 : 2e-14; }

  Tensor tensor(std::int64_t rows, std::int64_t columns, std::int64_t gap = 3) const {
    return Tensor(type(), rows, columns, gap, 1);
  }
  void expectClose(const Tensor &actual, const Tensor &expected, const char *what) const {
    EXPECT_LE(distance(actual, expected), tolerance()) << what;
    EXPECT_TRUE(actual.gapsIntact()) << what << ": wrote between rows";
  }
};

INSTANTIATE_TEST_SUITE_P(Kernels, KernelsConformance, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.name; });

// --- Products ---

struct Sizes {
  std::int64_t rows, columns, depth;
};

constexpr Sizes kProducts[] = {{1, 1, 1},    {1, 20, 20},   {7, 51, 20},   {15, 16, 33},
                               {14, 32, 64}, {33, 259, 20}, {29, 17, 300}, {128, 65, 129}};

TEST_P(KernelsConformance, LinearForward) {
  for (const auto [tokens, outputs, inputs] : kProducts) {
    const Tensor x = tensor(tokens, inputs).randomize(1),
                 w = tensor(outputs, inputs, 0).randomize(2),
                 residual = tensor(tokens, outputs, 5).randomize(3);
    Workspace workspace(linearWorkspace(type(), {tokens, inputs, outputs}), 8);
    for (const ConstMatrix &addend : {kNoMatrix, residual.matrix()}) {
      Tensor actual = tensor(tokens, outputs), expected = actual;
      linearForward(kernels(), {tokens, inputs, outputs}, x.matrix(), w.data(), addend,
                    actual.matrix(), workspace.poisoned());
      linearForward(reference(), {tokens, inputs, outputs}, x.matrix(), w.data(), addend,
                    expected.matrix(), nullptr);
      expectClose(actual, expected, "y");
    }
  }
}

TEST_P(KernelsConformance, LinearBackwardInput) {
  for (const auto [tokens, inputs, outputs] : kProducts) {
    const Tensor dy = tensor(tokens, outputs).randomize(1),
                 w = tensor(outputs, inputs, 0).randomize(2),
                 residual = tensor(tokens, inputs, 5).randomize(3);
    Workspace workspace(linearWorkspace(type(), {tokens, inputs, outputs}));
    for (const ConstMatrix &addend : {kNoMatrix, residual.matrix()}) {
      Tensor actual = tensor(tokens, inputs), expected = actual;
      linearBackwardInput(kernels(), {tokens, inputs, outputs}, dy.matrix(), w.data(), addend,
                          actual.matrix(), workspace.poisoned());
      linearBackwardInput(reference(), {tokens, inputs, outputs}, dy.matrix(), w.data(), addend,
                          expected.matrix(), nullptr);
      expectClose(actual, expected, "dx");
    }
  }
}

TEST_P(KernelsConformance, LinearBackwardWeight) {
  for (const auto [outputs, inputs, tokens] : kProducts) {
    const Tensor dy = tensor(tokens, outputs).randomize(1), x = tensor(tokens, inputs).randomize(2);
    Workspace workspace(linearWorkspace(type(), {tokens, inputs, outputs}), 16);
    Tensor actual = tensor(outputs, inputs, 0), expected = actual;
    for (bool accumulate : {false, true}) {
      linearBackwardWeight(kernels(), {tokens, inputs, outputs}, dy.matrix(), x.matrix(),
                           accumulate, actual.data(), workspace.poisoned());
      linearBackwardWeight(reference(), {tokens, inputs, outputs}, dy.matrix(), x.matrix(),
                           accumulate, expected.data(), nullptr);
      expectClose(actual, expected, "dWeight");
    }
  }
}

TEST_P(KernelsConformance, ProductWithNoUnitStride) {
  // Rows and columns of both factors are every other element of a larger matrix.
  const Tensor a = tensor(2 * 9, 2 * 21, 0).randomize(1),
               b = tensor(2 * 21, 2 * 35, 0).randomize(2);
  Tensor actual = tensor(9, 35), expected = actual;
  Product product{.rows = 9,
                  .columns = 35,
                  .depth = 21,
                  .a = {a.data(), 2 * a.stride, 2},
                  .b = {b.data(), 2 * b.stride, 2},
                  .result = actual.matrix()};
  Workspace workspace(productWorkspace(type(), 35, 21));
  kernels().product(product, workspace.poisoned());
  product.result = expected.matrix();
  reference().product(product, nullptr);
  expectClose(actual, expected, "c");
}

TEST_P(KernelsConformance, ProductOfDepthZeroIsTheResidual) {
  // The weight gradient of an empty microbatch.
  const Tensor residual = tensor(5, 20).randomize(1);
  Tensor actual = tensor(5, 20).randomize(2);
  Product product{.rows = 5, .columns = 20, .depth = 0, .result = actual.matrix()};
  Workspace workspace(productWorkspace(type(), 20, 0));
  kernels().product(product, workspace.poisoned());
  EXPECT_EQ(distance(actual, tensor(5, 20).fill([](auto, auto) { return 0.; })), 0);
  product.residual = residual.matrix();
  kernels().product(product, workspace.poisoned());
  EXPECT_EQ(distance(actual, residual), 0);
}

// --- Rows ---

struct Rows {
  std::int64_t tokens, width;
};

constexpr Rows kRows[] = {{0, 20}, {1, 1}, {1, 20}, {7, 5}, {7, 16}, {13, 51}, {33, 100}, {3, 259}};

TEST_P(KernelsConformance, RmsNorm) {
  for (const auto [tokens, width] : kRows) {
    const RmsNorm norm{tokens, width, 1e-5};
    const Tensor x = tensor(tokens, width).randomize(1), weight = tensor(1, width).randomize(2),
                 dy = tensor(tokens, width, 1).randomize(3),
                 residual = tensor(tokens, width, 2).randomize(4);
    Tensor y = tensor(tokens, width), yExpected = y, r = tensor(1, tokens), rExpected = r;
    kernels().rmsNormForward(norm, x.matrix(), weight.data(), y.matrix(), r.data());
    reference().rmsNormForward(norm, x.matrix(), weight.data(), yExpected.matrix(),
                               rExpected.data());
    expectClose(y, yExpected, "y");
    expectClose(r, rExpected, "reciprocal");

    Tensor again = tensor(tokens, width);
    kernels().rmsNormApply(norm, x.matrix(), weight.data(), r.data(), again.matrix());
    EXPECT_EQ(again.bytes(), y.bytes());

    for (const ConstMatrix &addend : {kNoMatrix, residual.matrix()}) {
      Tensor dx = tensor(tokens, width), dxExpected = dx, dw = tensor(1, width), dwExpected = dw;
      kernels().rmsNormBackward(norm, x.matrix(), weight.data(), r.data(), dy.matrix(), addend,
                                dx.matrix(), dw.data());
      reference().rmsNormBackward(norm, x.matrix(), weight.data(), rExpected.data(), dy.matrix(),
                                  addend, dxExpected.matrix(), dwExpected.data());
      if (width > 1) // else y is ±weight and dx nothing but rounding
        expectClose(dx, dxExpected, "dx");
      expectClose(dw, dwExpected, "dWeight");

      Tensor inPlace = dy;
      kernels().rmsNormBackward(norm, x.matrix(), weight.data(), r.data(), inPlace.matrix(), addend,
                                inPlace.matrix(), dw.data());
      EXPECT_EQ(inPlace.bytes(), dx.bytes()) << "dx in the place of dy";
    }
  }
}

TEST_P(KernelsConformance, SwiGlu) {
  for (const auto [tokens, ffn] : kRows) {
    const Tensor gateUp = tensor(tokens, 2 * ffn).randomize(1, 6),
                 ds = tensor(tokens, ffn).randomize(2);
    Tensor s = tensor(tokens, ffn), sExpected = s;
    kernels().swigluForward(tokens, ffn, gateUp.matrix(), s.matrix());
    reference().swigluForward(tokens, ffn, gateUp.matrix(), sExpected.matrix());
    expectClose(s, sExpected, "s");

    Tensor dGateUp = gateUp, dExpected = gateUp, again = ds;
    kernels().swigluBackward(tokens, ffn, dGateUp.matrix(), again.matrix(), again.matrix());
    reference().swigluBackward(tokens, ffn, dExpected.matrix(), ds.matrix(), sExpected.matrix());
    expectClose(dGateUp, dExpected, "gradient of gate, up");
    expectClose(again, s, "s again, in the place of ds");
  }
}

TEST_P(KernelsConformance, SwiGluFarFromZero) {
  Tensor gateUp = tensor(1, 6).fill([](auto, std::int64_t column) {
    const double values[] = {-1e4, 0, 1e4, 1, 1, 1};
    return values[column];
  });
  Tensor s = tensor(1, 3);
  kernels().swigluForward(1, 3, gateUp.matrix(), s.matrix());
  EXPECT_NEAR(s.get(0, 0), 0, 1e-30);
  EXPECT_EQ(s.get(0, 1), 0);
  EXPECT_EQ(s.get(0, 2), 1e4);
}

TEST_P(KernelsConformance, CrossEntropy) {
  for (const auto [tokens, vocabulary] : kRows) {
    const Tensor logits = tensor(tokens, vocabulary).randomize(1, 12);
    std::vector<std::int32_t> labels;
    for (std::int64_t token = 0; token < tokens; ++token)
      labels.push_back(token % 4 == 3 ? -100 : std::int32_t((token * 31) % vocabulary));
    Tensor actual = logits, expected = logits;
    const double loss =
        kernels().crossEntropy(tokens, vocabulary, actual.matrix(), labels.data(), 0.25);
    const double lossExpected =
        reference().crossEntropy(tokens, vocabulary, expected.matrix(), labels.data(), 0.25);
    expectClose(actual, expected, "dLogits");
    EXPECT_NEAR(loss, lossExpected, tolerance() * std::max(1., lossExpected));
  }
}

TEST_P(KernelsConformance, CrossEntropyOfHugeLogitsStaysFinite) {
  Tensor logits =
      tensor(1, 20).fill([](auto, std::int64_t word) { return word == 3 ? 2e4 : -2e4; });
  const std::int32_t label = 5;
  EXPECT_NEAR(kernels().crossEntropy(1, 20, logits.matrix(), &label, 1), 4e4, 1e-2);
  EXPECT_NEAR(logits.get(0, 3), 1, 1e-6);
  EXPECT_NEAR(logits.get(0, 5), -1, 1e-6);
}

TEST_P(KernelsConformance, NotANumberIsNotHidden) {
  const std::int32_t label = 1;
  Tensor logits = tensor(1, 20).randomize(1);
  logits.set(0, 17, NAN);
  EXPECT_TRUE(std::isnan(kernels().crossEntropy(1, 20, logits.matrix(), &label, 1)));

  Tensor gateUp = tensor(1, 40).randomize(1), s = tensor(1, 20);
  gateUp.set(0, 17, NAN);
  kernels().swigluForward(1, 20, gateUp.matrix(), s.matrix());
  EXPECT_TRUE(std::isnan(s.get(0, 17)));

  const Attention attention{1, 1, 4};
  const std::int32_t offsets[] = {0, 5};
  Tensor qkv = tensor(5, 12).randomize(2), out = tensor(5, 4), lse = tensor(5, 1, 0);
  qkv.set(2, 5, NAN); // a key of token 2
  Workspace workspace(attentionWorkspace(type(), attention, 5));
  kernels().attentionForward(attention, {offsets, 1}, qkv.matrix(), out.matrix(), lse.data(),
                             workspace.poisoned());
  EXPECT_FALSE(std::isnan(out.get(1, 0)));
  EXPECT_TRUE(std::isnan(out.get(2, 0)));
  EXPECT_TRUE(std::isnan(out.get(4, 3)));
}

TEST_P(KernelsConformance, Embedding) {
  const std::vector<std::int32_t> ids = {3, 0, 3, 10, 3};
  const Tensor table = tensor(11, 21, 0).randomize(1), dOut = tensor(5, 21).randomize(2);
  Tensor out = tensor(5, 21), expected = out;
  kernels().embeddingForward(5, 21, table.data(), ids.data(), out.matrix());
  reference().embeddingForward(5, 21, table.data(), ids.data(), expected.matrix());
  EXPECT_EQ(out.bytes(), expected.bytes());
  EXPECT_TRUE(out.gapsIntact());

  Tensor dTable = tensor(11, 21, 0).randomize(3), dExpected = dTable;
  kernels().embeddingBackward(5, 21, ids.data(), dOut.matrix(), dTable.data());
  reference().embeddingBackward(5, 21, ids.data(), dOut.matrix(), dExpected.data());
  expectClose(dTable, dExpected, "dTable");
}

// --- Positions and attention ---

TEST_P(KernelsConformance, RopeTable) {
  for (const std::int32_t width : {2, 6, 8, 32, 128})
    for (const double theta : {1e4, 5e5}) {
      Tensor table = tensor(700, width, 0), expected = table;
      kernels().ropeTable(700, width, theta, table.data());
      reference().ropeTable(700, width, theta, expected.data());
      expectClose(table, expected, "cosines and sines");
    }
}

TEST_P(KernelsConformance, RopeCountsFromTheStartOfEachSegment) {
  const std::vector<std::int32_t> offsets = {0, 3, 3, 10};
  const Segments segments{offsets.data(), 3};
  for (const std::int32_t width : {2, 6, 8, 32}) {
    Tensor table = tensor(7, width, 0);
    reference().ropeTable(7, width, 1e4, table.data());
    const Tensor x = tensor(10, 4 * width).randomize(1);
    Tensor actual = x, expected = x;
    kernels().rope(segments, 3, width, table.data(), false, actual.matrix());
    reference().rope(segments, 3, width, table.data(), false, expected.matrix());
    expectClose(actual, expected, "rotated"); // the fourth head is left alone
    EXPECT_EQ(actual.get(3, 0), x.get(3, 0)) << "position 0 is not rotated";

    kernels().rope(segments, 3, width, table.data(), true, actual.matrix());
    expectClose(actual, x, "rotated back");
  }
}

struct AttentionCase {
  Attention attention;
  std::vector<std::int32_t> offsets;
};

// Heads below, at and above a vector and a panel of either build; segments around every block.
const std::vector<AttentionCase> kAttention = {
    {{1, 1, 2}, {0, 1}},        {{2, 2, 8}, {0, 7, 7, 24}},    {{4, 2, 5}, {0, 31, 64, 97}},
    {{3, 1, 16}, {0, 33, 35}},  {{2, 1, 20}, {0, 45}},         {{2, 2, 32}, {0, 130, 135}},
    {{1, 1, 33}, {0, 40, 41}},  {{2, 1, 64}, {0, 17, 17, 70}}, {{1, 1, 130}, {0, 20}},
    {{4, 1, 8}, {0, 300, 301}}, {{1, 1, 12}, {0, 520}}};

TEST_P(KernelsConformance, Attention) {
  for (const auto &[attention, offsets] : kAttention) {
    SCOPED_TRACE(testing::Message() << attention.heads << " heads, " << attention.keyValueHeads
                                    << " key-value heads, width " << attention.headWidth
                                    << ", tokens " << offsets.back());
    const Segments segments{offsets.data(), std::int32_t(offsets.size()) - 1};
    const std::int64_t tokens = segments.tokens();
    const Tensor qkv = tensor(tokens, attention.qkvWidth()).randomize(1, 2),
                 dOut = tensor(tokens, attention.queryWidth(), 1).randomize(2);
    Tensor out = tensor(tokens, attention.queryWidth()), outExpected = out;
    Tensor lse = tensor(tokens, attention.heads, 0), lseExpected = lse;
    std::int64_t longest = 0;
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
      longest = std::max<std::int64_t>(longest, offsets[s + 1] - offsets[s]);
    Workspace workspace(attentionWorkspace(type(), attention, longest), 8);

    kernels().attentionForward(attention, segments, qkv.matrix(), out.matrix(), lse.data(),
                               workspace.poisoned());
    reference().attentionForward(attention, segments, qkv.matrix(), outExpected.matrix(),
                                 lseExpected.data(), nullptr);
    expectClose(out, outExpected, "out");
    expectClose(lse, lseExpected, "lse");

    Tensor gradient = qkv, expected = qkv;
    kernels().attentionBackward(attention, segments, gradient.matrix(), out.matrix(), dOut.matrix(),
                                lse.data(), workspace.poisoned());
    reference().attentionBackward(attention, segments, expected.matrix(), outExpected.matrix(),
                                  dOut.matrix(), lseExpected.data(), nullptr);
    expectClose(gradient, expected, "dq, dk, dv");
  }
}

// --- Vectors ---

TEST_P(KernelsConformance, Vectors) {
  for (const std::int64_t count : {1, 15, 16, 17, 1000}) {
    Tensor x = tensor(1, count).randomize(1), expected = x;
    const Tensor y = tensor(1, count).randomize(2);
    const double squares = reference().sumOfSquares(count, x.data());
    EXPECT_NEAR(kernels().sumOfSquares(count, x.data()), squares, 1e-13 * squares);
    kernels().add(count, y.data(), x.data());
    kernels().scale(count, 0.3, x.data());
    reference().add(count, y.data(), expected.data());
    reference().scale(count, 0.3, expected.data());
    expectClose(x, expected, "(x + y) · 0.3");
    kernels().fill(count, 1.5, x.data());
    EXPECT_EQ(x.get(0, count - 1), 1.5);
    EXPECT_TRUE(x.gapsIntact());
  }
}

TEST_P(KernelsConformance, AdamW) {
  const std::int64_t count = 37;
  Tensor p = tensor(1, count).randomize(1),
         m = tensor(1, count).fill([](auto, auto) { return 0.; }), v = m, pExpected = p,
         mExpected = m, vExpected = v;
  for (int step = 1; step <= 5; ++step) {
    const Tensor g = tensor(1, count).randomize(std::uint64_t(10 + step));
    const AdamW adamw{.learningRate = 1e-2,
                      .weightDecay = 0.1,
                      .beta1 = 0.9,
                      .beta2 = 0.95,
                      .epsilon = 1e-8,
                      .biasCorrection1 = 1 - std::pow(0.9, step),
                      .biasCorrection2 = 1 - std::pow(0.95, step),
                      .gradientScale = 0.5};
    kernels().adamw(adamw, count, g.data(), p.data(), m.data(), v.data());
    reference().adamw(adamw, count, g.data(), pExpected.data(), mExpected.data(), vExpected.data());
  }
  expectClose(p, pExpected, "parameters");
  expectClose(m, mExpected, "first moment");
  expectClose(v, vExpected, "second moment");
}

TEST_P(KernelsConformance, InitializerIsOneSequencePerTensor) {
  for (const auto kind : {Initializer::Kind::Normal, Initializer::Kind::Uniform}) {
    const Initializer one{kind, 0.5, 0.02, 7, tensorKey("layers.0.qkv", 12)};
    Tensor whole = tensor(1, 1001), expected = whole;
    kernels().initialize(one, 0, 1001, whole.data());
    reference().initialize(one, 0, 1001, expected.data());
    expectClose(whole, expected, "values");

    Tensor part = tensor(1, 44);
    kernels().initialize(one, 333, 44, part.data());
    for (std::int64_t at = 0; at < 44; ++at)
      ASSERT_EQ(part.get(0, at), whole.get(0, 333 + at));

    Initializer other = one;
    other.tensor = tensorKey("layers.1.qkv", 12);
    Tensor different = tensor(1, 44);
    kernels().initialize(other, 333, 44, different.data());
    EXPECT_NE(different.get(0, 0), part.get(0, 0));
  }
}

TEST_P(KernelsConformance, InitializerIsNormal) {
  const std::int64_t count = 100000;
  Tensor x = tensor(1, count);
  kernels().initialize({Initializer::Kind::Normal, 0, 1, 1, 2}, 0, count, x.data());
  double mean = 0, square = 0, beyondTwo = 0;
  for (std::int64_t at = 0; at < count; ++at) {
    const double value = x.get(0, at);
    mean += value / double(count);
    square += value * value / double(count);
    beyondTwo += (std::abs(value) > 2) / double(count);
  }
  EXPECT_NEAR(mean, 0, 0.012);   // 4 standard errors
  EXPECT_NEAR(square, 1, 0.018); // 4 standard errors
  EXPECT_NEAR(beyondTwo, 0.0455, 3e-3);
}

} // namespace
} // namespace vime
