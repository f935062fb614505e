// Products on packed panels, for the product kernel and for attention.
//
// Depth is cut into chunks of 128: an element is R + chunk + chunk + ..., each chunk one chain from
// 0. A single chain over all k would be as invariant but five times less exact; the cut also makes
// a product that is accumulated over calls of whole chunks equal to the single call.
#pragma once

#include "kernels/Cpu/Tile.h"

namespace vime::ISA {

inline constexpr std::int64_t kDepthChunk = 128;
// No matter for bits, only for caches:
inline constexpr std::int64_t kDepthSlab = 2 * kDepthChunk;
inline constexpr std::int64_t kPackedColumns = 384; // whole panels of any width

/// Element (row, column) at data[row * rowStride + column * columnStride].
template <typename T> struct Strided {
  const T *data;
  std::int64_t rowStride;
  std::int64_t columnStride;
  const T *at(std::int64_t row, std::int64_t column) const {
    return data + row * rowStride + column * columnStride;
  }
};

template <typename T> struct RowMajor {
  T *data;
  std::int64_t stride;
  /// From this column on; none stays none.
  RowMajor right(std::int64_t column) const { return {data ? data + column : data, stride}; }
};

/// Copies a matrix. T is what the vectors hold; either side may be BFloat16 where that is float.
template <typename T, typename From, typename To>
void copyRows(std::int64_t rows, std::int64_t columns, RowMajor<From> from, RowMajor<To> to) {
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; column += kWidth<T>) {
      const int present = int(minimum(columns - column, kWidth<T>));
      storeFirst(to.data + row * to.stride + column,
                 loadFirst(from.data + row * from.stride + column, present), present);
    }
}

/// Panels side by side (one row-major matrix) or one after another (packed).
template <typename T> struct Panels {
  const T *data;
  std::int64_t rowStride;
  std::int64_t panelStride;
  Panels from(std::int64_t k) const { return {data + k * rowStride, rowStride, panelStride}; }
};

template <typename T, int Vectors> Panels<T> packedPanels(const T *data, std::int64_t depth) {
  return {data, kPanel<T, Vectors>, kPanel<T, Vectors> * depth};
}

struct Extent {
  std::int64_t rows, columns, depth;
  Extent chunk(std::int64_t k, std::int64_t most) const {
    return {rows, columns, minimum(most, depth - k)};
  }
};

/// One register tile at (row, column) of a product.
template <typename T, int Vectors, ReadA read>
VIME_INLINE void multiplyTile(Extent extent, std::int64_t row, std::int64_t column, int rows,
                              const T *a, std::int64_t aStride, Panels<T> b,
                              RowMajor<const T> residual, RowMajor<T> result,
                              const T *ahead = nullptr) {
  constexpr int kColumns = kPanel<T, Vectors>;
  tileOfRows<T, Vectors, read>(rows)(
      {.depth = extent.depth,
       .a = a,
       .aStride = aStride,
       .panel = b.data + column / kColumns * b.panelStride,
       .panelStride = b.rowStride,
       .residual = residual.data ? residual.data + row * residual.stride + column : nullptr,
       .residualStride = residual.stride,
       .result = result.data + row * result.stride + column,
       .resultStride = result.stride,
       .columns = int(minimum(kColumns, extent.columns - column)),
       .ahead = ahead});
}

/// One slab of depth, `a` read in place along its rows. The chunks of a block of rows of one panel
/// follow each other, so that their partial sums and the panel stay in the first cache.
template <typename T, int Vectors>
void multiplySlab(Extent extent, const T *a, std::int64_t aStride, Panels<T> b,
                  RowMajor<const T> residual, RowMajor<T> result) {
  constexpr std::int64_t kBlockRows = kTileRows * 16;
  for (std::int64_t block = 0; block < extent.rows; block += kBlockRows) {
    const std::int64_t end = minimum(extent.rows, block + kBlockRows);
    for (std::int64_t column = 0; column < extent.columns; column += kPanel<T, Vectors>) {
      RowMajor<const T> addend = residual;
      for (std::int64_t k = 0; k < extent.depth; k += kDepthChunk) {
        const Extent chunk = extent.chunk(k, kDepthChunk);
        for (std::int64_t row = block; row < end; row += kTileRows)
          multiplyTile<T, Vectors, ReadA::AlongRows>(
              chunk, row, column, int(minimum(kTileRows, end - row)), a + row * aStride + k,
              aStride, b.from(k), addend, result);
        addend = {result.data, result.stride};
      }
    }
  }
}

template <typename T, int Vectors>
void multiplyAlongRows(Extent extent, const T *a, std::int64_t aStride, Panels<T> b,
                       RowMajor<const T> residual, RowMajor<T> result) {
  for (std::int64_t k = 0; k < extent.depth; k += kDepthSlab) {
    multiplySlab<T, Vectors>(extent.chunk(k, kDepthSlab), a + k, aStride, b.from(k), residual,
                             result);
    residual = {result.data, result.stride};
  }
}

/// One chunk of depth, `a` read in place down its columns: element (row, k) at a + row + k *
/// aStride. Rows are shared out evenly: 32 as 11 + 11 + 10, not as 14 + 14 + 4.
template <typename T, int Vectors>
void multiplyTransposed(Extent extent, const T *a, std::int64_t aStride, Panels<T> b,
                        RowMajor<const T> residual, RowMajor<T> result) {
  const std::int64_t tiles = (extent.rows + kTileRows - 1) / kTileRows;
  const std::int64_t even = (extent.rows + tiles - 1) / tiles;
  for (std::int64_t column = 0; column < extent.columns; column += kPanel<T, Vectors>)
    for (std::int64_t row = 0; row < extent.rows; row += even)
      multiplyTile<T, Vectors, ReadA::DownColumns>(extent, row, column,
                                                   int(minimum(even, extent.rows - row)), a + row,
                                                   aStride, b, residual, result);
}

/// Copies up to kTileRows rows of `a` so that the rows of one k are adjacent.
template <typename T> void gatherRows(int rows, std::int64_t depth, Strided<T> a, T *to) {
  if (rows == kTileRows && a.rowStride == 1) {
    for (std::int64_t k = 0; k < depth; ++k)
      __builtin_memcpy(to + k * kTileRows, a.data + k * a.columnStride, kTileRows * sizeof(T));
    return;
  }
  for (std::int64_t k = 0; k < depth; ++k)
    for (int row = 0; row < rows; ++row)
      to[k * kTileRows + row] = a.data[row * a.rowStride + k * a.columnStride];
}

/// One chunk of depth, `a` copied tile by tile into `rowsCopy`.
template <typename T, int Vectors>
void multiplyGathered(Extent extent, Strided<T> a, Panels<T> b, RowMajor<const T> residual,
                      RowMajor<T> result, T *rowsCopy) {
  constexpr int kColumns = kPanel<T, Vectors>;
  for (std::int64_t row = 0; row < extent.rows; row += kTileRows) {
    const int rows = int(minimum(kTileRows, extent.rows - row));
    gatherRows(rows, extent.depth,
               Strided<T>{a.data + row * a.rowStride, a.rowStride, a.columnStride}, rowsCopy);
    for (std::int64_t column = 0; column < extent.columns; column += kColumns)
      multiplyTile<T, Vectors, ReadA::DownColumns>(extent, row, column, rows, rowsCopy, kTileRows,
                                                   b, residual, result);
  }
}

/// result[rows, columns] = residual + a[rows, depth] · b[depth, columns]; residual may be null or
/// result itself. `rowsCopy` (kTileRows * kDepthChunk elements) is needed when a.columnStride != 1,
/// unless a.rowStride is 1 and `rowsCopy` is null: then `a` is read in place.
template <typename T, int Vectors>
void multiply(Extent extent, Strided<T> a, Panels<T> b, RowMajor<const T> residual,
              RowMajor<T> result, T *rowsCopy) {
  if (a.columnStride == 1)
    return multiplyAlongRows<T, Vectors>(extent, a.data, a.rowStride, b, residual, result);
  for (std::int64_t k = 0; k < extent.depth; k += kDepthChunk) {
    const Extent chunk = extent.chunk(k, kDepthChunk);
    const T *aChunk = a.data + k * a.columnStride;
    if (rowsCopy)
      multiplyGathered<T, Vectors>(chunk, {aChunk, a.rowStride, a.columnStride}, b.from(k),
                                   residual, result, rowsCopy);
    else
      multiplyTransposed<T, Vectors>(chunk, aChunk, a.columnStride, b.from(k), residual, result);
    residual = {result.data, result.stride};
  }
}

} // namespace vime::ISA
