// SlicedAttention: attention over samples of equal length, a slice of all of them at a time, put
// together again as if the samples were whole.
//
//   const SlicedAttention sliced{attention, /*samples=*/2, /*tokens=*/12, /*slices=*/3};
//   const SlicedAttention::Results results = sliced.run(kernels, library, qkv, dOut);
//
// What may not be read is NaN: the context in front of its first slice, its gradients in front of
// the last one, and the workspace.
#pragma once

#include "kernels/Kernels.h"
#include "kernels/Workspace.h"
#include "tests/Conformance/KernelsTensor.h"

#include <limits>
#include <vector>

namespace vime {

struct SlicedAttention {
  Attention attention;
  std::int32_t samples, tokens, slices; // tokens: of a sample

  struct Results {
    Tensor out, lse, gradient;
  };

  std::int32_t ofSlice() const { return tokens / slices; }
  std::int64_t rows() const { return std::int64_t(samples) * tokens; }

  /// `qkv` and `dOut`: sample after sample.
  Results run(const Kernels &kernels, KernelLibrary library, const Tensor &qkv,
              const Tensor &dOut) const {
    const DataType type = kernels.type(), sumType = kernels.sumType();
    const auto unread = [](std::int64_t, std::int64_t) {
      return std::numeric_limits<double>::quiet_NaN();
    };
    Tensor keyValues = Tensor(type, rows(), 2 * attention.keyValueWidth(), 2).fill(unread),
           gradients = Tensor(sumType, rows(), 2 * attention.keyValueWidth(), 3).fill(unread);
    Workspace workspace(attentionWorkspace(type, attention, tokens, library), 8);
    std::vector<std::int32_t> offsets;
    for (std::int32_t sample = 0; sample <= samples; ++sample)
      offsets.push_back(sample * ofSlice());
    const auto segmentsOf = [&](std::int32_t slice) {
      return Segments{offsets.data(), samples, slice * ofSlice()};
    };
    const auto contextOf = [&](std::int32_t slice) {
      return SliceContext{.keyValues = keyValues.matrix(),
                          .gradients = gradients.matrix(),
                          .isLast = slice + 1 == slices,
                          .rows = tokens};
    };
    Results whole{Tensor(type, rows(), attention.queryWidth()),
                  Tensor(sumType, rows(), attention.heads),
                  Tensor(type, rows(), attention.qkvWidth())};
    std::vector<Results> parts;
    for (std::int32_t slice = 0; slice < slices; ++slice) {
      Results &part = parts.emplace_back(
          Results{Tensor(type, offsets.back(), attention.queryWidth(), 3),
                  Tensor(sumType, offsets.back(), attention.heads), sliceOf(qkv, slice, type)});
      kernels.attentionForward(attention, segmentsOf(slice), contextOf(slice),
                               part.gradient.matrix(), part.out.matrix(), part.lse.data(),
                               workspace.poisoned());
      keep(part.gradient, slice, keyValues);
    }
    for (std::int32_t slice = slices; slice-- > 0;) {
      Results &part = parts[std::size_t(slice)];
      kernels.attentionBackward(
          attention, segmentsOf(slice), contextOf(slice), part.gradient.matrix(), part.out.matrix(),
          sliceOf(dOut, slice, type).matrix(), part.lse.data(), workspace.poisoned());
      put(part.out, slice, whole.out);
      put(part.lse, slice, whole.lse);
      put(part.gradient, slice, whole.gradient);
    }
    return whole;
  }

private:
  std::int64_t wholeRow(std::int64_t row, std::int32_t slice) const {
    return row / ofSlice() * tokens + slice * ofSlice() + row % ofSlice();
  }
  Tensor sliceOf(const Tensor &whole, std::int32_t slice, DataType type) const {
    return Tensor(type, std::int64_t(samples) * ofSlice(), whole.columns, 1)
        .fill([&](std::int64_t row, std::int64_t column) {
          return whole.get(wholeRow(row, slice), column);
        });
  }
  void put(const Tensor &part, std::int32_t slice, Tensor &whole) const {
    for (std::int64_t row = 0; row < part.rows; ++row)
      for (std::int64_t column = 0; column < part.columns; ++column)
        whole.set(wholeRow(row, slice), column, part.get(row, column));
  }
  /// Keys and values, for the slices behind.
  void keep(const Tensor &qkv, std::int32_t slice, Tensor &keyValues) const {
    for (std::int64_t row = 0; row < qkv.rows; ++row)
      for (std::int64_t column = 0; column < keyValues.columns; ++column)
        keyValues.set(wholeRow(row, slice), column, qkv.get(row, attention.queryWidth() + column));
  }
};

} // namespace vime
