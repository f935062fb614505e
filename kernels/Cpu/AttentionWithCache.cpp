// Attention of single queries to the keys and values that a sequence has so far, as decoding needs
// it: an operation on a row is the one that AttentionPanels.h does on it, in the same order, so
// its bits are the same.
//
// There lanes hold queries; here there is one, so lanes hold keys while scores are made, and
// columns of the values while outputs are. For that keys lie transposed, in blocks of kLanes of
// them; four heads take turns, so that the chains of one do not wait for themselves.
//
// A prompt is many queries of one sequence, which training has too: lanes hold queries again, by
// the functions of AttentionPanels.h themselves. In float32 prompts of 64 tokens took 1.4 to 1.8
// times as long without, of 512 tokens 2.2 to 2.8 times.
//
//   cache of a sequence   key-value head after key-value head, each
//                         keys [rows / 16][width][16], then values [rows][width]
#include "kernels/Cpu/AttentionPanels.h"

namespace vime::ISA {
namespace {

constexpr int kHeadsAtOnce = 4;
constexpr std::int64_t kPromptTokens = 16; // from which on panels are faster

/// One key-value head of the cache.
template <typename E> struct CachedHead {
  E *keys, *values;
  std::int64_t width;

  E *keyBlock(std::int64_t block) const { return keys + block * width * kLanes; }
  E *valuesOf(std::int64_t token) const { return values + token * width; }
  void add(std::int64_t token, const E *key, const E *value) const {
    E *place = keyBlock(token / kLanes) + token % kLanes;
    for (std::int64_t column = 0; column < width; ++column)
      place[column * kLanes] = key[column];
    __builtin_memcpy(valuesOf(token), value, std::size_t(width) * sizeof(E));
  }
  /// The first tokens' keys and values, each a row.
  void copyTo(std::int64_t tokens, Sum<E> *keyRows, Sum<E> *valueRows) const {
    using T = Sum<E>;
    for (std::int64_t token = 0; token < tokens; token += kLanes)
      writeTransposed<T, false>(width, minimum(kLanes, tokens - token), keyBlock(token / kLanes),
                                kLanes, keyRows + token * width, width);
    copyRows<T>(tokens, width, RowMajor{values, width}, RowMajor{valueRows, width});
  }
};

template <typename E>
CachedHead<E> headOf(const KeyValueCache &cache, std::int64_t width, std::int64_t keyHead) {
  const std::int64_t rows = roundUp(cache.rows, kLanes);
  E *keys = static_cast<E *>(cache.data) + keyHead * 2 * rows * width;
  return {keys, keys + rows * width, width};
}

/// Up to kHeadsAtOnce queries of one token.
template <typename E> struct Group {
  int heads;
  std::int64_t keys, width;
  ScoreScale<Sum<E>> scale;
  CachedHead<E> cached[kHeadsAtOnce];
  const Sum<E> *queries[kHeadsAtOnce];
  Sum<E> *scores[kHeadsAtOnce];
  E *out[kHeadsAtOnce];
};

/// Scores of `Blocks` blocks of keys. A score is chunk + chunk + ... over the width, as products
/// are.
template <typename E, int Blocks>
VIME_INLINE void scoreBlocks(std::int64_t width, const Sum<E> *query, const E *keys,
                             Sum<E> *scores) {
  using T = Sum<E>;
  constexpr int kParts = Lanes<T>::kParts;
  Vector<T> total[Blocks][kParts];
  for (std::int64_t first = 0; first < width; first += kDepthChunk) {
    Vector<T> sum[Blocks][kParts] = {};
    const std::int64_t end = minimum(width, first + kDepthChunk);
    for (std::int64_t column = first; column < end; ++column) {
      const Vector<T> of = broadcast(query[column]);
#pragma GCC unroll 4
      for (int block = 0; block < Blocks; ++block)
#pragma GCC unroll 4
        for (int part = 0; part < kParts; ++part)
          sum[block][part] = fma(load(keys + (block * width + column) * kLanes + part * kWidth<T>),
                                 of, sum[block][part]);
    }
#pragma GCC unroll 4
    for (int block = 0; block < Blocks; ++block)
#pragma GCC unroll 4
      for (int part = 0; part < kParts; ++part)
        total[block][part] = first == 0 ? sum[block][part] : total[block][part] + sum[block][part];
  }
#pragma GCC unroll 4
  for (int block = 0; block < Blocks; ++block)
#pragma GCC unroll 4
    for (int part = 0; part < kParts; ++part)
      store(scores + block * kLanes + part * kWidth<T>, total[block][part]);
}

template <typename E> void scoreKeys(const Group<E> &group, int head) {
  using T = Sum<E>;
  constexpr int kBlocks = 4 / Lanes<T>::kParts > 0 ? 4 / Lanes<T>::kParts : 1;
  const CachedHead<E> &cached = group.cached[head];
  const std::int64_t blocks = (group.keys + kLanes - 1) / kLanes;
  std::int64_t block = 0;
  for (; block + kBlocks <= blocks; block += kBlocks)
    scoreBlocks<E, kBlocks>(group.width, group.queries[head], cached.keyBlock(block),
                            group.scores[head] + block * kLanes);
  for (; block < blocks; ++block)
    scoreBlocks<E, 1>(group.width, group.queries[head], cached.keyBlock(block),
                      group.scores[head] + block * kLanes);
}

/// The largest score. Lanes behind the last key, whatever they held, get the first one's score.
template <typename T> VIME_INLINE T largestScore(std::int64_t keys, T *scores) {
  const std::int64_t padded = roundUp(keys, kWidth<T>);
  for (std::int64_t key = keys; key < padded; ++key)
    scores[key] = scores[0];
  Vector<T> top = load(scores);
  for (std::int64_t key = kWidth<T>; key < padded; key += kWidth<T>)
    top = larger(load(scores + key), top);
  T result = top[0];
#pragma GCC unroll 16
  for (int lane = 1; lane < kWidth<T>; ++lane)
    result = larger(T(top[lane]), result);
  return result;
}

/// Scores become weights; returns their sum, added in 4 lanes of keys (key mod 4) and a fixed tree.
template <typename T> VIME_INLINE T weigh(std::int64_t keys, T scale, T top, T *scores) {
  typedef T Quarter __attribute__((vector_size(4 * sizeof(T))));
  const Vector<T> factor = broadcast(scale), offset = broadcast(-(top * scale));
  for (std::int64_t key = 0; key < keys; key += kWidth<T>)
    store(scores + key, exponential2(fma(load(scores + key), factor, offset)));
  Quarter lanes = {};
  std::int64_t key = 0;
  for (; key + 4 <= keys; key += 4) {
    Quarter weights;
    __builtin_memcpy(&weights, scores + key, sizeof weights);
    lanes += weights;
  }
#pragma GCC unroll 4
  for (int lane = 0; lane < 3; ++lane)
    if (key + lane < keys)
      lanes[lane] += scores[key + lane];
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

/// Columns [column, column + count) of the outputs of all heads; `count` fills `Vectors` vectors,
/// or is less than one.
template <typename E, int Heads, int Vectors, bool isWhole>
VIME_INLINE void addValues(const Group<E> &group, std::int64_t column, int count,
                           const Sum<E> (&sum)[kHeadsAtOnce]) {
  using T = Sum<E>;
  const auto read = [&](const E *from) {
    if constexpr (isWhole)
      return load(from);
    else
      return loadFirst(from, count);
  };
  Vector<T> total[Heads][Vectors];
  for (std::int64_t first = 0; first < group.keys; first += kDepthChunk) {
    Vector<T> chunk[Heads][Vectors] = {};
    const std::int64_t end = minimum(group.keys, first + kDepthChunk);
    for (std::int64_t key = first; key < end; ++key)
#pragma GCC unroll 4
      for (int head = 0; head < Heads; ++head) {
        const E *values = group.cached[head].valuesOf(key) + column;
        const Vector<T> weight = broadcast(group.scores[head][key]);
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v)
          chunk[head][v] = fma(read(values + v * kWidth<T>), weight, chunk[head][v]);
      }
#pragma GCC unroll 4
    for (int head = 0; head < Heads; ++head)
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v)
        total[head][v] = first == 0 ? chunk[head][v] : total[head][v] + chunk[head][v];
  }
#pragma GCC unroll 4
  for (int head = 0; head < Heads; ++head) {
    const Vector<T> reciprocal = T(1) / broadcast(sum[head]);
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) {
      E *place = group.out[head] + column + v * kWidth<T>;
      if constexpr (isWhole)
        store(place, total[head][v] * reciprocal);
      else
        storeFirst(place, total[head][v] * reciprocal, count);
    }
  }
}

template <typename E, int Heads>
void addAllValues(const Group<E> &group, const Sum<E> (&sum)[kHeadsAtOnce]) {
  constexpr int kColumns = kWidth<Sum<E>>;
  std::int64_t column = 0;
  for (; column + 2 * kColumns <= group.width; column += 2 * kColumns)
    addValues<E, Heads, 2, true>(group, column, 2 * kColumns, sum);
  if (column + kColumns <= group.width) {
    addValues<E, Heads, 1, true>(group, column, kColumns, sum);
    column += kColumns;
  }
  if (column < group.width)
    addValues<E, Heads, 1, false>(group, column, int(group.width - column), sum);
}

template <typename E> void attend(const Group<E> &group) {
  using T = Sum<E>;
  T sum[kHeadsAtOnce];
  for (int head = 0; head < group.heads; ++head)
    scoreKeys(group, head);
  for (int head = 0; head < group.heads; ++head) {
    T *scores = group.scores[head];
    sum[head] =
        weigh<T>(group.keys, group.scale.binary, largestScore<T>(group.keys, scores), scores);
  }
  switch (group.heads) {
  case 1:
    return addAllValues<E, 1>(group, sum);
  case 2:
    return addAllValues<E, 2>(group, sum);
  case 3:
    return addAllValues<E, 3>(group, sum);
  default:
    return addAllValues<E, 4>(group, sum);
  }
}

} // namespace

template <typename E>
void CpuKernels<E>::attentionWithCache(const Attention &attention, std::int64_t first,
                                       std::int64_t tokens, ConstMatrix qkv, KeyValueCache cache,
                                       Matrix out, void *workspace) const {
  using T = Sum<E>;
  const std::int64_t width = attention.headWidth;
  const std::int32_t sharers = attention.heads / attention.keyValueHeads;
  for (std::int64_t token = 0; token < tokens; ++token)
    for (std::int32_t keyHead = 0; keyHead < attention.keyValueHeads; ++keyHead) {
      const E *key = rowOf<E>(qkv, token) + attention.queryWidth() + keyHead * width;
      headOf<E>(cache, width, keyHead).add(first + token, key, key + attention.keyValueWidth());
    }

  if (tokens >= kPromptTokens)
    return attendInPanels<E>(
        attention, first, tokens, qkv, out, /*lse=*/nullptr, workspace,
        [&](std::int32_t keyHead, T *keys, T *values) {
          headOf<E>(cache, width, keyHead).copyTo(first + tokens, keys, values);
        });
  Scratch scratch(workspace);
  const std::int64_t room = roundUp(cache.rows, kLanes);
  T *scores = scratch.take<T>(kHeadsAtOnce * room);
  T *queries = scratch.take<T>(kHeadsAtOnce * width);
  for (std::int64_t token = 0; token < tokens; ++token)
    for (std::int32_t head = 0; head < attention.heads; head += kHeadsAtOnce) {
      Group<E> group{.heads = int(minimum(kHeadsAtOnce, attention.heads - head)),
                     .keys = first + token + 1,
                     .width = width,
                     .scale = ScoreScale<T>(attention)};
      const E *query = rowOf<E>(qkv, token) + head * width;
      copyRows<T>(1, group.heads * width, RowMajor{query, 0}, RowMajor{queries, 0});
      for (int one = 0; one < group.heads; ++one) {
        group.cached[one] = headOf<E>(cache, width, (head + one) / sharers);
        group.queries[one] = queries + one * width;
        group.scores[one] = scores + one * room;
        group.out[one] = rowOf<E>(out, token) + (head + one) * width;
      }
      attend(group);
    }
}

template <typename E>
void CpuKernels<E>::copyCached(const Attention &attention, std::int64_t tokens, KeyValueCache from,
                               KeyValueCache to) const {
  const std::int64_t width = attention.headWidth;
  for (std::int32_t keyHead = 0; keyHead < attention.keyValueHeads; ++keyHead) {
    const CachedHead<E> source = headOf<E>(from, width, keyHead),
                        target = headOf<E>(to, width, keyHead);
    __builtin_memcpy(target.keys, source.keys,
                     std::size_t(roundUp(tokens, kLanes) * width) * sizeof(E));
    __builtin_memcpy(target.values, source.values, std::size_t(tokens * width) * sizeof(E));
  }
}

#define VIME_INSTANTIATE(T)                                                                        \
  template void CpuKernels<T>::attentionWithCache(const Attention &, std::int64_t, std::int64_t,   \
                                                  ConstMatrix, KeyValueCache, Matrix, void *)      \
      const;                                                                                       \
  template void CpuKernels<T>::copyCached(const Attention &, std::int64_t, KeyValueCache,          \
                                          KeyValueCache) const;
VIME_INSTANTIATE(float)
VIME_INSTANTIATE(double)
VIME_INSTANTIATE(BFloat16)

} // namespace vime::ISA
