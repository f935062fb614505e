// Causal attention by LibTorch's flash attention for CPUs, a segment at a time. Query heads that
// share their keys and values take turns: each time one of every key-value head.
#include <cmath>

#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>

#include "kernels/LibTorch/Call.h"
#include "kernels/LibTorch/LibTorchKernels.h"
#include "kernels/LibTorch/Views.h"
#include "kernels/Workspace.h"

namespace vime {
namespace {

/// Tensors of one segment as flash attention takes them: [1, heads, tokens, width].
class SegmentView {
public:
  SegmentView(DataType type, const Attention &attention, std::int64_t begin, std::int64_t tokens)
      : type(type), attention(attention), begin(begin), tokens(tokens) {}

  std::int64_t sharers() const { return attention.heads / attention.keyValueHeads; }
  double scale() const { return 1 / std::sqrt(double(attention.headWidth)); }

  /// Of the query heads, or of rows like theirs: number `turn` of each key-value head.
  at::Tensor queries(ConstMatrix rows, std::int64_t turn) const {
    return heads(rows, turn * attention.headWidth, sharers());
  }
  at::Tensor keys(ConstMatrix qkv) const { return heads(qkv, attention.queryWidth(), 1); }
  at::Tensor values(ConstMatrix qkv) const {
    return heads(qkv, attention.queryWidth() + attention.keyValueWidth(), 1);
  }
  /// [1, heads, tokens]
  at::Tensor sums(const void *lse, std::int64_t turn) const {
    return view(type, {1, attention.keyValueHeads, tokens},
                {tokens * attention.heads, sharers(), attention.heads},
                elementAt(lse, begin * attention.heads + turn, type));
  }

private:
  at::Tensor heads(ConstMatrix rows, std::int64_t shift, std::int64_t apart) const {
    return view(type, {1, attention.keyValueHeads, tokens, attention.headWidth},
                {tokens * rows.stride, apart * attention.headWidth, rows.stride, 1},
                elementAt(rows.data, begin * rows.stride + shift, type));
  }

  const DataType type;
  const Attention &attention;
  const std::int64_t begin, tokens;
};

template <typename Body>
void forSegments(const Segments &segments, DataType type, const Attention &attention,
                 void *workspace, const Body &body) {
  std::int64_t longest = 0;
  for (std::int32_t segment = 0; segment < segments.count; ++segment)
    longest =
        std::max<std::int64_t>(longest, segments.offsets[segment + 1] - segments.offsets[segment]);
  const std::size_t bytes = attentionWorkspace(type, attention, longest, KernelLibrary::LibTorch);
  for (std::int32_t segment = 0; segment < segments.count; ++segment) {
    const std::int64_t begin = segments.offsets[segment];
    const std::int64_t tokens = segments.offsets[segment + 1] - begin;
    if (tokens > 0)
      inCall(workspace, bytes, [&] { body(SegmentView(type, attention, begin, tokens)); });
  }
}

} // namespace

void LibTorchKernels::attentionForward(const Attention &attention, const Segments &segments,
                                       ConstMatrix qkv, Matrix out, void *lse,
                                       void *workspace) const {
  forSegments(segments, elementType, attention, workspace, [&](const SegmentView &segment) {
    for (std::int64_t turn = 0; turn < segment.sharers(); ++turn) {
      const auto [attended, sums] = at::_scaled_dot_product_flash_attention_for_cpu(
          segment.queries(qkv, turn), segment.keys(qkv), segment.values(qkv), /*dropout_p=*/0,
          /*is_causal=*/true, /*attn_mask=*/{}, segment.scale());
      segment.queries(out, turn).copy_(attended);
      segment.sums(lse, turn).copy_(sums);
    }
  });
}

void LibTorchKernels::attentionBackward(const Attention &attention, const Segments &segments,
                                        Matrix qkv, ConstMatrix out, ConstMatrix dOut,
                                        const void *lse, void *workspace) const {
  forSegments(segments, elementType, attention, workspace, [&](const SegmentView &segment) {
    at::Tensor keyGradients, valueGradients; // added up: keys and values are needed to the end
    for (std::int64_t turn = 0; turn < segment.sharers(); ++turn) {
      auto [dQueries, dKeys, dValues] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
          segment.queries(dOut, turn), segment.queries(qkv, turn), segment.keys(qkv),
          segment.values(qkv), segment.queries(out, turn), segment.sums(lse, turn),
          /*dropout_p=*/0, /*is_causal=*/true, /*attn_mask=*/{}, segment.scale());
      segment.queries(qkv, turn).copy_(dQueries);
      if (turn == 0) {
        keyGradients = std::move(dKeys);
        valueGradients = std::move(dValues);
      } else {
        keyGradients.add_(dKeys);
        valueGradients.add_(dValues);
      }
    }
    segment.keys(qkv).copy_(keyGradients);
    segment.values(qkv).copy_(valueGradients);
  });
}

} // namespace vime
