// C = R + A · B: packs B into panels, then runs the register tile over them.
#include "kernels/Cpu/CpuKernels.h"
#include "kernels/Cpu/Gemm.h"
#include "kernels/Cpu/Scratch.h"
#include "kernels/Cpu/WidenedProduct.h"

#include <type_traits>

namespace vime::ISA {
namespace {

template <typename T, int Vectors> void multiplyPlain(const Product &product, Scratch scratch) {
  const auto *b = static_cast<const T *>(product.b.data);
  T *panels = scratch.take<T>(roundUp(product.columns, kPanel<T, Vectors>) * product.depth);
  T *rowsCopy = scratch.take<T>(kTileRows * kDepthChunk);
  packPanels<T, Vectors>(product.depth, product.columns, b, product.b.rowStride,
                         product.b.columnStride, panels);
  multiply<T, Vectors>(
      {product.rows, product.columns, product.depth},
      {static_cast<const T *>(product.a.data), product.a.rowStride, product.a.columnStride},
      packedPanels<T, Vectors>(panels, product.depth),
      {static_cast<const T *>(product.residual.data), product.residual.stride},
      {static_cast<T *>(product.result.data), product.result.stride}, rowsCopy);
}

template <typename E, int Vectors> void run(const Product &product, Scratch scratch) {
  if constexpr (std::is_same_v<E, Sum<E>>)
    multiplyPlain<E, Vectors>(product, scratch);
  else
    multiplyWidened<Vectors>(product, scratch);
}

/// A product of depth 0 adds nothing.
template <typename T> void copyResidual(const Product &product) {
  for (std::int64_t row = 0; row < product.rows; ++row) {
    T *result = rowOf<T>(product.result, row);
    const T *residual = product.residual.data ? rowOf<T>(product.residual, row) : nullptr;
    for (std::int64_t column = 0; column < product.columns; ++column)
      result[column] = residual ? residual[column] : T(0.f);
  }
}

} // namespace

template <typename E> void CpuKernels<E>::product(const Product &product, void *workspace) const {
  if (product.rows == 0)
    return;
  if (product.depth == 0)
    product.intoSums ? copyResidual<Sum<E>>(product) : copyResidual<E>(product);
  else if (product.columns <= kWidth<Sum<E>>)
    run<E, 1>(product, Scratch(workspace));
  else
    run<E, 2>(product, Scratch(workspace));
}

template void CpuKernels<float>::product(const Product &, void *) const;
template void CpuKernels<double>::product(const Product &, void *) const;
template void CpuKernels<BFloat16>::product(const Product &, void *) const;

} // namespace vime::ISA
