// SwiGLU (Shazeer 2020): s = silu(gate) · up, with silu(g) = g · sigmoid(g).
#include "kernels/Cpu/CpuKernels.h"
#include "kernels/Cpu/Elementary.h"

namespace vime::ISA {
namespace {

template <typename T> VIME_INLINE T sigmoid(T x) { return T(1) / (T(1) + exponential(-x)); }

template <typename E>
void forwardRow(std::int64_t ffn, const E *__restrict gate, const E *__restrict up,
                E *__restrict s) {
  for (std::int64_t column = 0; column < ffn; ++column) {
    const Sum<E> g = gate[column];
    s[column] = E(g * sigmoid(g) * up[column]);
  }
}

/// s may be ds: every element is read before it is written.
template <typename E>
void backwardRow(std::int64_t ffn, E *__restrict gate, E *__restrict up, const E *ds, E *s) {
  using T = Sum<E>;
#pragma GCC ivdep
  for (std::int64_t column = 0; column < ffn; ++column) {
    const T g = gate[column], u = up[column], gradient = ds[column];
    const T open = sigmoid(g), silu = g * open;
    s[column] = E(silu * u);
    up[column] = E(gradient * silu);
    gate[column] = E(gradient * u * fma(silu, T(1) - open, open));
  }
}

} // namespace

template <typename E>
void CpuKernels<E>::swigluForward(std::int64_t tokens, std::int64_t ffn, ConstMatrix gateUp,
                                  Matrix s) const {
  for (std::int64_t token = 0; token < tokens; ++token) {
    const E *row = rowOf<E>(gateUp, token);
    forwardRow(ffn, row, row + ffn, rowOf<E>(s, token));
  }
}

template <typename E>
void CpuKernels<E>::swigluBackward(std::int64_t tokens, std::int64_t ffn, Matrix gateUp,
                                   ConstMatrix ds, Matrix s) const {
  for (std::int64_t token = 0; token < tokens; ++token) {
    E *row = rowOf<E>(gateUp, token);
    backwardRow(ffn, row, row + ffn, rowOf<E>(ds, token), rowOf<E>(s, token));
  }
}

#define VIME_INSTANTIATE(T)                                                                        \
  template void CpuKernels<T>::swigluForward(std::int64_t, std::int64_t, ConstMatrix, Matrix)      \
      const;                                                                                       \
  template void CpuKernels<T>::swigluBackward(std::int64_t, std::int64_t, Matrix, ConstMatrix,     \
                                              Matrix) const;
VIME_INSTANTIATE(float)
VIME_INSTANTIATE(double)
VIME_INSTANTIATE(BFloat16)

} // namespace vime::ISA
