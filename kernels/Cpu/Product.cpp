// C = R + A · B: packs B into panels, then runs the register tile over them.
#include "kernels/Cpu/CpuKernels.h"
#include "kernels/Cpu/FewRows.h"
#include "kernels/Cpu/Gemm.h"
#include "kernels/Cpu/Scratch.h"
#include "kernels/Cpu/WidenedProduct.h"

#include <type_traits>

namespace vime::ISA {
namespace {

/// Packs and multiplies a block of B at a time, so that its panels stay in the second cache.
template <typename T, int Vectors> void multiplyPlain(const Product &product, Scratch scratch) {
  const Strided<T> a{static_cast<const T *>(product.a.data), product.a.rowStride,
                     product.a.columnStride};
  const Strided<T> b{static_cast<const T *>(product.b.data), product.b.rowStride,
                     product.b.columnStride};
  const std::int64_t mostDepth = minimum(kDepthSlab, product.depth);
  const std::int64_t mostColumns =
      minimum(kPackedColumns, roundUp(product.columns, kPanel<T, Vectors>));
  T *panels = scratch.take<T>(mostColumns * mostDepth);
  T *rowsCopy = scratch.take<T>(kTileRows * kDepthChunk);
  const RowMajor<T> result{static_cast<T *>(product.result.data), product.result.stride};
  RowMajor<const T> addend{static_cast<const T *>(product.residual.data), product.residual.stride};
  for (std::int64_t k = 0; k < product.depth; k += mostDepth) {
    const std::int64_t depth = minimum(mostDepth, product.depth - k);
    for (std::int64_t column = 0; column < product.columns; column += mostColumns) {
      const std::int64_t columns = minimum(mostColumns, product.columns - column);
      packPanels<T, Vectors>(depth, columns, b.at(k, column), b.rowStride, b.columnStride, panels);
      multiply<T, Vectors>({product.rows, columns, depth},
                           {a.at(0, k), a.rowStride, a.columnStride},
                           packedPanels<T, Vectors>(panels, depth), addend.right(column),
                           result.right(column), rowsCopy);
    }
    addend = {result.data, result.stride};
  }
}

template <typename E, int Vectors> void run(const Product &product, Scratch scratch) {
  if constexpr (std::is_same_v<E, Sum<E>>)
    multiplyPlain<E, Vectors>(product, scratch);
  else
    multiplyWidened<Vectors>(product, scratch);
}

template <typename E, int Vectors> void runGroup(const Product &product, Scratch scratch) {
  if constexpr (std::is_same_v<E, Sum<E>>)
    multiplyFewRows<E, Vectors>(product, scratch);
  else
    multiplyFewWidenedRows<Vectors>(product, scratch);
}

template <typename E> void runFewRows(const Product &product, Scratch scratch, DataType type) {
  for (std::int64_t row = 0; row < product.rows; row += kPanel<Sum<E>, 2>) {
    const std::int64_t count = minimum(product.rows - row, kPanel<Sum<E>, 2>);
    const Product group = rowsOf(product, row, count, type);
    count <= kWidth<Sum<E>> ? runGroup<E, 1>(group, scratch) : runGroup<E, 2>(group, scratch);
  }
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
  else if (readsInPlace<E>(product))
    runFewRows<E>(product, Scratch(workspace), type());
  else if (product.columns <= kWidth<Sum<E>>)
    run<E, 1>(product, Scratch(workspace));
  else
    run<E, 2>(product, Scratch(workspace));
}

template void CpuKernels<float>::product(const Product &, void *) const;
template void CpuKernels<double>::product(const Product &, void *) const;
template void CpuKernels<BFloat16>::product(const Product &, void *) const;

} // namespace vime::ISA
