// What implementations of Kernels share: the key of a tensor, the products of a linear layer, and
// attention with a cache where slices of a sample are all that it needs.
#include "kernels/Kernels.h"

#include <cstring>

namespace vime {

Kernels::~Kernels() = default;

std::uint64_t tensorKey(const char *name, std::size_t length) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t at = 0; at < length; ++at)
    hash = (hash ^ static_cast<unsigned char>(name[at])) * 0x100000001b3u;
  return hash;
}

void linearForward(const Kernels &kernels, const Linear &linear, ConstMatrix x, const void *weight,
                   ConstMatrix residual, Matrix y, void *workspace) {
  kernels.product({.rows = linear.tokens,
                   .columns = linear.outputs,
                   .depth = linear.inputs,
                   .a = {x.data, x.stride, 1},
                   .b = {weight, 1, linear.inputs},
                   .hasFewRows = linear.hasFewTokens,
                   .residual = residual,
                   .result = y},
                  workspace);
}

void linearBackwardInput(const Kernels &kernels, const Linear &linear, ConstMatrix dy,
                         const void *weight, ConstMatrix residual, Matrix dx, void *workspace) {
  kernels.product({.rows = linear.tokens,
                   .columns = linear.inputs,
                   .depth = linear.outputs,
                   .a = {dy.data, dy.stride, 1},
                   .b = {weight, linear.inputs, 1},
                   .residual = residual,
                   .result = dx},
                  workspace);
}

void linearBackwardWeight(const Kernels &kernels, const Linear &linear, ConstMatrix dy,
                          ConstMatrix x, bool accumulate, void *dWeight, void *workspace) {
  const Matrix gradient{dWeight, linear.inputs};
  kernels.product({.rows = linear.outputs,
                   .columns = linear.inputs,
                   .depth = linear.tokens,
                   .a = {dy.data, 1, dy.stride},
                   .b = {x.data, x.stride, 1},
                   .intoSums = true,
                   .residual = accumulate ? ConstMatrix(gradient) : kNoMatrix,
                   .result = gradient},
                  workspace);
}

void attentionWithRows(const Kernels &kernels, const Attention &attention, std::int64_t first,
                       std::int64_t tokens, ConstMatrix qkv, KeyValueCache cache, Matrix out,
                       void *lse, void *workspace) {
  const DataType type = kernels.type();
  const std::int64_t width = 2 * attention.keyValueWidth();
  const std::int32_t offsets[] = {0, std::int32_t(tokens)};
  kernels.attentionForward(attention, {offsets, 1, first},
                           {.keyValues = {cache.data, width}, .rows = cache.rows}, qkv, out, lse,
                           workspace);
  for (std::int64_t token = 0; token < tokens; ++token)
    std::memcpy(elementAt(cache.data, (first + token) * width, type),
                elementAt(qkv.data, token * qkv.stride + attention.queryWidth(), type),
                std::size_t(width) * sizeOf(type));
}

void copyCachedRows(const Kernels &kernels, const Attention &attention, std::int64_t tokens,
                    KeyValueCache from, KeyValueCache to) {
  std::memcpy(to.data, from.data,
              std::size_t(tokens * 2 * attention.keyValueWidth()) * sizeOf(kernels.type()));
}

} // namespace vime
