// The reference: every kernel as the plainest loops in float64, written to be read. Slow. It is
// what implementations are compared with, and the place to look up what a kernel means.
#pragma once

#include "kernels/BFloat16.h"
#include "kernels/Kernels.h"

namespace vime {

/// Null for types without a reference. Lives as long as the program.
const Kernels *referenceKernels(DataType type);

/// Of elements E; what is not rounded to them is of type Sum<E>.
template <typename E> class ReferenceKernels final : public Kernels {
public:
  DataType type() const override {
    return sizeof(E) == 2   ? DataType::BFloat16
           : sizeof(E) == 4 ? DataType::Float32
                            : DataType::Float64;
  }
  const char *name() const override { return "reference"; }

  // ReferenceRows.cpp
  void product(const Product &product, void *workspace) const override;
  void rmsNormForward(const RmsNorm &norm, ConstMatrix x, const void *weight, Matrix y,
                      void *reciprocal) const override;
  void rmsNormApply(const RmsNorm &norm, ConstMatrix x, const void *weight, const void *reciprocal,
                    Matrix y) const override;
  void rmsNormBackward(const RmsNorm &norm, ConstMatrix x, const void *weight,
                       const void *reciprocal, ConstMatrix dy, ConstMatrix residual, Matrix dx,
                       void *dWeight) const override;
  void columnSums(std::int64_t tokens, std::int64_t width, ConstMatrix x, bool accumulate,
                  void *sums) const override;
  void swigluForward(std::int64_t tokens, std::int64_t ffn, ConstMatrix gateUp,
                     Matrix s) const override;
  void swigluBackward(std::int64_t tokens, std::int64_t ffn, Matrix gateUp, ConstMatrix ds,
                      Matrix s) const override;
  double crossEntropy(std::int64_t tokens, std::int64_t vocabulary, Matrix logits,
                      const std::int32_t *labels, double scale) const override;
  void logProbabilities(std::int64_t tokens, std::int64_t vocabulary, ConstMatrix logits,
                        const std::int32_t *labels, double *logProbabilities) const override;
  void entropies(std::int64_t tokens, std::int64_t vocabulary, ConstMatrix logits,
                 double *entropies) const override;
  void logProbabilitiesBackward(std::int64_t tokens, std::int64_t vocabulary, Matrix logits,
                                const std::int32_t *labels, const double *byLogProbability,
                                const double *byEntropy) const override;
  void softmaxWeights(std::int64_t tokens, std::int64_t vocabulary, ConstMatrix logits,
                      double scale, Matrix weights) const override;
  void embeddingForward(std::int64_t tokens, std::int64_t width, const void *table,
                        const std::int32_t *ids, Matrix out) const override;
  void embeddingBackward(std::int64_t tokens, std::int64_t width, const std::int32_t *ids,
                         ConstMatrix dOut, void *dTable) const override;

  // ReferenceAttention.cpp
  void ropeTable(std::int64_t positions, std::int32_t headWidth, double theta,
                 void *table) const override;
  void rope(const Segments &segments, std::int32_t heads, std::int32_t headWidth, const void *table,
            bool inverse, Matrix x) const override;
  void attentionForward(const Attention &attention, const Segments &segments,
                        const SliceContext &context, ConstMatrix qkv, Matrix out, void *lse,
                        void *workspace) const override;
  void attentionBackward(const Attention &attention, const Segments &segments,
                         const SliceContext &context, Matrix qkv, ConstMatrix out, ConstMatrix dOut,
                         const void *lse, void *workspace) const override;
  void attentionWithCache(const Attention &attention, std::int64_t first, std::int64_t tokens,
                          ConstMatrix qkv, KeyValueCache cache, Matrix out,
                          void *workspace) const override;
  void copyCached(const Attention &attention, std::int64_t tokens, KeyValueCache from,
                  KeyValueCache to) const override;

  // ReferenceVectors.cpp
  void fill(std::int64_t count, double value, void *x) const override;
  void add(std::int64_t count, const void *y, void *x) const override;
  void scale(std::int64_t count, double factor, void *x) const override;
  void adamw(const AdamW &adamw, std::int64_t count, const void *gradients, void *parameters,
             void *moments1, void *moments2, void *rounded) const override;
  void round(std::int64_t count, const void *x, void *rounded) const override;
  void initialize(const Initializer &initializer, std::int64_t first, std::int64_t count,
                  void *values) const override;
};

/// Typed access to a matrix: at(row, column).
template <typename T> struct View {
  T *data;
  std::int64_t stride;
  explicit View(Matrix matrix) : data(static_cast<T *>(matrix.data)), stride(matrix.stride) {}
  explicit View(ConstMatrix matrix) : data(static_cast<T *>(matrix.data)), stride(matrix.stride) {}
  T &at(std::int64_t row, std::int64_t column) const { return data[row * stride + column]; }
};

} // namespace vime
