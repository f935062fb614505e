#include "runtime/ModelSpec/Copies.h"

#include <algorithm>

namespace vime {

std::uint32_t depthOf(std::span<const StageRange> stages) {
  const auto head = std::find_if(stages.begin(), stages.end(),
                                 [](const StageRange &stage) { return stage.head; });
  return static_cast<std::uint32_t>(head - stages.begin()) + (head != stages.end() ? 1 : 0);
}

std::uint32_t copiesOf(std::span<const StageRange> stages) {
  const std::uint32_t depth = depthOf(stages);
  return depth == 0 ? 1 : static_cast<std::uint32_t>(stages.size()) / depth;
}

std::optional<std::size_t> findMisplaced(std::span<const StageRange> stages) {
  const std::size_t depth = depthOf(stages);
  std::uint32_t layer = 0;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const auto &[first, end, embedding, head] = stages[stage];
    const bool isFirst = stage % depth == 0;
    const bool isLast = (stage + 1) % depth == 0 || stage + 1 == stages.size();
    if (first != (isFirst ? 0 : layer) || end <= first || embedding != isFirst || head != isLast ||
        stages[stage] != stages[stage % depth])
      return stage;
    layer = end;
  }
  return std::nullopt;
}

} // namespace vime
