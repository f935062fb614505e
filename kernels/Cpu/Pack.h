// Packing: copies a matrix into panels, so that the register tile reads memory in one sweep.
//
// A panel is kWidth · Vectors columns wide; panel p holds all rows of those columns, row after row,
// padded with zeros on the right. Panels lie one after another. BFloat16 is widened on the way.
#pragma once

#include "kernels/Cpu/Simd.h"

namespace vime::ISA {

template <typename T, int Vectors> inline constexpr int kPanel = kWidth<T> * Vectors;

/// A square of kWidth x kWidth elements, one vector per row.
template <typename T> struct Square {
  Vector<T> row[kWidth<T>];
};

/// Lane k is lane from[k] of first, or lane from[k] - width of second.
template <typename T>
VIME_INLINE Vector<T> shuffled(Vector<T> first, Vector<T> second, IntegerVector<T> from) {
#ifdef __clang__ // only in builds with sanitizers
  const Vector<T> both[2] = {first, second};
  Vector<T> lanes;
#pragma clang loop unroll(disable)
  for (int lane = 0; lane < kWidth<T>; ++lane)
    lanes[lane] = both[from[lane] / kWidth<T>][from[lane] % kWidth<T>];
  return lanes;
#else
  return __builtin_shuffle(first, second, from);
#endif
}

/// Rows become columns, in registers: log2(width) rounds swap ever larger squares across the
/// diagonal.
template <typename T> VIME_INLINE void transpose(Square<T> &square) {
  constexpr int kSide = kWidth<T>;
#pragma GCC unroll 4
  for (int size = 1; size < kSide; size *= 2) {
    IntegerVector<T> upper, lower;
#pragma GCC unroll 16
    for (int lane = 0; lane < kSide; ++lane) {
      upper[lane] = lane & size ? kSide + (lane ^ size) : lane;
      lower[lane] = lane & size ? kSide + lane : lane ^ size;
    }
#pragma GCC unroll 16
    for (int row = 0; row < kSide; ++row)
      if (!(row & size)) {
        const Vector<T> first = square.row[row], second = square.row[row + size];
        square.row[row] = shuffled<T>(first, second, upper);
        square.row[row + size] = shuffled<T>(first, second, lower);
      }
  }
}

template <typename T, typename From, typename To>
VIME_INLINE void writeTransposedSquare(const From *from, std::int64_t fromStride, To *to,
                                       std::int64_t toStride) {
  Square<T> square;
#pragma GCC unroll 16
  for (int row = 0; row < kWidth<T>; ++row)
    square.row[row] = load(from + row * fromStride);
  transpose<T>(square);
#pragma GCC unroll 16
  for (int row = 0; row < kWidth<T>; ++row)
    store(to + row * toStride, square.row[row]);
}

/// The same for a corner of rows x columns; kPad: rows of `to` are filled up with zeros to a
/// vector.
template <typename T, bool kPad, typename From, typename To>
VIME_INLINE void writeTransposedCorner(int rows, int columns, const From *from,
                                       std::int64_t fromStride, To *to, std::int64_t toStride) {
  Square<T> square;
#pragma GCC unroll 16
  for (int row = 0; row < kWidth<T>; ++row)
    square.row[row] = row < rows ? loadFirst(from + row * fromStride, columns) : Vector<T>{};
  transpose<T>(square);
#pragma GCC unroll 16
  for (int column = 0; column < kWidth<T>; ++column)
    if (column < columns)
      storeFirst(to + column * toStride, square.row[column], kPad ? kWidth<T> : rows);
}

/// Writes the transpose of a matrix of rows x columns: to[column][row] = from[row][column]. T is
/// what the vectors hold; either side may be BFloat16 where that is float.
template <typename T, bool kPad, typename From, typename To>
void writeTransposed(std::int64_t rows, std::int64_t columns, const From *from,
                     std::int64_t fromStride, To *to, std::int64_t toStride) {
  constexpr int kSide = kWidth<T>;
  for (std::int64_t row = 0; row < rows; row += kSide)
    for (std::int64_t column = 0; column < columns; column += kSide) {
      const From *source = from + row * fromStride + column;
      To *target = to + column * toStride + row;
      if (row + kSide <= rows && column + kSide <= columns)
        writeTransposedSquare<T>(source, fromStride, target, toStride);
      else
        writeTransposedCorner<T, kPad>(int(minimum(rows - row, kSide)),
                                       int(minimum(columns - column, kSide)), source, fromStride,
                                       target, toStride);
    }
}

/// One panel of up to kPanel columns: to[k][c] = from[k * rowStride + c * columnStride].
template <typename T, int Vectors, typename From>
void packPanel(std::int64_t depth, int columns, const From *from, std::int64_t rowStride,
               std::int64_t columnStride, T *to) {
  constexpr int kColumns = kPanel<T, Vectors>;
  if (columnStride == 1) {
    for (std::int64_t k = 0; k < depth; ++k)
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) {
        const From *source = from + k * rowStride + v * kWidth<T>;
        const int left = columns - v * kWidth<T>;
        store(to + k * kColumns + v * kWidth<T>, left >= kWidth<T> ? load(source)
                                                 : left > 0        ? loadFirst(source, left)
                                                                   : Vector<T>{});
      }
  } else if (rowStride == 1) {
    writeTransposed<T, true>(columns, depth, from, columnStride, to, kColumns);
    for (std::int64_t c = roundUp(columns, kWidth<T>); c < kColumns; c += kWidth<T>)
      for (std::int64_t k = 0; k < depth; ++k)
        store(to + k * kColumns + c, Vector<T>{});
  } else {
    for (std::int64_t k = 0; k < depth; ++k)
      for (int c = 0; c < kColumns; ++c)
        to[k * kColumns + c] = c < columns ? T(from[k * rowStride + c * columnStride]) : T(0);
  }
}

/// All panels of a matrix of `depth` rows; panel p starts at to + p * depth * kPanel.
template <typename T, int Vectors, typename From>
void packPanels(std::int64_t depth, std::int64_t columns, const From *from, std::int64_t rowStride,
                std::int64_t columnStride, T *to) {
  constexpr int kColumns = kPanel<T, Vectors>;
  const std::int64_t whole = columnStride == 1 ? columns / kColumns * kColumns : 0;
  for (std::int64_t k = 0; k < depth; ++k) // along memory, over all panels
    for (std::int64_t first = 0; first < whole; first += kColumns)
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v)
        store(to + first * depth + k * kColumns + v * kWidth<T>,
              load(from + k * rowStride + first + v * kWidth<T>));
  to += whole * depth;
  for (std::int64_t first = whole; first < columns; first += kColumns, to += depth * kColumns)
    packPanel<T, Vectors>(depth, int(minimum(columns - first, kColumns)),
                          from + first * columnStride, rowStride, columnStride, to);
}

} // namespace vime::ISA
