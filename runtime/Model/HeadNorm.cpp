#include "runtime/Model/HeadNorm.h"

namespace vime {
namespace {

Matrix headOf(Matrix rows, std::int64_t head, std::int64_t width, DataType type) {
  return {elementAt(rows.data, head * width, type), rows.stride};
}
ConstMatrix headOf(ConstMatrix rows, std::int64_t head, std::int64_t width, DataType type) {
  return {elementAt(rows.data, head * width, type), rows.stride};
}

} // namespace

void HeadNorm::forward(std::int64_t tokens, ConstMatrix raw, Weights<const void *> weights,
                       Matrix qkv, void *reciprocals) const {
  const std::int64_t heads = config.heads, all = heads + config.kvHeads, width = config.headWidth;
  const DataType type = kernels.type();
  for (std::int64_t head = 0; head < all; ++head)
    kernels.rmsNormForward(
        norm(tokens), headOf(raw, head, width, type), head < heads ? weights.query : weights.key,
        headOf(qkv, head, width, type), elementAt(reciprocals, head * tokens, kernels.sumType()));
}

void HeadNorm::backward(std::int64_t tokens, ConstMatrix raw, Weights<const void *> weights,
                        const void *reciprocals, Matrix qkv, Weights<void *> weightGradients,
                        void *scratch) const {
  const std::int64_t heads = config.heads, all = heads + config.kvHeads, width = config.headWidth;
  const DataType type = kernels.type();
  for (std::int64_t head = 0; head < all; ++head) {
    const bool isQuery = head < heads, isFirst = head == 0 || head == heads;
    const Matrix gradient = headOf(qkv, head, width, type);
    void *const sum = isQuery ? weightGradients.query : weightGradients.key;
    kernels.rmsNormBackward(norm(tokens), headOf(raw, head, width, type),
                            isQuery ? weights.query : weights.key,
                            elementAt(reciprocals, head * tokens, kernels.sumType()), gradient,
                            kNoMatrix, gradient, isFirst ? sum : scratch);
    if (!isFirst)
      kernels.add(width, scratch, sum);
  }
}

} // namespace vime
