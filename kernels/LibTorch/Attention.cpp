// Causal attention by LibTorch's flash attention for CPUs, a segment at a time. Query heads that
// share their keys and values take turns: each time one of every key-value head.
#include <cmath>

#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/logaddexp.h>

#include "kernels/LibTorch/Call.h"
#include "kernels/LibTorch/LibTorchKernels.h"
#include "kernels/LibTorch/Views.h"
#include "kernels/Workspace.h"

namespace vime {
namespace {

/// Tensors of one segment as flash attention takes them: [1, heads, tokens, width].
class SegmentView {
public:
  SegmentView(DataType type, const Attention &attention, const Segments &segments,
              const SliceContext &context, std::int32_t segment)
      : type(type), attention(attention), context(context), begin(segments.offsets[segment]),
        tokens(segments.offsets[segment + 1] - begin), before(segments.first),
        above(segment * context.rows) {}

  std::int64_t sharers() const { return attention.heads / attention.keyValueHeads; }
  double scale() const { return 1 / std::sqrt(double(attention.headWidth)); }
  bool hasTokens() const { return tokens > 0; }
  /// Whether there are slices before this one.
  bool hasEarlier() const { return before > 0; }

  /// Of the query heads, or of rows like theirs: number `turn` of each key-value head.
  at::Tensor queries(ConstMatrix rows, std::int64_t turn) const {
    return heads(rows, begin, tokens, turn * attention.headWidth, sharers());
  }
  at::Tensor keys(ConstMatrix qkv) const {
    return heads(qkv, begin, tokens, attention.queryWidth(), 1);
  }
  at::Tensor values(ConstMatrix qkv) const {
    return heads(qkv, begin, tokens, attention.queryWidth() + attention.keyValueWidth(), 1);
  }
  at::Tensor earlierKeys() const { return heads(context.keyValues, above, before, 0, 1); }
  at::Tensor earlierValues() const {
    return heads(context.keyValues, above, before, attention.keyValueWidth(), 1);
  }
  /// Gradients that lie in the context: of the slices before, and of this one.
  at::Tensor earlierKeyGradients() const { return heads(context.gradients, above, before, 0, 1); }
  at::Tensor earlierValueGradients() const {
    return heads(context.gradients, above, before, attention.keyValueWidth(), 1);
  }
  at::Tensor laterKeyGradients() const {
    return heads(context.gradients, above + before, tokens, 0, 1);
  }
  at::Tensor laterValueGradients() const {
    return heads(context.gradients, above + before, tokens, attention.keyValueWidth(), 1);
  }
  /// [1, heads, tokens]
  at::Tensor sums(const void *lse, std::int64_t turn) const {
    return view(type, {1, attention.keyValueHeads, tokens},
                {tokens * attention.heads, sharers(), attention.heads},
                elementAt(lse, begin * attention.heads + turn, type));
  }

private:
  at::Tensor heads(ConstMatrix rows, std::int64_t first, std::int64_t count, std::int64_t shift,
                   std::int64_t apart) const {
    return view(type, {1, attention.keyValueHeads, count, attention.headWidth},
                {count * rows.stride, apart * attention.headWidth, rows.stride, 1},
                elementAt(rows.data, first * rows.stride + shift, type));
  }

  const DataType type;
  const Attention &attention;
  const SliceContext &context;
  const std::int64_t begin, tokens, before, above; // above: first row in the context
};

template <typename Body>
void forSegments(const Segments &segments, const SliceContext &context, DataType type,
                 const Attention &attention, void *workspace, const Body &body) {
  std::int64_t longest = 0;
  for (std::int32_t segment = 0; segment < segments.count; ++segment)
    longest =
        std::max<std::int64_t>(longest, segments.offsets[segment + 1] - segments.offsets[segment]);
  const std::size_t bytes =
      attentionWorkspace(type, attention, segments.first + longest, KernelLibrary::LibTorch);
  for (std::int32_t segment = 0; segment < segments.count; ++segment) {
    const SegmentView view(type, attention, segments, context, segment);
    if (view.hasTokens())
      inCall(workspace, bytes, [&] { body(view); });
  }
}

struct Attended {
  at::Tensor out, sums;
};

Attended attend(const SegmentView &segment, const at::Tensor &queries, const at::Tensor &keys,
                const at::Tensor &values, bool isCausal) {
  auto [out, sums] = at::_scaled_dot_product_flash_attention_for_cpu(
      queries, keys, values, /*dropout_p=*/0, isCausal, /*attn_mask=*/{}, segment.scale());
  return {std::move(out), std::move(sums)};
}

/// Attention to the keys of both, from attention to those of each.
Attended joined(Attended own, const Attended &earlier) {
  const at::Tensor sums = at::logaddexp(own.sums, earlier.sums);
  own.out.mul_(own.sums.sub_(sums).exp_().unsqueeze(-1));
  own.out.add_(earlier.out.mul_(earlier.sums.sub_(sums).exp_().unsqueeze(-1)));
  return {std::move(own.out), sums};
}

} // namespace

void LibTorchKernels::attentionForward(const Attention &attention, const Segments &segments,
                                       const SliceContext &context, ConstMatrix qkv, Matrix out,
                                       void *lse, void *workspace) const {
  forSegments(segments, context, elementType, attention, workspace, [&](const SegmentView &of) {
    for (std::int64_t turn = 0; turn < of.sharers(); ++turn) {
      const at::Tensor queries = of.queries(qkv, turn);
      Attended attended = attend(of, queries, of.keys(qkv), of.values(qkv), /*isCausal=*/true);
      if (of.hasEarlier())
        attended = joined(std::move(attended), attend(of, queries, of.earlierKeys(),
                                                      of.earlierValues(), /*isCausal=*/false));
      of.queries(out, turn).copy_(attended.out);
      of.sums(lse, turn).copy_(attended.sums);
    }
  });
}

void LibTorchKernels::attentionWithCache(const Attention &attention, std::int64_t first,
                                         std::int64_t tokens, ConstMatrix qkv, KeyValueCache cache,
                                         Matrix out, void *workspace) const {
  constexpr std::size_t kAlignment = 64;
  const std::size_t sums = std::size_t(cache.rows * attention.heads) * sizeOf(elementType);
  attentionWithRows(*this, attention, first, tokens, qkv, cache, out, /*lse=*/workspace,
                    static_cast<std::byte *>(workspace) +
                        (sums + kAlignment - 1) / kAlignment * kAlignment);
}

void LibTorchKernels::copyCached(const Attention &attention, std::int64_t tokens,
                                 KeyValueCache from, KeyValueCache to) const {
  copyCachedRows(*this, attention, tokens, from, to);
}

void LibTorchKernels::attentionBackward(const Attention &attention, const Segments &segments,
                                        const SliceContext &context, Matrix qkv, ConstMatrix out,
                                        ConstMatrix dOut, const void *lse, void *workspace) const {
  const bool addsToLater = context.rows != 0 && !context.isLast;
  forSegments(segments, context, elementType, attention, workspace, [&](const SegmentView &of) {
    at::Tensor keyGradients, valueGradients; // added up: keys and values are needed to the end
    for (std::int64_t turn = 0; turn < of.sharers(); ++turn) {
      // With the sums over all keys, those of each part have weights and gradients of their own.
      const auto gradients = [&](const at::Tensor &keys, const at::Tensor &values, bool isCausal) {
        return at::_scaled_dot_product_flash_attention_for_cpu_backward(
            of.queries(dOut, turn), of.queries(qkv, turn), keys, values, of.queries(out, turn),
            of.sums(lse, turn), /*dropout_p=*/0, isCausal, /*attn_mask=*/{}, of.scale());
      };
      at::Tensor ofEarlier; // the part of the gradient of the queries
      if (of.hasEarlier()) {
        auto [dQueries, dKeys, dValues] =
            gradients(of.earlierKeys(), of.earlierValues(), /*isCausal=*/false);
        const bool overwrites = context.isLast && turn == 0;
        const auto keep = [&](at::Tensor into, const at::Tensor &part) {
          overwrites ? into.copy_(part) : into.add_(part);
        };
        keep(of.earlierKeyGradients(), dKeys);
        keep(of.earlierValueGradients(), dValues);
        ofEarlier = std::move(dQueries);
      }
      auto [dQueries, dKeys, dValues] = gradients(of.keys(qkv), of.values(qkv), /*isCausal=*/true);
      if (of.hasEarlier())
        dQueries.add_(ofEarlier);
      of.queries(qkv, turn).copy_(dQueries);
      if (turn == 0) {
        keyGradients = std::move(dKeys);
        valueGradients = std::move(dValues);
      } else {
        keyGradients.add_(dKeys);
        valueGradients.add_(dValues);
      }
    }
    if (addsToLater) {
      keyGradients.add_(of.laterKeyGradients());
      valueGradients.add_(of.laterValueGradients());
    }
    of.keys(qkv).copy_(keyGradients);
    of.values(qkv).copy_(valueGradients);
  });
}

} // namespace vime
