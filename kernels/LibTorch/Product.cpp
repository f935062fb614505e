// C = R + A · B by mm and addmm, whose BLAS takes rows and columns at any distance as long as one
// of them is 1. Factors without such a stride go through small tiles, slowly.
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>

#include "kernels/LibTorch/Call.h"
#include "kernels/LibTorch/LibTorchKernels.h"
#include "kernels/LibTorch/Views.h"
#include "kernels/Workspace.h"

namespace vime {
namespace {

/// The stride of a dimension of size 1 means nothing to us, but decides whether BLAS takes it.
at::Tensor factor(DataType type, std::int64_t rows, std::int64_t columns, const Factor &from) {
  Factor at = from;
  if (columns == 1)
    at.columnStride = at.rowStride == 1 ? std::max<std::int64_t>(rows, 1) : 1;
  if (rows == 1)
    at.rowStride = at.columnStride == 1 ? std::max<std::int64_t>(columns, 1) : 1;
  return view(type, {rows, columns}, {at.rowStride, at.columnStride}, at.data);
}

bool isTaken(const at::Tensor &factor) {
  const auto sizes = factor.sizes(), strides = factor.strides();
  return (strides[1] == 1 && strides[0] >= sizes[1]) || (strides[0] == 1 && strides[1] >= sizes[0]);
}

void addProduct(at::Tensor result, const at::Tensor &a, const at::Tensor &b) {
  at::addmm_out(result, result, a, b);
}

/// Small parts of both factors, copied.
void addByTiles(const at::Tensor &result, const at::Tensor &a, const at::Tensor &b) {
  const std::int64_t rows = result.size(0), columns = result.size(1), depth = a.size(1);
  for (std::int64_t k = 0; k < depth; k += kLibTorchTile) {
    const std::int64_t deep = std::min(kLibTorchTile, depth - k);
    for (std::int64_t row = 0; row < rows; row += kLibTorchTile) {
      const std::int64_t high = std::min(kLibTorchTile, rows - row);
      const at::Tensor left = a.narrow(0, row, high).narrow(1, k, deep).contiguous();
      for (std::int64_t column = 0; column < columns; column += kLibTorchTile) {
        const std::int64_t wide = std::min(kLibTorchTile, columns - column);
        const at::Tensor right = b.narrow(0, k, deep).narrow(1, column, wide).contiguous();
        addProduct(result.narrow(0, row, high).narrow(1, column, wide), left, right);
      }
    }
  }
}

at::Tensor residualOf(DataType type, const Product &product) {
  return view(type, product.rows, product.columns, product.residual);
}

void setToResidual(DataType type, const Product &product, at::Tensor &result) {
  if (!product.residual.data)
    result.zero_();
  else if (product.residual.data != product.result.data)
    result.copy_(residualOf(type, product));
}

} // namespace

void LibTorchKernels::product(const Product &product, void *workspace) const {
  if (product.rows == 0 || product.columns == 0)
    return;
  const std::size_t bytes =
      productWorkspace(elementType, product.columns, product.depth, KernelLibrary::LibTorch);
  inCall(workspace, bytes, [&] {
    at::Tensor result = view(elementType, product.rows, product.columns, product.result);
    if (product.depth == 0)
      return setToResidual(elementType, product, result);
    const at::Tensor a = factor(elementType, product.rows, product.depth, product.a);
    const at::Tensor b = factor(elementType, product.depth, product.columns, product.b);
    if (!isTaken(a) || !isTaken(b)) {
      setToResidual(elementType, product, result);
      return addByTiles(result, a, b);
    }
    if (!product.residual.data)
      at::mm_out(result, a, b);
    else if (product.residual.data == product.result.data)
      addProduct(result, a, b);
    else
      at::addmm_out(result, residualOf(elementType, product), a, b);
  });
}

} // namespace vime
