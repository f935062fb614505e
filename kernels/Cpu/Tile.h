// The register tile: the innermost product, up to kTileRows rows by one panel, accumulated in
// registers over the whole depth and written once.
//
// Every element is one chain of fused multiply-adds from 0 over ascending k, then added to the
// residual: R + (((0 + a0 b0) + a1 b1) + ...). Which tile, row or lane an element falls into does
// not change its bits.
#pragma once

#include "kernels/Cpu/Pack.h"

namespace vime::ISA {

/// result[rows, columns] = residual + a[rows, depth] · panel[depth, columns]
template <typename T> struct TileCall {
  std::int64_t depth;
  const T *a;
  std::int64_t aStride; // of rows (ReadA::AlongRows) or of k (ReadA::DownColumns)
  const T *panel;
  std::int64_t panelStride; // of k
  const T *residual;        // null: none
  std::int64_t residualStride;
  T *result;
  std::int64_t resultStride;
  int columns;              // of the panel that exist; the rest is computed but not stored
  const T *ahead = nullptr; // ReadA::AheadAlongRows: what is read soon
};

/// Elements of a cache line.
template <typename T> inline constexpr std::int64_t kLine = 64 / sizeof(T);

/// How a tile reads `a`: along its rows (element (row, k) at row * stride + k), or down its columns
/// (at row + k * stride). AheadAlongRows fetches at every k a cache line of what is read soon: all
/// of it at once would hold up what is read now.
enum class ReadA { AlongRows, AheadAlongRows, DownColumns };

template <typename T, int Rows, int Vectors> struct Accumulators {
  Vector<T> at[Rows][Vectors];
};

template <typename T, int Rows, int Vectors>
VIME_INLINE void writeTile(const TileCall<T> &call, const Accumulators<T, Rows, Vectors> &sum) {
  constexpr int kLanesOf = kWidth<T>;
  const T *residual = call.residual;
  T *result = call.result;
  if (call.columns < kPanel<T, Vectors>) {
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row)
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) {
        const int first = v * kLanesOf;
        const int present = int(clamp(call.columns - first, 0, kLanesOf));
        Vector<T> value = sum.at[row][v];
        if (residual)
          value = loadFirst(residual + row * call.residualStride + first, present) + value;
        storeFirst(result + row * call.resultStride + first, value, present);
      }
  } else if (residual) {
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row)
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v)
        store(result + row * call.resultStride + v * kLanesOf,
              load(residual + row * call.residualStride + v * kLanesOf) + sum.at[row][v]);
  } else {
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row)
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v)
        store(result + row * call.resultStride + v * kLanesOf, sum.at[row][v]);
  }
}

template <typename T, int Rows, int Vectors>
VIME_INLINE void prefetchTile(const T *from, std::int64_t stride) {
#pragma GCC unroll 16
  for (int row = 0; row < Rows; ++row)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      __builtin_prefetch(from + row * stride + v * kWidth<T>);
}

template <typename T, int Rows, int Vectors, ReadA read>
__attribute__((noinline)) void tile(const TileCall<T> &call) {
  Accumulators<T, Rows, Vectors> sum = {};
  // Of large matrices they come from afar, and are needed all at once at the end.
  prefetchTile<T, Rows, Vectors>(call.result, call.resultStride);
  if (call.residual && call.residual != call.result)
    prefetchTile<T, Rows, Vectors>(call.residual, call.residualStride);
  const std::int64_t stride = call.aStride;
  const T *panel = call.panel;
  // One pointer for three rows: base, base + stride and base + 2 stride are addressing modes, so
  // that all rows fit into the general registers.
  const T *a0 = call.a, *a1 = a0 + 3 * stride, *a2 = a0 + 6 * stride, *a3 = a0 + 9 * stride,
          *a4 = a0 + 12 * stride;
  const T *ahead = call.ahead;
  for (std::int64_t k = 0; k < call.depth; ++k) {
    if constexpr (read == ReadA::AheadAlongRows) {
      __builtin_prefetch(ahead);
      ahead += kLine<T>;
    }
    Vector<T> b[Vectors];
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      b[v] = load(panel + v * kWidth<T>);
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) {
      const T *group = row < 3 ? a0 : row < 6 ? a1 : row < 9 ? a2 : row < 12 ? a3 : a4;
      const T value = read == ReadA::DownColumns ? a0[row] : group[(row % 3) * stride];
      const Vector<T> a = broadcast(value);
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v)
        sum.at[row][v] = fma(a, b[v], sum.at[row][v]);
    }
    panel += call.panelStride;
    if constexpr (read == ReadA::DownColumns)
      a0 += stride;
    else
      ++a0, ++a1, ++a2, ++a3, ++a4;
  }
  writeTile(call, sum);
}

template <typename T> using TileFunction = void (*)(const TileCall<T> &);

template <typename T, int Vectors, ReadA read, int Rows = kTileRows>
struct TileTable : TileTable<T, Vectors, read, Rows - 1> {
  constexpr TileTable() { this->ofRows[Rows] = tile<T, Rows, Vectors, read>; }
};
template <typename T, int Vectors, ReadA read> struct TileTable<T, Vectors, read, 0> {
  TileFunction<T> ofRows[kTileRows + 1] = {};
};

/// The tile of exactly so many rows, 1 .. kTileRows.
template <typename T, int Vectors, ReadA read> inline TileFunction<T> tileOfRows(int rows) {
  static constexpr TileTable<T, Vectors, read> kTable;
  return kTable.ofRows[rows];
}

} // namespace vime::ISA
