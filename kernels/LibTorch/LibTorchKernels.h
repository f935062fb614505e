// The kernels by LibTorch: each one a few calls of ATen on views of the caller's memory. For any
// CPU; also what the native kernels are compared with, since it shares no code with them.
//
// Every call runs without autograd, in one thread (`lendToLibTorch` and the plug-in see to that),
// and allocates from a loan (Loan.h): products and attention from the workspace that the caller
// gives, everything else from kScratchBytes of the thread. Rows are taken in blocks so that what
// lies there is of a fixed size whatever the model.
//
// Promises closeness only. A product's bits depend on the machine and, for a handful of rows, on
// how many rows there are, since MKL chooses its kernels by them.
#pragma once

#include "kernels/Kernels.h"

namespace vime {

/// Null for types without kernels. They live as long as the program.
const Kernels *libTorchKernels(DataType type);

class LibTorchKernels final : public Kernels {
public:
  constexpr explicit LibTorchKernels(DataType type) : elementType(type) {}
  DataType type() const override { return elementType; }
  const char *name() const override { return "libtorch"; }

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

  // Rows.cpp
  void columnSums(std::int64_t tokens, std::int64_t width, ConstMatrix x, bool accumulate,
                  void *sums) const override;
  void swigluForward(std::int64_t tokens, std::int64_t ffn, ConstMatrix gateUp,
                     Matrix s) const override;
  void swigluBackward(std::int64_t tokens, std::int64_t ffn, Matrix gateUp, ConstMatrix ds,
                      Matrix s) const override;
  void embeddingForward(std::int64_t tokens, std::int64_t width, const void *table,
                        const std::int32_t *ids, Matrix out) const override;
  void embeddingBackward(std::int64_t tokens, std::int64_t width, const std::int32_t *ids,
                         ConstMatrix dOut, void *dTable) const override;

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

  // Positions.cpp
  void ropeTable(std::int64_t positions, std::int32_t headWidth, double theta,
                 void *table) const override;
  void rope(const Segments &segments, std::int32_t heads, std::int32_t headWidth, const void *table,
            bool inverse, Matrix x) const override;

  // Attention.cpp
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

  // Vectors.cpp
  void fill(std::int64_t count, double value, void *x) const override;
  void add(std::int64_t count, const void *y, void *x) const override;
  void scale(std::int64_t count, double factor, void *x) const override;
  void adamw(const AdamW &adamw, std::int64_t count, const void *gradients, void *parameters,
             void *moments1, void *moments2, void *rounded) const override;
  void round(std::int64_t count, const void *x, void *rounded) const override;
  void initialize(const Initializer &initializer, std::int64_t first, std::int64_t count,
                  void *values) const override;

private:
  const DataType elementType;
};

} // namespace vime
