// CpuKernels: the native implementation of Kernels for one element type E and one build. Its member
// functions are defined one kernel per file. What is computed and added up is of type Sum<E>.
#pragma once

#include "kernels/Cpu/Simd.h"
#include "kernels/Kernels.h"

namespace vime::ISA {

template <typename E> class CpuKernels final : public Kernels {
public:
  constexpr CpuKernels() = default;
  DataType type() const override;
  const char *name() const override;

  // Product.cpp
  void product(const Product &product, void *workspace) const override;

  // RmsNorm.cpp
  void rmsNormForward(const RmsNorm &norm, ConstMatrix x, const void *weight, Matrix y,
                      void *reciprocal) const override;
  void rmsNormApply(const RmsNorm &norm, ConstMatrix x, const void *weight, const void *reciprocal,
                    Matrix y) const override;
  void rmsNormBackward(const RmsNorm &norm, ConstMatrix x, const void *weight,
                       const void *reciprocal, ConstMatrix dy, ConstMatrix residual, Matrix dx,
                       void *dWeight) const override;

  // ColumnSums.cpp
  void columnSums(std::int64_t tokens, std::int64_t width, ConstMatrix x, bool accumulate,
                  void *sums) const override;

  // SwiGlu.cpp
  void swigluForward(std::int64_t tokens, std::int64_t ffn, ConstMatrix gateUp,
                     Matrix s) const override;
  void swigluBackward(std::int64_t tokens, std::int64_t ffn, Matrix gateUp, ConstMatrix ds,
                      Matrix s) const override;

  // CrossEntropy.cpp
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

  // Embedding.cpp
  void embeddingForward(std::int64_t tokens, std::int64_t width, const void *table,
                        const std::int32_t *ids, Matrix out) const override;
  void embeddingBackward(std::int64_t tokens, std::int64_t width, const std::int32_t *ids,
                         ConstMatrix dOut, void *dTable) const override;

  // Rope.cpp
  void ropeTable(std::int64_t positions, std::int32_t headWidth, double theta,
                 void *table) const override;
  void rope(const Segments &segments, std::int32_t heads, std::int32_t headWidth, const void *table,
            bool inverse, Matrix x) const override;

  // AttentionForward.cpp (AttentionPanels.h), AttentionBackward.cpp
  void attentionForward(const Attention &attention, const Segments &segments,
                        const SliceContext &context, ConstMatrix qkv, Matrix out, void *lse,
                        void *workspace) const override;
  void attentionBackward(const Attention &attention, const Segments &segments,
                         const SliceContext &context, Matrix qkv, ConstMatrix out, ConstMatrix dOut,
                         const void *lse, void *workspace) const override;

  // AttentionWithCache.cpp
  void attentionWithCache(const Attention &attention, std::int64_t first, std::int64_t tokens,
                          ConstMatrix qkv, KeyValueCache cache, Matrix out,
                          void *workspace) const override;
  void copyCached(const Attention &attention, std::int64_t tokens, KeyValueCache from,
                  KeyValueCache to) const override;

  // Elementwise.cpp
  void fill(std::int64_t count, double value, void *x) const override;
  void add(std::int64_t count, const void *y, void *x) const override;
  void scale(std::int64_t count, double factor, void *x) const override;
  void round(std::int64_t count, const void *x, void *rounded) const override;

  // AdamW.cpp
  void adamw(const AdamW &adamw, std::int64_t count, const void *gradients, void *parameters,
             void *moments1, void *moments2, void *rounded) const override;

  // Initialize.cpp
  void initialize(const Initializer &initializer, std::int64_t first, std::int64_t count,
                  void *values) const override;
};

/// A row of a type-erased matrix.
template <typename T> VIME_INLINE T *rowOf(Matrix matrix, std::int64_t row) {
  return static_cast<T *>(matrix.data) + row * matrix.stride;
}
template <typename T> VIME_INLINE const T *rowOf(ConstMatrix matrix, std::int64_t row) {
  return static_cast<const T *>(matrix.data) + row * matrix.stride;
}

} // namespace vime::ISA
