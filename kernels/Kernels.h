// Kernels: the arithmetic of a decoder, on plain memory, for one element type.
//
//   const Kernels &kernels = *nativeKernels(DataType::Float32); // kernels/Native.h
//   kernels.rmsNormForward({tokens, hidden, 1e-5}, {x, hidden}, norm, {h, hidden}, reciprocal);
//   linearForward(kernels, {tokens, hidden, ffn}, {h, hidden}, w, kNoMatrix, {y, ffn}, workspace);
//
// Conventions, for every function below:
//   - Memory is the caller's: nothing is allocated or kept. Elements have `type()`; a pointer need
//     only be aligned to its element. Matrices are row-major; `stride` is the distance of two rows
//     in elements, at least the number of columns; what lies between rows is left alone.
//   - Vectors (norm weights, reciprocals) and weight matrices, given as `void *`, are contiguous.
//   - What adds up or must not be rounded has elements of `sumType()`: reciprocals, log-sums,
//   tables
//     of positions, gradients of weights, and everything under "Vectors". Of bfloat16 kernels that
//     is float32: they read bfloat16, compute in float32 and round what they give once, to the
//     nearest, ties to even. Of other types it is the type itself.
//   - `workspace` holds the bytes that kernels/Workspace.h names for the call, at any address
//     aligned to an element; what it holds before a call does not matter. One thread uses it at a
//     time; otherwise every function may be called from any thread.
//   - Counts of tokens may be 0. Other counts are at least 1; none need be a multiple of anything.
//   - Arguments do not overlap except where the comment says so.
//   - Indices (token ids, labels, segment offsets) were checked by the caller.
//
// Bits. The `native` kernels promise the same bits on every x86-64-v3 and v4 machine, whatever the
// addresses, strides and threads; a row does not depend on how many rows a call has, nor a segment
// on its neighbours. Where a sum has an order that callers may rely on, the function says so. Other
// implementations promise closeness only.
#pragma once

#include "kernels/SumType.h"

#include <cstddef>
#include <cstdint>

namespace vime {

/// A row-major matrix that a kernel writes (and reads, where it says "in place").
struct Matrix {
  void *data;
  std::int64_t stride;
};

/// A row-major matrix that a kernel reads.
struct ConstMatrix {
  const void *data;
  std::int64_t stride;
  constexpr ConstMatrix(const void *data, std::int64_t stride) : data(data), stride(stride) {}
  constexpr ConstMatrix(Matrix matrix) : data(matrix.data), stride(matrix.stride) {}
};

/// For optional operands: "there is none".
inline constexpr ConstMatrix kNoMatrix{nullptr, 0};

/// One factor of a product: element (row, column) is data[row * rowStride + column * columnStride].
/// One of the two strides should be 1; others work, slowly.
struct Factor {
  const void *data;
  std::int64_t rowStride;
  std::int64_t columnStride;
};

/// result[rows, columns] = residual + a[rows, depth] · b[depth, columns]
struct Product {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  Factor a;
  Factor b;
  /// Whether `residual` and `result` have sumType(): a gradient of weights.
  bool intoSums = false;
  /// Whether few rows are multiplied by `b`, too few for it to be worth packing: where it can be,
  /// it is read where it lies. No matter for bits.
  bool hasFewRows = false;
  /// None, or any matrix, `result` itself included (accumulate); of stride 0: one row for all.
  ConstMatrix residual = kNoMatrix;
  Matrix result;
};

/// Packed segments (samples): tokens offsets[s] .. offsets[s + 1] belong to segment s;
/// offsets[0] = 0, offsets[count] = tokens of the call. Segments may be empty. A token's position
/// counts from the start of its segment, which has position `first`: of samples that pass in slices
/// the tokens before it have been in other calls.
struct Segments {
  const std::int32_t *offsets; // count + 1 of them
  std::int32_t count;
  std::int64_t first = 0;
  std::int64_t tokens() const { return count > 0 ? offsets[count] : 0; }
};

struct RmsNorm {
  std::int64_t tokens;
  std::int64_t width;
  double epsilon; // used by the forward only
};

/// Grouped-query attention. One row of `qkv` holds the queries of `heads` heads, then the keys and
/// then the values of `keyValueHeads` heads, each `headWidth` wide. Head h uses key-value head
/// h / (heads / keyValueHeads).
struct Attention {
  std::int32_t heads;
  std::int32_t keyValueHeads; // divides heads
  std::int32_t headWidth;
  std::int64_t queryWidth() const { return std::int64_t(heads) * headWidth; }
  std::int64_t keyValueWidth() const { return std::int64_t(keyValueHeads) * headWidth; }
  std::int64_t qkvWidth() const { return queryWidth() + 2 * keyValueWidth(); }
};

/// What attention in a slice knows of other slices of the same samples: row `segment · rows +
/// position` is of that token. Not looked at where `rows` is 0: samples are whole.
struct SliceContext {
  /// Of the slices before: keys of all key-value heads, then values, of type().
  ConstMatrix keyValues{nullptr, 0};
  /// Their gradients and the slice's own, as far as later slices have made them, likewise, of
  /// sumType(). Used by the backward only.
  Matrix gradients{nullptr, 0};
  /// There is no later slice: the gradients hold nothing yet.
  bool isLast = false;
  std::int64_t rows = 0; // of a segment
};

/// Memory in which the keys and values of one sequence stay from call to call, with room for `rows`
/// tokens: keyValueCacheBytes (kernels/Workspace.h) of them, at any address aligned to an element.
/// What lies where is the implementation's own.
struct KeyValueCache {
  void *data;
  std::int64_t rows;
};

/// One AdamW update (Loshchilov & Hutter 2019; `torch.optim.AdamW`). With
///   g = gradientScale · gradient
///   m += (1 - beta1) (g - m)
///   v = beta2 v + (1 - beta2) g²
///   p = p (1 - learningRate · weightDecay)
///       - learningRate / biasCorrection1 · m / (sqrt(v) / sqrt(biasCorrection2) + epsilon)
struct AdamW {
  double learningRate;
  double weightDecay;
  double beta1;
  double beta2;
  double epsilon;
  double biasCorrection1;     // 1 - beta1^step, step counting from 1
  double biasCorrection2;     // 1 - beta2^step
  double gradientScale = 1.0; // e.g. the clip factor
};

/// Values that depend on (seed, tensor, index) only: whoever fills whichever part of a tensor gets
/// the same numbers. They are made in float64 and rounded to sumType() once.
struct Initializer {
  enum class Kind : std::uint8_t { Normal, Uniform };
  Kind kind;
  double center; // mean
  double spread; // Normal: standard deviation; Uniform: half the width of the interval
  std::uint64_t seed;
  std::uint64_t tensor; // tensorKey(name)
};

class Kernels {
public:
  virtual ~Kernels();
  virtual DataType type() const = 0;
  DataType sumType() const { return sumTypeOf(type()); }
  /// For people: `native avx512`, ...
  virtual const char *name() const = 0;

  // --- Products ---

  /// C = R + A · B. `native`: an element is R + chunk + chunk + ...; a chunk is one chain of fused
  /// multiply-adds from 0 over 128 ascending k, so bits depend on depth alone, and a product
  /// accumulated over several calls split at multiples of 128 of the depth equals the single call
  /// (where the result is not rounded in between).
  virtual void product(const Product &product, void *workspace) const = 0;

  // --- Rows ---

  /// reciprocal[token] = 1 / sqrt(mean(x²) + epsilon);  y = x · reciprocal · weight
  virtual void rmsNormForward(const RmsNorm &norm, ConstMatrix x, const void *weight, Matrix y,
                              void *reciprocal) const = 0;
  /// y again, from x and the kept reciprocals: the same bits as the forward's.
  virtual void rmsNormApply(const RmsNorm &norm, ConstMatrix x, const void *weight,
                            const void *reciprocal, Matrix y) const = 0;
  /// dx = residual + gradient of x (residual may be kNoMatrix); dWeight[width] = sum over ascending
  /// tokens, overwritten. dx may be the same matrix as dy or as residual.
  virtual void rmsNormBackward(const RmsNorm &norm, ConstMatrix x, const void *weight,
                               const void *reciprocal, ConstMatrix dy, ConstMatrix residual,
                               Matrix dx, void *dWeight) const = 0;

  /// sums[width] = sum of the rows of x over ascending tokens, from 0; added to what is there when
  /// `accumulate`.
  virtual void columnSums(std::int64_t tokens, std::int64_t width, ConstMatrix x, bool accumulate,
                          void *sums) const = 0;

  /// gateUp[tokens, 2 ffn] holds gate, then up. s[tokens, ffn] = silu(gate) · up
  virtual void swigluForward(std::int64_t tokens, std::int64_t ffn, ConstMatrix gateUp,
                             Matrix s) const = 0;
  /// In place: gate, up become their gradients. s receives what the forward had computed; s may be
  /// the same matrix as ds.
  virtual void swigluBackward(std::int64_t tokens, std::int64_t ffn, Matrix gateUp, ConstMatrix ds,
                              Matrix s) const = 0;

  /// logits[tokens, vocabulary] become scale · (softmax(logits) - onehot(label)); a row whose label
  /// is negative is ignored: it becomes 0 and adds no loss. Returns the plain (unscaled) sum of
  /// -log softmax(logits)[label], added in ascending tokens.
  virtual double crossEntropy(std::int64_t tokens, std::int64_t vocabulary, Matrix logits,
                              const std::int32_t *labels, double scale) const = 0;
  /// logProbabilities[token] = log softmax(logits)[label]; no label is negative. `native`: to the
  /// bit what crossEntropy adds up, negated.
  virtual void logProbabilities(std::int64_t tokens, std::int64_t vocabulary, ConstMatrix logits,
                                const std::int32_t *labels, double *logProbabilities) const = 0;
  /// entropies[token] = -sum p log p, p = softmax(logits).
  virtual void entropies(std::int64_t tokens, std::int64_t vocabulary, ConstMatrix logits,
                         double *entropies) const = 0;
  /// In place: logits become their gradient, byLogProbability · (onehot(label) - p) and, unless
  /// byEntropy is null, byEntropy · dH / dlogits = -byEntropy · p (log p + H). A row whose label is
  /// negative becomes 0. `native`: of slopes -scale the bits of crossEntropy.
  virtual void logProbabilitiesBackward(std::int64_t tokens, std::int64_t vocabulary, Matrix logits,
                                        const std::int32_t *labels, const double *byLogProbability,
                                        const double *byEntropy) const = 0;
  /// weights[tokens, vocabulary], of sumType(): e^(scale · (logit - the row's largest)), which is
  /// softmax(scale · logits) but for the division by its sum. `scale` is positive; weights are too,
  /// however far a logit lies below the largest.
  virtual void softmaxWeights(std::int64_t tokens, std::int64_t vocabulary, ConstMatrix logits,
                              double scale, Matrix weights) const = 0;

  /// out[token] = table[ids[token]]; the table is [vocabulary, width], contiguous.
  virtual void embeddingForward(std::int64_t tokens, std::int64_t width, const void *table,
                                const std::int32_t *ids, Matrix out) const = 0;
  /// dTable[ids[token]] += dOut[token], tokens ascending.
  virtual void embeddingBackward(std::int64_t tokens, std::int64_t width, const std::int32_t *ids,
                                 ConstMatrix dOut, void *dTable) const = 0;

  // --- Positions and attention ---

  /// Rotary position table (Su et al. 2021) as Hugging Face's Llama computes it:
  ///   frequency[j] = float32(1 / float32(theta^float32(2j / headWidth)))
  ///   angle[position, j] = float32(position · frequency[j])
  /// cosine and sine of that float32 angle are taken in float64 and rounded to sumType().
  /// table[positions, headWidth]: headWidth / 2 cosines, then as many sines. headWidth is even.
  virtual void ropeTable(std::int64_t positions, std::int32_t headWidth, double theta,
                         void *table) const = 0;
  /// In place: rotates the first `heads` heads of each row (pairs are (j, j + headWidth / 2)). The
  /// table covers all positions. `inverse` rotates back, which is also the gradient.
  virtual void rope(const Segments &segments, std::int32_t heads, std::int32_t headWidth,
                    const void *table, bool inverse, Matrix x) const = 0;

  /// Causal softmax attention inside each segment, and of a slice to those before it, scaled by
  /// 1 / sqrt(headWidth). out[tokens, heads · headWidth]; lse[tokens, heads] (contiguous) receives
  /// the log of each row's sum of exponentials, for the backward. `native`: a row has the bits that
  /// it has where samples are whole.
  virtual void attentionForward(const Attention &attention, const Segments &segments,
                                const SliceContext &context, ConstMatrix qkv, Matrix out, void *lse,
                                void *workspace) const = 0;
  /// In place: q, k, v become their gradients, of a slice those of all slices from it on: what
  /// later ones have made is read from the context, and what this one adds to the gradients of
  /// earlier ones is added there. Gradients of a key-value head add up over slices descending, and
  /// in each over its query heads in ascending order. `out` and `lse` are the forward's.
  virtual void attentionBackward(const Attention &attention, const Segments &segments,
                                 const SliceContext &context, Matrix qkv, ConstMatrix out,
                                 ConstMatrix dOut, const void *lse, void *workspace) const = 0;

  /// Attention of tokens first … first + tokens of one sequence to all tokens up to themselves:
  /// those before `first` are in the cache from earlier calls, these are added to it. qkv[tokens],
  /// out[tokens, heads · headWidth]. `native`: a row has the bits that it has in attentionForward,
  /// whatever the calls in which its sequence came.
  virtual void attentionWithCache(const Attention &attention, std::int64_t first,
                                  std::int64_t tokens, ConstMatrix qkv, KeyValueCache cache,
                                  Matrix out, void *workspace) const = 0;
  /// The first tokens of `to` become those of `from`, of another cache with as many rows.
  virtual void copyCached(const Attention &attention, std::int64_t tokens, KeyValueCache from,
                          KeyValueCache to) const = 0;

  // --- Vectors, of sumType() ---

  /// x = value
  virtual void fill(std::int64_t count, double value, void *x) const = 0;
  /// x += y
  virtual void add(std::int64_t count, const void *y, void *x) const = 0;
  /// x *= factor (rounded to the vector's type first)
  virtual void scale(std::int64_t count, double factor, void *x) const = 0;
  /// One pass over parameters, gradients and both moments. `rounded`, unless null, receives the
  /// parameters in type(): the weights that products read, where masters are kept beside them.
  virtual void adamw(const AdamW &adamw, std::int64_t count, const void *gradients,
                     void *parameters, void *moments1, void *moments2, void *rounded) const = 0;
  /// rounded[i] = x[i] in type()
  virtual void round(std::int64_t count, const void *x, void *rounded) const = 0;
  /// values[i] = element first + i of the tensor.
  virtual void initialize(const Initializer &initializer, std::int64_t first, std::int64_t count,
                          void *values) const = 0;
};

/// The part of an Initializer's key that names the tensor: 64-bit FNV-1a of the name.
std::uint64_t tensorKey(const char *name, std::size_t length);

// --- The three products of a linear layer, weight[outputs, inputs] contiguous ---

struct Linear {
  std::int64_t tokens;
  std::int64_t inputs;
  std::int64_t outputs;
  bool hasFewTokens = false; // Product::hasFewRows, of the forward
};

/// y[tokens, outputs] = residual + x · weightᵀ
void linearForward(const Kernels &kernels, const Linear &linear, ConstMatrix x, const void *weight,
                   ConstMatrix residual, Matrix y, void *workspace);
/// dx[tokens, inputs] = residual + dy · weight
void linearBackwardInput(const Kernels &kernels, const Linear &linear, ConstMatrix dy,
                         const void *weight, ConstMatrix residual, Matrix dx, void *workspace);
/// dWeight = dyᵀ · x, added to what is there when `accumulate`
void linearBackwardWeight(const Kernels &kernels, const Linear &linear, ConstMatrix dy,
                          ConstMatrix x, bool accumulate, void *dWeight, void *workspace);

/// Kernels::attentionWithCache by attentionForward, where a slice of a sample is all that it needs:
/// of a cache that holds rows of keys, then values. `lse` has room for [tokens, heads].
void attentionWithRows(const Kernels &kernels, const Attention &attention, std::int64_t first,
                       std::int64_t tokens, ConstMatrix qkv, KeyValueCache cache, Matrix out,
                       void *lse, void *workspace);
/// Kernels::copyCached, of such a cache.
void copyCachedRows(const Kernels &kernels, const Attention &attention, std::int64_t tokens,
                    KeyValueCache from, KeyValueCache to);

/// Address of the element `index` places further on.
inline void *elementAt(void *data, std::int64_t index, DataType type) {
  return static_cast<std::byte *>(data) + index * std::int64_t(sizeOf(type));
}
inline const void *elementAt(const void *data, std::int64_t index, DataType type) {
  return static_cast<const std::byte *>(data) + index * std::int64_t(sizeOf(type));
}

} // namespace vime
