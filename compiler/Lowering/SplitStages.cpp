#include "compiler/Lowering/SplitStages.h"

namespace vime {

std::vector<StageRange> splitStages(const Job &job, std::uint32_t stages) {
  const std::vector<std::uint64_t> &layout = job.pipeline.layout.value;
  if (layout.empty())
    return splitLayers(job.model(job.actor.model.value)->config, stages);
  std::vector<StageRange> ranges;
  std::uint32_t first = 0;
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    const auto end = first + static_cast<std::uint32_t>(layout[stage]);
    ranges.push_back({first, end, stage == 0, stage + 1 == stages});
    first = end;
  }
  return ranges;
}

} // namespace vime
