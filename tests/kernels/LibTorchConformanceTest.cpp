// The kernels by LibTorch before the suite of all implementations.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "kernels/LibTorch/LibTorchKernels.h"
#include "kernels/LibTorch/Loan.h"
#include "kernels/Reference/ReferenceKernels.h"
#include "kernels/Workspace.h"
#include "tests/Conformance/KernelsSuite.h"
#include "tests/Conformance/KernelsTensor.h"

namespace vime {

std::vector<KernelsUnderTest> kernelsUnderTest() {
  at::set_num_threads(1);
  lendToLibTorch();
  return {{.name = "libtorch",
           .float32 = libTorchKernels(DataType::Float32),
           .float64 = libTorchKernels(DataType::Float64),
           .library = KernelLibrary::LibTorch}};
}

namespace {

/// As a stage has them: without gaps, with every kind of residual.
TEST(LibTorchProducts, OfALayer) {
  kernelsUnderTest();
  const Kernels &kernels = *libTorchKernels(DataType::Float32);
  const Kernels &reference = *referenceKernels(DataType::Float32);
  constexpr Linear kLinear{300, 96, 112};
  const auto tensor = [](std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
    return Tensor(DataType::Float32, rows, columns).randomize(seed);
  };
  const Tensor x = tensor(kLinear.tokens, kLinear.inputs, 1),
               dy = tensor(kLinear.tokens, kLinear.outputs, 2),
               weight = tensor(kLinear.outputs, kLinear.inputs, 3), bias = tensor(1, 112, 4);
  Workspace workspace(linearWorkspace(DataType::Float32, kLinear, KernelLibrary::LibTorch));
  const auto compare = [&](Tensor start, const char *what, const auto &body) {
    Tensor expected = start;
    body(kernels, start, workspace.poisoned());
    body(reference, expected, nullptr);
    EXPECT_LE(distance(start, expected), 2e-6) << what;
  };
  for (const ConstMatrix &residual : {kNoMatrix, dy.matrix(), ConstMatrix(bias.data(), 0)})
    compare(tensor(kLinear.tokens, kLinear.outputs, 5), "y",
            [&](const Kernels &with, Tensor &y, void *at) {
              linearForward(with, kLinear, x.matrix(), weight.data(), residual, y.matrix(), at);
            });
  compare(tensor(kLinear.tokens, kLinear.inputs, 6), "dx, added to what is there",
          [&](const Kernels &with, Tensor &dx, void *at) {
            linearBackwardInput(with, kLinear, dy.matrix(), weight.data(), dx.matrix(), dx.matrix(),
                                at);
          });
  for (const bool accumulate : {false, true})
    compare(tensor(kLinear.outputs, kLinear.inputs, 7), "dWeight",
            [&](const Kernels &with, Tensor &dWeight, void *at) {
              linearBackwardWeight(with, kLinear, dy.matrix(), x.matrix(), accumulate,
                                   dWeight.data(), at);
            });
}

} // namespace
} // namespace vime
