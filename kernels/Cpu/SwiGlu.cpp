// SwiGLU (Shazeer 2020): s = silu(gate) · up, with silu(g) = g · sigmoid(g).
#include "kernels/Cpu/CpuKernels.h"
#include "kernels/Cpu/Elementary.h"

namespace vime::ISA {
namespace {

template <typename T> VIME_INLINE T sigmoid(T x) { return T(1) / (T(1) + exponential(-x)); }

template <typename T>
void forwardRow(std::int64_t ffn, const T *__restrict gate, const T *__restrict up,
                T *__restrict s) {
  for (std::int64_t column = 0; column < ffn; ++column)
    s[column] = gate[column] * sigmoid(gate[column]) * up[column];
}

/// s may be ds: every element is read before it is written.
template <typename T>
void backwardRow(std::int64_t ffn, T *__restrict gate, T *__restrict up, const T *ds, T *s) {
#pragma GCC ivdep
  for (std::int64_t column = 0; column < ffn; ++column) {
    const T g = gate[column], u = up[column], gradient = ds[column];
    const T open = sigmoid(g), silu = g * open;
    s[column] = silu * u;
    up[column] = gradient * silu;
    gate[column] = gradient * u * fma(silu, T(1) - open, open);
  }
}

} // namespace

template <typename T>
void CpuKernels<T>::swigluForward(std::int64_t tokens, std::int64_t ffn, ConstMatrix gateUp,
                                  Matrix s) const {
  for (std::int64_t token = 0; token < tokens; ++token) {
    const T *row = rowOf<T>(gateUp, token);
    forwardRow(ffn, row, row + ffn, rowOf<T>(s, token));
  }
}

template <typename T>
void CpuKernels<T>::swigluBackward(std::int64_t tokens, std::int64_t ffn, Matrix gateUp,
                                   ConstMatrix ds, Matrix s) const {
  for (std::int64_t token = 0; token < tokens; ++token) {
    T *row = rowOf<T>(gateUp, token);
    backwardRow(ffn, row, row + ffn, rowOf<T>(ds, token), rowOf<T>(s, token));
  }
}

#define VIME_INSTANTIATE(T)                                                                        \
  template void CpuKernels<T>::swigluForward(std::int64_t, std::int64_t, ConstMatrix, Matrix)      \
      const;                                                                                       \
  template void CpuKernels<T>::swigluBackward(std::int64_t, std::int64_t, Matrix, ConstMatrix,     \
                                              Matrix) const;
VIME_INSTANTIATE(float)
VIME_INSTANTIATE(double)

} // namespace vime::ISA
