// Causal attention, backward, in place: q, k and v become their gradients. Weights are recomputed
// from the kept log-sums, for a block of 32 queries and a tile of keys at a time.
//
// With P the weights, D = dOut · out per query, scaled scores S:
//   dV = Pᵀ dOut,  dS = P ∘ (dOut Vᵀ - D) / sqrt(width),  dQ = dS K,  dK = dSᵀ Q.
// The block is 32 queries in every build, because dK and dV add up block by block: an element is
// chunk + chunk + ..., each chunk one chain over a block's queries; heads of a group ascend. Of
// slices of samples the later ones come first: their sum is what this one begins with.
#include "kernels/Cpu/Attention.h"
#include "kernels/Cpu/CpuKernels.h"
#include "kernels/Cpu/Scratch.h"

namespace vime::ISA {
namespace {

constexpr int kQueryBlock = 32;
constexpr std::int64_t kKeyTile = 256; // a multiple of kDepthChunk, so that chunks of dQ stay whole

/// One query head of one segment, of elements E; `queries` becomes its gradient. All that is
/// computed is of T = Sum<E>.
template <typename E> struct Head {
  std::int64_t width;
  ScoreScale<Sum<E>> scale;
  RowMajor<E> queries;
  RowMajor<const E> out, dOut;
  const Sum<E> *lse;
  std::int64_t lseStride;
};

/// `padded`: the head's width filled up to whole panels of VectorsOfHead vectors.
template <typename T> struct Areas {
  std::int64_t padded;
  T *keys, *values;              // compact copies of one key-value head: [keys, width]
  T *dKeys, *dValues;            // their gradients so far: [keys, padded]
  T *queryRows, *dOutRows;       // one block, packed panels: [queries, padded]
  T *queryColumns, *dOutColumns; // one block, transposed: [width, kQueryBlock] in panels
  T *outColumns;                 // one panel, transposed: [width, panel]
  T *dQueryColumns;              // one block, transposed, in panels: [width, panel]
  T *weights, *dScores;          // one tile: [keys, kQueryBlock]

  Areas(void *workspace, std::int64_t width, std::int64_t padded, std::int64_t seen)
      : padded(padded) {
    Scratch scratch(workspace);
    keys = scratch.take<T>(seen * width);
    values = scratch.take<T>(seen * width);
    dKeys = scratch.take<T>(seen * padded);
    dValues = scratch.take<T>(seen * padded);
    queryRows = scratch.take<T>(kQueryBlock * padded);
    dOutRows = scratch.take<T>(kQueryBlock * padded);
    queryColumns = scratch.take<T>(kQueryBlock * width);
    dOutColumns = scratch.take<T>(kQueryBlock * width);
    outColumns = scratch.take<T>(kQueryBlock * width);
    dQueryColumns = scratch.take<T>(kQueryBlock * width);
    weights = scratch.take<T>(minimum(kKeyTile, seen) * kQueryBlock);
    dScores = scratch.take<T>(minimum(kKeyTile, seen) * kQueryBlock);
  }
};

/// What the softmax backward needs of each query of a block.
template <typename T> struct QueryFacts {
  T lse[kQueryBlock];   // in powers of two
  T delta[kQueryBlock]; // sum over the width of dOut · out
};

/// The queries [first, first + count) of a head, ready for products; the first one has `position`.
struct Block {
  std::int64_t first, position;
  int count;
  std::int64_t keys() const { return position + count; }
};

template <typename E, typename T, int VectorsOfHead>
void packBlock(const Head<E> &head, Block block, const Areas<T> &areas, QueryFacts<T> &facts) {
  const RowMajor<const E> queries{head.queries.data + block.first * head.queries.stride,
                                  head.queries.stride};
  const RowMajor<const E> out = rowsFrom(head.out, block.first);
  const RowMajor<const E> dOut = rowsFrom(head.dOut, block.first);
  packPanels<T, VectorsOfHead>(block.count, head.width, queries.data, queries.stride, 1,
                               areas.queryRows);
  packPanels<T, VectorsOfHead>(block.count, head.width, dOut.data, dOut.stride, 1, areas.dOutRows);
  packPanels<T, 2>(head.width, block.count, queries.data, 1, queries.stride, areas.queryColumns);
  packPanels<T, 2>(head.width, block.count, dOut.data, 1, dOut.stride, areas.dOutColumns);
  packPanels<T, 2>(head.width, block.count, out.data, 1, out.stride, areas.outColumns);
  for (int query = 0; query < kQueryBlock; ++query) {
    const bool exists = query < block.count;
    facts.lse[query] = exists ? head.lse[(block.first + query) * head.lseStride] * T(kLog2E) : T(0);
  }
  constexpr int kQueries = kQueryPanel<T>;
  for (int panel = 0; panel < block.count; panel += kQueries) {
    Vector<T> delta[2] = {};
    for (std::int64_t column = 0; column < head.width; ++column)
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v) {
        const std::int64_t at = panel * head.width + column * kQueries + v * kWidth<T>;
        delta[v] = fma(load(areas.outColumns + at), load(areas.dOutColumns + at), delta[v]);
      }
    store(facts.delta + panel, delta[0]);
    store(facts.delta + panel + kWidth<T>, delta[1]);
  }
}

/// Scores become weights, gradients of weights become gradients of scores; 0 where masked.
/// `lag`: how far the first of these keys is after the first query (negative: before).
template <typename T>
VIME_INLINE void softmaxBackward(std::int64_t keys, std::int64_t lag, ScoreScale<T> scale,
                                 const T *lse, const T *delta, T *weights, T *dScores) {
#pragma GCC unroll 2
  for (int v = 0; v < 2; ++v) {
    const Vector<T> logSum = load(lse + v * kWidth<T>), mean = load(delta + v * kWidth<T>);
    for (std::int64_t key = 0; key < keys; ++key) {
      T *weightPlace = weights + key * kQueryBlock + v * kWidth<T>;
      T *scorePlace = dScores + key * kQueryBlock + v * kWidth<T>;
      Vector<T> weight = exponential2(fma(load(weightPlace), broadcast(scale.binary), -logSum));
      if (lag + key > 0)
        weight = visible<T>(lag + key, v, weight, Vector<T>{});
      store(weightPlace, weight);
      store(scorePlace, weight * (load(scorePlace) - mean) * scale.natural);
    }
  }
}

template <typename T> void clearRows(std::int64_t rows, int columns, RowMajor<T> matrix) {
  for (std::int64_t row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      matrix.data[row * matrix.stride + column] = T(0);
}

/// Weights and score gradients of one panel of queries for the keys [firstKey, firstKey + keys), of
/// which it sees some; and its part of the gradient of the queries.
template <typename E, typename T>
void visitPanel(const Head<E> &head, Block block, int panel, std::int64_t firstKey,
                std::int64_t keys, const Areas<T> &areas, const QueryFacts<T> &facts) {
  constexpr int kQueries = kQueryPanel<T>;
  const std::int64_t firstQuery = block.position + panel;
  const std::int64_t seen = clamp(minimum(firstQuery + kQueries, block.keys()) - firstKey, 0, keys);
  T *weights = areas.weights + panel, *dScores = areas.dScores + panel;
  clearRows<T>(keys - seen, kQueries, {weights + seen * kQueryBlock, kQueryBlock});
  clearRows<T>(keys - seen, kQueries, {dScores + seen * kQueryBlock, kQueryBlock});
  if (seen == 0)
    return;
  const T *queries = areas.queryColumns + panel * head.width;
  const T *dOut = areas.dOutColumns + panel * head.width;
  T *dQueries = areas.dQueryColumns + panel * head.width;
  const T *keyRows = areas.keys + firstKey * head.width;
  const T *valueRows = areas.values + firstKey * head.width;
  const Extent scores{seen, kQueries, head.width};
  multiply<T, 2>(scores, {keyRows, head.width, 1}, packedPanels<T, 2>(queries, head.width), {},
                 {weights, kQueryBlock}, nullptr);
  multiply<T, 2>(scores, {valueRows, head.width, 1}, packedPanels<T, 2>(dOut, head.width), {},
                 {dScores, kQueryBlock}, nullptr);
  softmaxBackward<T>(seen, firstKey - firstQuery, head.scale, facts.lse + panel,
                     facts.delta + panel, weights, dScores);
  multiply<T, 2>({head.width, kQueries, seen}, {keyRows, 1, head.width},
                 {dScores, kQueryBlock, kQueries}, {firstKey ? dQueries : nullptr, kQueries},
                 {dQueries, kQueries}, nullptr);
}

/// Adds the block's part of the gradients of keys and values.
template <typename T, int VectorsOfHead>
void addKeyGradients(Block block, std::int64_t firstKey, std::int64_t keys, const Areas<T> &areas) {
  const Extent extent{keys, areas.padded, block.count};
  const RowMajor<T> dKeys{areas.dKeys + firstKey * areas.padded, areas.padded};
  const RowMajor<T> dValues{areas.dValues + firstKey * areas.padded, areas.padded};
  multiply<T, VectorsOfHead>(extent, {areas.dScores, kQueryBlock, 1},
                             packedPanels<T, VectorsOfHead>(areas.queryRows, block.count),
                             {dKeys.data, dKeys.stride}, dKeys, nullptr);
  multiply<T, VectorsOfHead>(extent, {areas.weights, kQueryBlock, 1},
                             packedPanels<T, VectorsOfHead>(areas.dOutRows, block.count),
                             {dValues.data, dValues.stride}, dValues, nullptr);
}

template <typename E, typename T, int VectorsOfHead>
void visitBlock(const Head<E> &head, Block block, const Areas<T> &areas) {
  constexpr int kQueries = kQueryPanel<T>;
  QueryFacts<T> facts;
  packBlock<E, T, VectorsOfHead>(head, block, areas, facts);
  for (std::int64_t firstKey = 0; firstKey < block.keys(); firstKey += kKeyTile) {
    const std::int64_t keys = minimum(kKeyTile, block.keys() - firstKey);
    for (int panel = 0; panel < kQueryBlock; panel += kQueries)
      if (panel < block.count)
        visitPanel<E, T>(head, block, panel, firstKey, keys, areas, facts);
    addKeyGradients<T, VectorsOfHead>(block, firstKey, keys, areas);
  }
  for (int panel = 0; panel < block.count; panel += kQueries)
    writeTransposed<T, false>(head.width, minimum(kQueries, block.count - panel),
                              areas.dQueryColumns + panel * head.width, kQueries,
                              head.queries.data + (block.first + panel) * head.queries.stride,
                              head.queries.stride);
}

/// Rows of the gradients of one key-value head, keys or values, beside those of other heads.
template <typename T> struct SharedGradients {
  RowMajor<T> keys, values;

  SharedGradients(const Attention &attention, const SliceContext &context, std::int32_t segment,
                  std::int32_t keyHead) {
    T *first = rowOf<T>(context.gradients, segment * context.rows) + keyHead * attention.headWidth;
    keys = {first, context.gradients.stride};
    values = {first + attention.keyValueWidth(), context.gradients.stride};
  }
};

/// One key-value head of one segment, and the query heads that use it.
template <typename E, int VectorsOfHead>
void visitGroup(const Attention &attention, const Segments &segments, const SliceContext &context,
                std::int32_t segment, std::int32_t keyHead, Matrix qkv, ConstMatrix out,
                ConstMatrix dOut, const Sum<E> *lse, void *workspace) {
  using T = Sum<E>;
  const std::int64_t width = attention.headWidth, before = segments.first,
                     start = segments.offsets[segment],
                     tokens = segments.offsets[segment + 1] - start, seen = before + tokens;
  const std::int32_t group = attention.heads / attention.keyValueHeads;
  const Areas<T> areas(workspace, width, roundUp(width, kPanel<T, VectorsOfHead>), seen);
  copyKeys<E>(attention, segments, context, segment, keyHead, qkv, areas.keys, areas.values);
  clearRows<T>(seen, int(areas.padded), {areas.dKeys, areas.padded});
  clearRows<T>(seen, int(areas.padded), {areas.dValues, areas.padded});
  if (context.rows != 0 && !context.isLast) {
    const SharedGradients<T> shared(attention, context, segment, keyHead);
    copyRows<T>(seen, width, shared.keys, RowMajor{areas.dKeys, areas.padded});
    copyRows<T>(seen, width, shared.values, RowMajor{areas.dValues, areas.padded});
  }
  for (std::int32_t head = keyHead * group; head < (keyHead + 1) * group; ++head) {
    const Head<E> one{.width = width,
                      .scale = ScoreScale<T>(attention),
                      .queries = {rowOf<E>(qkv, start) + head * width, qkv.stride},
                      .out = {rowOf<E>(out, start) + head * width, out.stride},
                      .dOut = {rowOf<E>(dOut, start) + head * width, dOut.stride},
                      .lse = lse + start * attention.heads + head,
                      .lseStride = attention.heads};
    for (std::int64_t first = 0; first < tokens; first += kQueryBlock)
      visitBlock<E, T, VectorsOfHead>(
          one, {first, before + first, int(minimum(kQueryBlock, tokens - first))}, areas);
  }
  if (before > 0) {
    const SharedGradients<T> shared(attention, context, segment, keyHead);
    copyRows<T>(before, width, RowMajor{areas.dKeys, areas.padded}, shared.keys);
    copyRows<T>(before, width, RowMajor{areas.dValues, areas.padded}, shared.values);
  }
  E *keys = rowOf<E>(qkv, start) + attention.queryWidth() + keyHead * width;
  E *values = keys + attention.keyValueWidth();
  copyRows<T>(tokens, width, RowMajor{areas.dKeys + before * areas.padded, areas.padded},
              RowMajor{keys, qkv.stride});
  copyRows<T>(tokens, width, RowMajor{areas.dValues + before * areas.padded, areas.padded},
              RowMajor{values, qkv.stride});
}

} // namespace

template <typename E>
void CpuKernels<E>::attentionBackward(const Attention &attention, const Segments &segments,
                                      const SliceContext &context, Matrix qkv, ConstMatrix out,
                                      ConstMatrix dOut, const void *lse, void *workspace) const {
  using T = Sum<E>;
  const auto visit = attention.headWidth <= kWidth<T> ? visitGroup<E, 1> : visitGroup<E, 2>;
  for (std::int32_t segment = 0; segment < segments.count; ++segment)
    for (std::int32_t keyHead = 0; keyHead < attention.keyValueHeads; ++keyHead)
      if (segments.offsets[segment] != segments.offsets[segment + 1])
        visit(attention, segments, context, segment, keyHead, qkv, out, dOut,
              static_cast<const T *>(lse), workspace);
}

template void CpuKernels<float>::attentionBackward(const Attention &, const Segments &,
                                                   const SliceContext &, Matrix, ConstMatrix,
                                                   ConstMatrix, const void *, void *) const;
template void CpuKernels<double>::attentionBackward(const Attention &, const Segments &,
                                                    const SliceContext &, Matrix, ConstMatrix,
                                                    ConstMatrix, const void *, void *) const;
template void CpuKernels<BFloat16>::attentionBackward(const Attention &, const Segments &,
                                                      const SliceContext &, Matrix, ConstMatrix,
                                                      ConstMatrix, const void *, void *) const;

} // namespace vime::ISA
