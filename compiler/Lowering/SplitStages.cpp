#include "compiler/Lowering/SplitStages.h"

namespace vime {

namespace {

std::vector<StageRange> stagesOfCopy(const Job &job, std::uint32_t stages) {
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

} // namespace

std::vector<StageRange> splitStages(const Job &job, std::uint32_t stages, std::uint32_t copies) {
  const std::vector<StageRange> ranges = stagesOfCopy(job, stages / copies);
  std::vector<StageRange> all;
  for (std::uint32_t copy = 0; copy < copies; ++copy)
    all.insert(all.end(), ranges.begin(), ranges.end());
  return all;
}

} // namespace vime
