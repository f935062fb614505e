// CachedAttention: attention over one sequence that comes in parts of any lengths, its keys and
// values in a cache, put together again as if it had come at once.
//
//   Tensor out = CachedAttention{attention, /*room=*/40}.run(kernels, library, qkv, {7, 1, 1, 12});
//
// What may not be read is NaN: the cache before anything is in it, and the workspace.
#pragma once

#include "kernels/Kernels.h"
#include "kernels/Workspace.h"
#include "tests/Conformance/KernelsTensor.h"

#include <vector>

namespace vime {

struct CachedAttention {
  Attention attention;
  std::int64_t room; // of the cache, in tokens

  Tensor run(const Kernels &kernels, KernelLibrary library, const Tensor &qkv,
             const std::vector<std::int64_t> &parts) const {
    const DataType type = kernels.type();
    Workspace cache(keyValueCacheBytes(type, attention, room), sizeOf(type)),
        workspace(attentionWithCacheWorkspace(type, attention, room, library), 8);
    const KeyValueCache keyValues{cache.poisoned(), room};
    Tensor out(type, qkv.rows, attention.queryWidth(), 3);
    std::int64_t first = 0;
    for (const std::int64_t tokens : parts) {
      Tensor rows = Tensor(type, tokens, qkv.columns, 2).fill([&](auto row, auto column) {
        return qkv.get(first + row, column);
      });
      kernels.attentionWithCache(attention, first, tokens, rows.matrix(), keyValues,
                                 {out.at(first, 0), out.stride}, workspace.poisoned());
      first += tokens;
    }
    return out;
  }
};

} // namespace vime
