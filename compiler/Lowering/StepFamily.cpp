#include "compiler/Lowering/StepFamily.h"

#include <algorithm>

namespace vime {

std::vector<std::uint32_t> stepFamily(const Job &job, std::uint64_t textBytes) {
  const std::uint32_t whole = job.pipeline.microbatches.value;
  if (job.data.tail.value != "short")
    return {whole};
  const std::uint64_t samples = job.pipeline.samples.value;
  const std::uint64_t windows = textBytes / (std::uint64_t{job.data.sequence.value} + 1);
  const std::uint64_t wholeSteps = windows / (samples * whole), left = windows % (samples * whole);
  const auto last = static_cast<std::uint32_t>((left + samples - 1) / samples);
  if (left == 0 || last == whole || job.run.steps.value <= wholeSteps)
    return {whole};
  return {last, whole};
}

Schedule shortened(const Schedule &order, std::uint32_t microbatches) {
  Schedule result = order;
  for (std::vector<Task> &row : result.rows)
    std::erase_if(row, [&](const Task &task) {
      return task.kind == TaskKind::Idle || task.microbatch >= static_cast<int>(microbatches);
    });
  return result;
}

std::uint32_t evaluationMicrobatches(const Job &job) {
  if (job.evaluation.text.value.empty())
    return 0;
  const std::uint32_t stated = job.evaluation.microbatches.value;
  return stated != 0 ? stated : job.pipeline.microbatches.value;
}

std::uint32_t mostMicrobatches(const Job &job) {
  return std::max(job.pipeline.microbatches.value, evaluationMicrobatches(job));
}

} // namespace vime
