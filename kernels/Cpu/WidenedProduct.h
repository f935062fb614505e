// Products of bfloat16 on the register tile of floats.
//
// B is widened while it is packed; of A a block of rows, once for all panels. A result of floats
// adds up where it lies; one of bfloat16 in a block of floats beside it, over the whole depth, so
// that it is rounded once. An element is R + chunk + chunk + ... as in Gemm.h.
#pragma once

#include "kernels/Cpu/Gemm.h"
#include "kernels/Cpu/Scratch.h"
#include "kernels/Kernels.h"

namespace vime::ISA {

inline constexpr std::int64_t kWidenedRows = kTileRows * 8; // no matter for bits, only for caches

/// Rows of A as floats, `step` between two of them in the direction that a tile does not read
/// along.
struct WidenedRows {
  const float *data;
  std::int64_t step;
  ReadA read;

  const float *at(std::int64_t row, std::int64_t k) const {
    return read == ReadA::AlongRows ? data + row * step + k : data + k * step + row;
  }
};

/// Rows [first, first + count) of A.
inline WidenedRows widenRows(const Product &product, std::int64_t first, std::int64_t count,
                             float *to) {
  const Factor &a = product.a;
  const auto *from = static_cast<const BFloat16 *>(a.data) + first * a.rowStride;
  if (a.columnStride == 1) {
    copyRows<float>(count, product.depth, RowMajor{from, a.rowStride}, RowMajor{to, product.depth});
    return {to, product.depth, ReadA::AlongRows};
  }
  if (a.rowStride == 1) {
    copyRows<float>(product.depth, count, RowMajor{from, a.columnStride},
                    RowMajor{to, kWidenedRows});
    return {to, kWidenedRows, ReadA::DownColumns};
  }
  for (std::int64_t row = 0; row < count; ++row)
    for (std::int64_t k = 0; k < product.depth; ++k)
      to[row * product.depth + k] = from[row * a.rowStride + k * a.columnStride];
  return {to, product.depth, ReadA::AlongRows};
}

/// sums[rows, columns of one panel] = addend + a · panel
template <int Vectors, ReadA read>
void multiplyPanel(Extent extent, WidenedRows a, const float *panel, RowMajor<const float> addend,
                   RowMajor<float> sums) {
  for (std::int64_t k = 0; k < extent.depth; k += kDepthChunk) {
    const Panels<float> b{panel + k * kPanel<float, Vectors>, kPanel<float, Vectors>, 0};
    for (std::int64_t row = 0; row < extent.rows; row += kTileRows)
      multiplyTile<float, Vectors, read>(extent.chunk(k, kDepthChunk), row, /*column=*/0,
                                         int(minimum(kTileRows, extent.rows - row)), a.at(row, k),
                                         a.step, b, addend, sums);
    addend = {sums.data, sums.stride};
  }
}

template <int Vectors>
void multiplyPanel(Extent extent, WidenedRows a, const float *panel, RowMajor<const float> addend,
                   RowMajor<float> sums) {
  if (a.read == ReadA::AlongRows)
    multiplyPanel<Vectors, ReadA::AlongRows>(extent, a, panel, addend, sums);
  else
    multiplyPanel<Vectors, ReadA::DownColumns>(extent, a, panel, addend, sums);
}

/// Where a block of rows of one panel begins in a product.
struct Place {
  std::int64_t row, column;

  template <typename E> RowMajor<E> in(Matrix matrix) const {
    return {static_cast<E *>(matrix.data) + row * matrix.stride + column, matrix.stride};
  }
  template <typename E> RowMajor<const E> in(ConstMatrix matrix) const {
    const auto *data = static_cast<const E *>(matrix.data);
    return {data ? data + row * matrix.stride + column : nullptr, matrix.stride};
  }
};

/// One block of rows by one panel; `block` holds its floats where the result is rounded.
template <int Vectors>
void writePanel(const Product &product, Place place, Extent extent, WidenedRows a,
                const float *panel, RowMajor<float> block) {
  if (product.intoSums)
    return multiplyPanel<Vectors>(extent, a, panel, place.in<float>(product.residual),
                                  place.in<float>(product.result));
  const RowMajor<const BFloat16> residual = place.in<BFloat16>(product.residual);
  if (residual.data)
    copyRows<float>(extent.rows, extent.columns, residual, block);
  multiplyPanel<Vectors>(extent, a, panel, {residual.data ? block.data : nullptr, block.stride},
                         block);
  copyRows<float>(extent.rows, extent.columns, block, place.in<BFloat16>(product.result));
}

template <int Vectors> void multiplyWidened(const Product &product, Scratch scratch) {
  constexpr std::int64_t kColumns = kPanel<float, Vectors>;
  float *panels = scratch.take<float>(roundUp(product.columns, kColumns) * product.depth);
  float *widened = scratch.take<float>(kWidenedRows * product.depth);
  const RowMajor<float> block{scratch.take<float>(kWidenedRows * kColumns), kColumns};
  packPanels<float, Vectors>(product.depth, product.columns,
                             static_cast<const BFloat16 *>(product.b.data), product.b.rowStride,
                             product.b.columnStride, panels);
  for (std::int64_t row = 0; row < product.rows; row += kWidenedRows) {
    const std::int64_t rows = minimum(kWidenedRows, product.rows - row);
    const WidenedRows a = widenRows(product, row, rows, widened);
    for (std::int64_t column = 0; column < product.columns; column += kColumns)
      writePanel<Vectors>(product, {row, column},
                          {rows, minimum(kColumns, product.columns - column), product.depth}, a,
                          panels + column * product.depth, block);
  }
}

} // namespace vime::ISA
