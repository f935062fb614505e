// Whom the suite judges, and the products: C = R + A · B in every form.
#include "tests/Conformance/KernelsFixture.h"

namespace vime {
namespace {

std::vector<KernelsCase> cases() {
  std::vector<KernelsCase> all;
  for (const KernelsUnderTest &one : kernelsUnderTest()) {
    all.push_back({one.name + "_float32", DataType::Float32, one.float32, one.library});
    all.push_back({one.name + "_float64", DataType::Float64, one.float64, one.library});
    if (one.bfloat16 || !one.float32)
      all.push_back({one.name + "_bfloat16", DataType::BFloat16, one.bfloat16, one.library});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelsConformance, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.name; });

struct Sizes {
  std::int64_t rows, columns, depth;
};

constexpr Sizes kProducts[] = {{1, 1, 1},     {1, 20, 20},    {7, 51, 20},
                               {15, 16, 33},  {14, 32, 64},   {33, 259, 20},
                               {29, 17, 300}, {128, 65, 129}, {120, 259, 530}};

TEST_P(KernelsConformance, LinearForward) {
  for (const auto [tokens, outputs, inputs] : kProducts) {
    const Tensor x = tensor(tokens, inputs).randomize(1),
                 w = tensor(outputs, inputs, 0).randomize(2),
                 residual = tensor(tokens, outputs, 5).randomize(3);
    Workspace workspace(linearWorkspace(type(), {tokens, inputs, outputs}, library()), 8);
    for (const ConstMatrix &addend : {kNoMatrix, residual.matrix()})
      for (const bool hasFewTokens : {false, true}) {
        Tensor actual = tensor(tokens, outputs), expected = actual;
        linearForward(kernels(), {tokens, inputs, outputs, hasFewTokens}, x.matrix(), w.data(),
                      addend, actual.matrix(), workspace.poisoned());
        linearForward(reference(), {tokens, inputs, outputs}, x.matrix(), w.data(), addend,
                      expected.matrix(), nullptr);
        expectClose(actual, expected, "y");
      }
  }
}

TEST_P(KernelsConformance, LinearForwardWithABias) {
  for (const auto [tokens, outputs, inputs] : kProducts) {
    const Tensor x = tensor(tokens, inputs).randomize(1),
                 w = tensor(outputs, inputs, 0).randomize(2),
                 bias = tensor(1, outputs).randomize(3);
    Workspace workspace(linearWorkspace(type(), {tokens, inputs, outputs}, library()), 8);
    Tensor actual = tensor(tokens, outputs), expected = actual;
    linearForward(kernels(), {tokens, inputs, outputs}, x.matrix(), w.data(), {bias.data(), 0},
                  actual.matrix(), workspace.poisoned());
    linearForward(reference(), {tokens, inputs, outputs}, x.matrix(), w.data(), {bias.data(), 0},
                  expected.matrix(), nullptr);
    expectClose(actual, expected, "y");
  }
}

TEST_P(KernelsConformance, LinearBackwardInput) {
  for (const auto [tokens, inputs, outputs] : kProducts) {
    const Tensor dy = tensor(tokens, outputs).randomize(1),
                 w = tensor(outputs, inputs, 0).randomize(2),
                 residual = tensor(tokens, inputs, 5).randomize(3);
    Workspace workspace(linearWorkspace(type(), {tokens, inputs, outputs}, library()));
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
    Workspace workspace(linearWorkspace(type(), {tokens, inputs, outputs}, library()), 16);
    Tensor actual = sums(outputs, inputs, 0), expected = actual;
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
  Workspace workspace(productWorkspace(type(), 35, 21, library()));
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
  Workspace workspace(productWorkspace(type(), 20, 0, library()));
  kernels().product(product, workspace.poisoned());
  EXPECT_EQ(distance(actual, tensor(5, 20).fill([](auto, auto) { return 0.; })), 0);
  product.residual = residual.matrix();
  kernels().product(product, workspace.poisoned());
  EXPECT_EQ(distance(actual, residual), 0);

  const Tensor gradient = sums(5, 20).randomize(3);
  Tensor sum = sums(5, 20);
  product.intoSums = true;
  product.residual = gradient.matrix();
  product.result = sum.matrix();
  kernels().product(product, workspace.poisoned());
  EXPECT_EQ(distance(sum, gradient), 0);
}

} // namespace
} // namespace vime
