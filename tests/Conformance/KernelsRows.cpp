// Kernels that work on one row at a time: RMSNorm, SwiGLU, cross-entropy, embedding.
#include "tests/Conformance/KernelsFixture.h"

#include <cmath>
#include <string_view>

namespace vime {
namespace {

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
    Tensor y = tensor(tokens, width), yExpected = y, r = sums(1, tokens), rExpected = r;
    kernels().rmsNormForward(norm, x.matrix(), weight.data(), y.matrix(), r.data());
    reference().rmsNormForward(norm, x.matrix(), weight.data(), yExpected.matrix(),
                               rExpected.data());
    expectClose(y, yExpected, "y");
    expectClose(r, rExpected, "reciprocal");

    Tensor again = tensor(tokens, width);
    kernels().rmsNormApply(norm, x.matrix(), weight.data(), r.data(), again.matrix());
    EXPECT_EQ(again.bytes(), y.bytes());

    for (const ConstMatrix &addend : {kNoMatrix, residual.matrix()}) {
      Tensor dx = tensor(tokens, width), dxExpected = dx, dw = sums(1, width), dwExpected = dw;
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

TEST_P(KernelsConformance, ColumnSums) {
  for (const auto [tokens, width] : kRows) {
    const Tensor x = tensor(tokens, width).randomize(1);
    Tensor actual = sums(1, width).randomize(2), expected = actual;
    for (const bool accumulate : {true, false}) {
      kernels().columnSums(tokens, width, x.matrix(), accumulate, actual.data());
      reference().columnSums(tokens, width, x.matrix(), accumulate, expected.data());
      expectClose(actual, expected, accumulate ? "added to what is there" : "alone");
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
    const double values[] = {-0x1p13, 0, 0x1p13, 1, 1, 1};
    return values[column];
  });
  Tensor s = tensor(1, 3);
  kernels().swigluForward(1, 3, gateUp.matrix(), s.matrix());
  EXPECT_NEAR(s.get(0, 0), 0, 1e-30);
  EXPECT_EQ(s.get(0, 1), 0);
  EXPECT_EQ(s.get(0, 2), 0x1p13);
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
    EXPECT_NEAR(loss, lossExpected, toleranceOf(sumType()) * std::max(1., lossExpected));
  }
}

TEST_P(KernelsConformance, LogProbabilitiesAndSoftmaxWeights) {
  for (const auto [tokens, vocabulary] : kRows) {
    const Tensor logits = tensor(tokens, vocabulary).randomize(1, 12);
    std::vector<std::int32_t> labels;
    for (std::int64_t token = 0; token < tokens; ++token)
      labels.push_back(std::int32_t((token * 31) % vocabulary));
    std::vector<double> actual(std::size_t(tokens), 1), expected = actual;
    kernels().logProbabilities(tokens, vocabulary, logits.matrix(), labels.data(), actual.data());
    reference().logProbabilities(tokens, vocabulary, logits.matrix(), labels.data(),
                                 expected.data());
    for (std::size_t token = 0; token < actual.size(); ++token)
      EXPECT_NEAR(actual[token], expected[token],
                  toleranceOf(sumType()) * std::max(1., -expected[token]));

    for (const double scale : {1., 0.7, 3.}) {
      Tensor weights = sums(tokens, vocabulary), weightsExpected = weights;
      kernels().softmaxWeights(tokens, vocabulary, logits.matrix(), scale, weights.matrix());
      reference().softmaxWeights(tokens, vocabulary, logits.matrix(), scale,
                                 weightsExpected.matrix());
      expectClose(weights, weightsExpected, "weights");
    }
  }
}

TEST_P(KernelsConformance, ALogProbabilityIsTheLossOfItsRow) {
  const Tensor logits = tensor(9, 51).randomize(1, 12);
  for (std::int32_t token = 0; token < 9; ++token) {
    const std::int32_t label = token * 5;
    double found = 0;
    kernels().logProbabilities(1, 51, {const_cast<Tensor &>(logits).at(token, 0), logits.stride},
                               &label, &found);
    Tensor row = logits;
    const double loss =
        kernels().crossEntropy(1, 51, {row.at(token, 0), row.stride}, &label, /*scale=*/1);
    if (library() == KernelLibrary::Native)
      EXPECT_EQ(found, -loss);
    else
      EXPECT_NEAR(found, -loss, toleranceOf(sumType()) * 12);
  }
}

TEST_P(KernelsConformance, EntropiesAndSlopesOfLogProbabilities) {
  for (const auto [tokens, vocabulary] : kRows) {
    const Tensor logits = tensor(tokens, vocabulary).randomize(1, 12);
    std::vector<std::int32_t> labels;
    std::vector<double> byLogProbability, byEntropy;
    for (std::int64_t token = 0; token < tokens; ++token) {
      labels.push_back(token % 4 == 3 ? -100 : std::int32_t((token * 31) % vocabulary));
      byLogProbability.push_back(labels.back() < 0 ? NAN : 0.7 - 0.25 * double(token % 7));
      byEntropy.push_back(labels.back() < 0 ? NAN : 0.3 * double(token % 5) - 0.5);
    }
    std::vector<double> actual(std::size_t(tokens), -1), expected = actual;
    kernels().entropies(tokens, vocabulary, logits.matrix(), actual.data());
    reference().entropies(tokens, vocabulary, logits.matrix(), expected.data());
    for (std::size_t token = 0; token < actual.size(); ++token)
      EXPECT_NEAR(actual[token], expected[token], 3 * toleranceOf(sumType()));

    for (const bool hasEntropy : {false, true}) {
      const double *const ofEntropy = hasEntropy ? byEntropy.data() : nullptr;
      Tensor gradient = logits, gradientExpected = logits;
      kernels().logProbabilitiesBackward(tokens, vocabulary, gradient.matrix(), labels.data(),
                                         byLogProbability.data(), ofEntropy);
      reference().logProbabilitiesBackward(tokens, vocabulary, gradientExpected.matrix(),
                                           labels.data(), byLogProbability.data(), ofEntropy);
      expectClose(gradient, gradientExpected, "dLogits");
    }
  }
}

TEST_P(KernelsConformance, ALossIsALogProbabilityWithASlopeOfMinusOne) {
  const Tensor logits = tensor(9, 51).randomize(1, 12);
  const std::int32_t labels[] = {3, 50, -1, 0, 7, 8, -1, 9, 10};
  const std::vector<double> slopes(9, -0.25), none(9, 0.);
  Tensor loss = logits, slope = logits, both = logits;
  kernels().crossEntropy(9, 51, loss.matrix(), labels, 0.25);
  kernels().logProbabilitiesBackward(9, 51, slope.matrix(), labels, slopes.data(), nullptr);
  kernels().logProbabilitiesBackward(9, 51, both.matrix(), labels, slopes.data(), none.data());
  if (std::string_view(kernels().name()).starts_with("native")) {
    EXPECT_EQ(slope.bytes(), loss.bytes());
  }
  expectClose(slope, loss, "by log-probability");
  expectClose(both, loss, "by entropy with slope 0");
}

TEST_P(KernelsConformance, CrossEntropyOfHugeLogitsStaysFinite) {
  Tensor logits =
      tensor(1, 20).fill([](auto, std::int64_t word) { return word == 3 ? 0x1p14 : -0x1p14; });
  const std::int32_t label = 5;
  EXPECT_NEAR(kernels().crossEntropy(1, 20, logits.matrix(), &label, 1), 0x1p15, 1e-2);
  EXPECT_NEAR(logits.get(0, 3), 1, 1e-6);
  EXPECT_NEAR(logits.get(0, 5), -1, 1e-6);
}

TEST_P(KernelsConformance, NotANumberIsNotHidden) {
  const std::int32_t label = 1;
  Tensor logits = tensor(1, 20).randomize(1);
  logits.set(0, 17, NAN);
  double logProbability = 0;
  kernels().logProbabilities(1, 20, logits.matrix(), &label, &logProbability);
  EXPECT_TRUE(std::isnan(logProbability));
  double entropy = 0;
  kernels().entropies(1, 20, logits.matrix(), &entropy);
  EXPECT_TRUE(std::isnan(entropy));
  const double slope = 1;
  for (const double *byEntropy : {static_cast<const double *>(nullptr), &slope}) {
    Tensor gradient = logits;
    kernels().logProbabilitiesBackward(1, 20, gradient.matrix(), &label, &slope, byEntropy);
    EXPECT_TRUE(std::isnan(gradient.get(0, 3)));
  }
  EXPECT_TRUE(std::isnan(kernels().crossEntropy(1, 20, logits.matrix(), &label, 1)));

  Tensor gateUp = tensor(1, 40).randomize(1), s = tensor(1, 20);
  gateUp.set(0, 17, NAN);
  kernels().swigluForward(1, 20, gateUp.matrix(), s.matrix());
  EXPECT_TRUE(std::isnan(s.get(0, 17)));

  const Attention attention{1, 1, 4};
  const std::int32_t offsets[] = {0, 5};
  Tensor qkv = tensor(5, 12).randomize(2), out = tensor(5, 4), lse = sums(5, 1, 0);
  qkv.set(2, 5, NAN); // a key of token 2
  Workspace workspace(attentionWorkspace(type(), attention, 5, library()));
  kernels().attentionForward(attention, {offsets, 1}, {}, qkv.matrix(), out.matrix(), lse.data(),
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

  Tensor dTable = sums(11, 21, 0).randomize(3), dExpected = dTable;
  kernels().embeddingBackward(5, 21, ids.data(), dOut.matrix(), dTable.data());
  reference().embeddingBackward(5, 21, ids.data(), dOut.matrix(), dExpected.data());
  expectClose(dTable, dExpected, "dTable");
}

} // namespace
} // namespace vime
