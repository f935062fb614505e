// Whole vectors, AdamW, and first values.
#include "tests/Conformance/KernelsFixture.h"

#include <cmath>

namespace vime {
namespace {

TEST_P(KernelsConformance, Vectors) {
  for (const std::int64_t count : {1, 15, 16, 17, 1000}) {
    Tensor x = sums(1, count).randomize(1), expected = x;
    const Tensor y = sums(1, count).randomize(2);
    kernels().add(count, y.data(), x.data());
    kernels().scale(count, 0.3, x.data());
    reference().add(count, y.data(), expected.data());
    reference().scale(count, 0.3, expected.data());
    expectClose(x, expected, "(x + y) · 0.3");
    kernels().fill(count, 1.5, x.data());
    EXPECT_EQ(x.get(0, count - 1), 1.5);
    EXPECT_TRUE(x.gapsIntact());

    Tensor rounded = tensor(1, count), roundedExpected = rounded;
    kernels().round(count, y.data(), rounded.data());
    reference().round(count, y.data(), roundedExpected.data());
    EXPECT_EQ(rounded.bytes(), roundedExpected.bytes());
    EXPECT_TRUE(rounded.gapsIntact());
  }
}

TEST_P(KernelsConformance, AdamW) {
  const std::int64_t count = 37;
  Tensor p = sums(1, count).randomize(1), m = sums(1, count).fill([](auto, auto) { return 0.; }),
         v = m, pExpected = p, mExpected = m, vExpected = v;
  Tensor rounded = tensor(1, count), again = rounded;
  for (int step = 1; step <= 5; ++step) {
    const Tensor g = sums(1, count).randomize(std::uint64_t(10 + step));
    const AdamW adamw{.learningRate = 1e-2,
                      .weightDecay = 0.1,
                      .beta1 = 0.9,
                      .beta2 = 0.95,
                      .epsilon = 1e-8,
                      .biasCorrection1 = 1 - std::pow(0.9, step),
                      .biasCorrection2 = 1 - std::pow(0.95, step),
                      .gradientScale = 0.5};
    kernels().adamw(adamw, count, g.data(), p.data(), m.data(), v.data(),
                    step % 2 ? rounded.data() : nullptr);
    reference().adamw(adamw, count, g.data(), pExpected.data(), mExpected.data(), vExpected.data(),
                      nullptr);
  }
  expectClose(p, pExpected, "parameters");
  expectClose(m, mExpected, "first moment");
  expectClose(v, vExpected, "second moment");
  kernels().round(count, p.data(), again.data());
  EXPECT_EQ(rounded.bytes(), again.bytes());
  EXPECT_TRUE(rounded.gapsIntact());
}

TEST_P(KernelsConformance, InitializerIsOneSequencePerTensor) {
  for (const auto kind : {Initializer::Kind::Normal, Initializer::Kind::Uniform}) {
    const Initializer one{kind, 0.5, 0.02, 7, tensorKey("layers.0.qkv", 12)};
    Tensor whole = sums(1, 1001), expected = whole;
    kernels().initialize(one, 0, 1001, whole.data());
    reference().initialize(one, 0, 1001, expected.data());
    expectClose(whole, expected, "values");

    Tensor part = sums(1, 44);
    kernels().initialize(one, 333, 44, part.data());
    for (std::int64_t at = 0; at < 44; ++at)
      ASSERT_EQ(part.get(0, at), whole.get(0, 333 + at));

    Initializer other = one;
    other.tensor = tensorKey("layers.1.qkv", 12);
    Tensor different = sums(1, 44);
    kernels().initialize(other, 333, 44, different.data());
    EXPECT_NE(different.get(0, 0), part.get(0, 0));
  }
}

TEST_P(KernelsConformance, InitializerIsNormal) {
  const std::int64_t count = 100000;
  Tensor x = sums(1, count);
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
