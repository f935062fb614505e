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

  /// `copied`: so many calls are made in a cache of which another one then takes the place.
  Tensor run(const Kernels &kernels, KernelLibrary library, const Tensor &qkv,
             const std::vector<std::int64_t> &parts, std::size_t copied = 0) const {
    const DataType type = kernels.type();
    Workspace cache(keyValueCacheBytes(type, attention, room), sizeOf(type)),
        other(keyValueCacheBytes(type, attention, room), 2 * sizeOf(type)),
        workspace(attentionWithCacheWorkspace(type, attention, room, library), 8);
    KeyValueCache keyValues{cache.poisoned(), room};
    Tensor out(type, qkv.rows, attention.queryWidth(), 3);
    std::int64_t first = 0;
    for (std::size_t call = 0; call < parts.size(); ++call) {
      if (copied > 0 && call == copied) {
        const KeyValueCache to{other.poisoned(), room};
        kernels.copyCached(attention, first, keyValues, to);
        cache.poisoned();
        keyValues = to;
      }
      const std::int64_t tokens = parts[call];
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
