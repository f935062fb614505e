// Attention of whole segments, and of slices to the ones before them.
#include "kernels/Cpu/AttentionPanels.h"

namespace vime::ISA {

template <typename E>
void CpuKernels<E>::attentionForward(const Attention &attention, const Segments &segments,
                                     const SliceContext &context, ConstMatrix qkv, Matrix out,
                                     void *lse, void *workspace) const {
  using T = Sum<E>;
  for (std::int32_t segment = 0; segment < segments.count; ++segment) {
    const std::int64_t start = segments.offsets[segment];
    const std::int64_t tokens = segments.offsets[segment + 1] - start;
    if (tokens > 0)
      attendInPanels<E>(
          attention, segments.first, tokens, {rowOf<E>(qkv, start), qkv.stride},
          {rowOf<E>(out, start), out.stride}, static_cast<T *>(lse) + start * attention.heads,
          workspace, [&](std::int32_t keyHead, T *keys, T *values) {
            copyKeys<E>(attention, segments, context, segment, keyHead, qkv, keys, values);
          });
  }
}

template void CpuKernels<float>::attentionForward(const Attention &, const Segments &,
                                                  const SliceContext &, ConstMatrix, Matrix, void *,
                                                  void *) const;
template void CpuKernels<double>::attentionForward(const Attention &, const Segments &,
                                                   const SliceContext &, ConstMatrix, Matrix,
                                                   void *, void *) const;
template void CpuKernels<BFloat16>::attentionForward(const Attention &, const Segments &,
                                                     const SliceContext &, ConstMatrix, Matrix,
                                                     void *, void *) const;

} // namespace vime::ISA
