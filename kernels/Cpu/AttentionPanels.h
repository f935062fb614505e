// Causal attention, forward: softmax(q kᵀ / sqrt(width)) v for each head of each segment, a panel
// of queries at a time. Two passes over a panel's scores, no online softmax: 32 queries by 4096
// keys are half a megabyte.
#pragma once

#include "kernels/Cpu/Attention.h"
#include "kernels/Cpu/CpuKernels.h"
#include "kernels/Cpu/Scratch.h"

namespace vime::ISA {

/// One head of one segment, of elements E; scores, weights and sums are of T = Sum<E>. `position`
/// is that of its first query: it sees as many keys of earlier slices.
template <typename E> struct Head {
  std::int64_t position, tokens;
  std::int64_t width;
  ScoreScale<Sum<E>> scale;
  RowMajor<const E> queries;
  RowMajor<E> out;
  Sum<E> *lse; // null: nobody asks
  std::int64_t lseStride;
};

template <typename T> struct Areas {
  T *keys, *values; // compact copies of one key-value head: [keys, width]
  T *queries;       // one panel, transposed: [width, panel]
  T *scores;        // [keys, panel]
  T *sums;          // outputs of one panel, transposed: [width, panel]

  Areas(void *workspace, std::int64_t width, std::int64_t seen) {
    Scratch scratch(workspace);
    keys = scratch.take<T>(seen * width);
    values = scratch.take<T>(seen * width);
    queries = scratch.take<T>(width * kQueryPanel<T>);
    sums = scratch.take<T>(width * kQueryPanel<T>);
    scores = scratch.take<T>(seen * kQueryPanel<T>);
  }
};

/// The largest score that each query sees. Keys after `diagonal` are not seen by all.
template <typename T>
VIME_INLINE void largestScores(const T *scores, std::int64_t keys, std::int64_t diagonal,
                               Vector<T> (&top)[2]) {
  top[0] = load(scores); // every query sees key 0
  top[1] = load(scores + kWidth<T>);
  for (std::int64_t key = 1; key < keys; ++key)
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      const Vector<T> score = load(scores + key * kQueryPanel<T> + v * kWidth<T>);
      const Vector<T> seen = key > diagonal ? visible<T>(key - diagonal, v, score, top[v]) : score;
      top[v] = larger(seen, top[v]);
    }
}

/// Scores become weights, 2^(scale · (score - largest)) or 0; returns their sums per query, added
/// in 4 lanes of keys (key mod 4) and a fixed tree.
template <typename T>
VIME_INLINE void weighPanel(T *scores, std::int64_t keys, std::int64_t diagonal, T scale,
                            const Vector<T> (&top)[2], Vector<T> (&sum)[2]) {
#pragma GCC unroll 2
  for (int v = 0; v < 2; ++v) {
    const Vector<T> offset = -(top[v] * scale);
    Vector<T> lanes[4] = {};
    const auto weighKey = [&](std::int64_t key, Vector<T> &lane) {
      T *place = scores + key * kQueryPanel<T> + v * kWidth<T>;
      Vector<T> weight = exponential2(fma(load(place), broadcast(scale), offset));
      if (key > diagonal)
        weight = visible<T>(key - diagonal, v, weight, Vector<T>{});
      store(place, weight);
      lane += weight;
    };
    std::int64_t key = 0;
    for (; key + 4 <= keys; key += 4)
#pragma GCC unroll 4
      for (int lane = 0; lane < 4; ++lane)
        weighKey(key + lane, lanes[lane]);
#pragma GCC unroll 4
    for (int lane = 0; lane < 3; ++lane)
      if (key + lane < keys)
        weighKey(key + lane, lanes[lane]);
    sum[v] = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
  }
}

/// Divides by the sums and turns the panel round: out[query][column].
template <typename E, typename T>
void writeOutputs(const Head<E> &head, std::int64_t first, int queries, T *sums,
                  const Vector<T> (&sum)[2]) {
  const Vector<T> reciprocal[2] = {T(1) / sum[0], T(1) / sum[1]};
  for (std::int64_t column = 0; column < head.width; ++column)
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      T *place = sums + column * kQueryPanel<T> + v * kWidth<T>;
      store(place, load(place) * reciprocal[v]);
    }
  writeTransposed<T, false>(head.width, queries, sums, kQueryPanel<T>,
                            head.out.data + first * head.out.stride, head.out.stride);
}

template <typename E, typename T>
void writeLogSums(const Head<E> &head, std::int64_t first, int queries, const Vector<T> (&top)[2],
                  const Vector<T> (&sum)[2]) {
  T logSums[kQueryPanel<T>], largest[kQueryPanel<T>];
#pragma GCC unroll 2
  for (int v = 0; v < 2; ++v) {
    store(logSums + v * kWidth<T>, sum[v]);
    store(largest + v * kWidth<T>, top[v]);
  }
  for (int query = 0; query < kQueryPanel<T>; ++query)
    logSums[query] = fma(largest[query], head.scale.natural, logarithm(logSums[query]));
  for (int query = 0; query < queries; ++query)
    head.lse[(first + query) * head.lseStride] = logSums[query];
}

template <typename E, typename T>
void attendPanel(const Head<E> &head, std::int64_t first, const Areas<T> &areas) {
  constexpr int kQueries = kQueryPanel<T>;
  const int queries = int(minimum(kQueries, head.tokens - first));
  const std::int64_t diagonal = head.position + first, keys = diagonal + queries;
  packPanel<T, 2>(head.width, queries, head.queries.data + first * head.queries.stride, 1,
                  head.queries.stride, areas.queries);
  multiply<T, 2>({keys, kQueries, head.width}, {areas.keys, head.width, 1},
                 packedPanels<T, 2>(areas.queries, head.width), {}, {areas.scores, kQueries},
                 nullptr);
  Vector<T> top[2], sum[2];
  largestScores<T>(areas.scores, keys, diagonal, top);
  weighPanel<T>(areas.scores, keys, diagonal, head.scale.binary, top, sum);
  multiply<T, 2>({head.width, kQueries, keys}, {areas.values, 1, head.width},
                 packedPanels<T, 2>(areas.scores, keys), {}, {areas.sums, kQueries}, nullptr);
  if (head.lse)
    writeLogSums<E, T>(head, first, queries, top, sum);
  writeOutputs<E, T>(head, first, queries, areas.sums, sum);
}

/// Tokens `position` … of one sequence, the first ones of `qkv` and `out`; `lse` may be null.
/// `copyHead(keyHead, keys, values)` brings what they see of a key-value head, without gaps.
template <typename E, typename CopyHead>
void attendInPanels(const Attention &attention, std::int64_t position, std::int64_t tokens,
                    ConstMatrix qkv, Matrix out, Sum<E> *lse, void *workspace,
                    const CopyHead &copyHead) {
  using T = Sum<E>;
  const std::int64_t width = attention.headWidth;
  const std::int32_t group = attention.heads / attention.keyValueHeads;
  const Areas<T> areas(workspace, width, position + tokens);
  for (std::int32_t keyHead = 0; keyHead < attention.keyValueHeads; ++keyHead) {
    copyHead(keyHead, areas.keys, areas.values);
    for (std::int32_t head = keyHead * group; head < (keyHead + 1) * group; ++head) {
      const Head<E> one{.position = position,
                        .tokens = tokens,
                        .width = width,
                        .scale = ScoreScale<T>(attention),
                        .queries = {rowOf<E>(qkv, 0) + head * width, qkv.stride},
                        .out = {rowOf<E>(out, 0) + head * width, out.stride},
                        .lse = lse ? lse + head : nullptr,
                        .lseStride = attention.heads};
      for (std::int64_t first = 0; first < tokens; first += kQueryPanel<T>)
        attendPanel<E, T>(one, first, areas);
    }
  }
}

} // namespace vime::ISA
