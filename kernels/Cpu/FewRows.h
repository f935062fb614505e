// Products of few rows, which decoding is made of: A has as many as sequences take a step. Up to 32
// of them fill the lanes; of more, as prompts have, group after group is multiplied. With float32
// and AVX-512, 40 to 96 rows took 1.2 to 1.45 times as long where B was packed, 192 as long or 1.2
// times; with AVX2, whose groups are half as large, 24 to 48 took 1.2 to 1.7 times as long, 96 as
// long or 1.2 times.
//
// Packing B, as Product.cpp does, would cost more than multiplying by it. Here the sides change
// places: the columns of B, each contiguous, are what the tile reads along its rows, where they
// lie; the few rows of A are packed and take the lanes; a block of the result is turned round on
// its way out. Factors commute, so an element is the same chain: R + chunk + chunk + ... as in
// Gemm.h.
#pragma once

#include "kernels/Cpu/Gemm.h"
#include "kernels/Cpu/Scratch.h"
#include "kernels/Kernels.h"

#include <type_traits>

namespace vime::ISA {

/// Groups of kPanel<T, 2> rows: bfloat16 columns would be widened for each.
template <typename E> constexpr std::int64_t kMostGroups = std::is_same_v<E, Sum<E>> ? 6 : 1;

/// It is asked for, rows fit into the lanes of two vectors a few times, columns of B are
/// contiguous, and there are enough of them for the workspace to have room.
template <typename E> bool readsInPlace(const Product &product) {
  constexpr std::int64_t kGroup = kPanel<Sum<E>, 2>;
  return product.hasFewRows && product.rows <= kMostGroups<E> * kGroup &&
         product.b.rowStride == 1 && product.columns >= kGroup && !product.intoSums;
}

/// Rows [first, first + count) of a product.
inline Product rowsOf(const Product &product, std::int64_t first, std::int64_t count,
                      DataType type) {
  Product part = product;
  part.rows = count;
  part.a.data = elementAt(product.a.data, first * product.a.rowStride, type);
  if (product.residual.data)
    part.residual.data = elementAt(product.residual.data, first * product.residual.stride, type);
  part.result.data = elementAt(product.result.data, first * product.result.stride, type);
  return part;
}

/// Columns [column, column + columns) of the result and their part of the product: `sums` is a
/// block of kTileRows by kPanel.
template <typename E, int Vectors> struct FewRowsBlock {
  using T = Sum<E>;
  static constexpr int kPacked = kPanel<T, Vectors>;
  std::int64_t rows, column;
  int columns;
  T *sums;

  void read(RowMajor<const E> residual) const {
    writeTransposed<T, false>(rows, columns, residual.data + column, residual.stride, sums,
                              kPacked);
  }
  /// sums = addend + b · panel, chunk by chunk. Each of b's rows is a column of the product.
  template <ReadA read>
  void multiply(std::int64_t depth, const T *b, std::int64_t bStride, const T *panel,
                bool hasAddend) const {
    // Rows behind these are as long as they are: with a line for each k little of them is left.
    const T *behind = b + kTileRows * bStride;
    for (std::int64_t k = 0; k < depth; k += kDepthChunk) {
      const Extent chunk{columns, kPacked, minimum(kDepthChunk, depth - k)};
      multiplyTile<T, Vectors, read>(
          chunk, 0, 0, columns, b + k, bStride, {panel + k * kPacked, kPacked, 0},
          {hasAddend || k > 0 ? sums : nullptr, kPacked}, {sums, kPacked}, behind + k * kLine<T>);
    }
  }
  void write(RowMajor<E> result) const {
    writeTransposed<T, false>(columns, rows, sums, kPacked, result.data + column, result.stride);
  }
};

template <typename T, int Vectors> void multiplyFewRows(const Product &product, Scratch scratch) {
  constexpr std::int64_t kPacked = kPanel<T, Vectors>;
  // What Workspace.cpp reserves for packed columns, a panel of A fills with depth.
  const std::int64_t room = minimum(kPackedColumns, roundUp(product.columns, kPanel<T, 2>)) *
                            minimum(kDepthSlab, product.depth);
  const std::int64_t slab = minimum(room / kPacked, product.depth) == product.depth
                                ? product.depth
                                : room / kPacked / kDepthChunk * kDepthChunk;
  T *panel = scratch.take<T>(room);
  T *sums = scratch.take<T>(kTileRows * kDepthChunk);
  const auto *a = static_cast<const T *>(product.a.data),
             *b = static_cast<const T *>(product.b.data);
  const RowMajor<T> result{static_cast<T *>(product.result.data), product.result.stride};
  RowMajor<const T> addend{static_cast<const T *>(product.residual.data), product.residual.stride};
  for (std::int64_t k = 0; k < product.depth; k += slab) {
    const std::int64_t depth = minimum(slab, product.depth - k);
    packPanel<T, Vectors>(depth, int(product.rows), a + k * product.a.columnStride,
                          product.a.columnStride, product.a.rowStride, panel);
    for (std::int64_t column = 0; column < product.columns; column += kTileRows) {
      const T *rows = b + k + column * product.b.columnStride;
      // Whole and one behind the other.
      const bool isFollowed =
          product.b.columnStride == depth && column + kTileRows < product.columns;
      const FewRowsBlock<T, Vectors> block{product.rows, column,
                                           int(minimum(kTileRows, product.columns - column)), sums};
      if (addend.data)
        block.read(addend);
      if (isFollowed)
        block.template multiply<ReadA::AheadAlongRows>(depth, rows, depth, panel, addend.data);
      else
        block.template multiply<ReadA::AlongRows>(depth, rows, product.b.columnStride, panel,
                                                  addend.data);
      block.write(result);
    }
    addend = {result.data, result.stride};
  }
}

/// The same of bfloat16: columns of B are widened block by block, and a result is rounded once.
template <int Vectors> void multiplyFewWidenedRows(const Product &product, Scratch scratch) {
  constexpr std::int64_t kPacked = kPanel<float, Vectors>;
  const std::int64_t depth = product.depth;
  float *panel = scratch.take<float>(kPacked * depth);
  float *widened = scratch.take<float>(kTileRows * depth);
  float *sums = scratch.take<float>(kTileRows * kPacked);
  const auto *a = static_cast<const BFloat16 *>(product.a.data);
  const auto *b = static_cast<const BFloat16 *>(product.b.data);
  const RowMajor<const BFloat16> residual{static_cast<const BFloat16 *>(product.residual.data),
                                          product.residual.stride};
  packPanel<float, Vectors>(depth, int(product.rows), a, product.a.columnStride,
                            product.a.rowStride, panel);
  for (std::int64_t column = 0; column < product.columns; column += kTileRows) {
    const FewRowsBlock<BFloat16, Vectors> block{
        product.rows, column, int(minimum(kTileRows, product.columns - column)), sums};
    copyRows<float>(block.columns, depth,
                    RowMajor{b + column * product.b.columnStride, product.b.columnStride},
                    RowMajor{widened, depth});
    if (residual.data)
      block.read(residual);
    block.template multiply<ReadA::AlongRows>(depth, widened, depth, panel, residual.data);
    block.write({static_cast<BFloat16 *>(product.result.data), product.result.stride});
  }
}

} // namespace vime::ISA
