#include "compiler/Lowering/StepFamily.h"

#include <algorithm>
#include <numeric>

#include "compiler/Frontend/Microbatch.h"
#include "runtime/Data/Share.h"
#include "runtime/Plan/Decisions.h"

namespace vime {

namespace {

/// As many as a plan can name.
std::vector<std::uint32_t> familyOfPacked(const Job &job) {
  std::vector<std::uint32_t> all = job.packedSteps;
  const std::uint32_t whole = job.pipeline.microbatches.value;
  if (hasRounds(job)) { // how long samples will be, nobody knows
    all.resize(whole);
    std::iota(all.begin(), all.end(), 1u);
  }
  if (all.empty() || all.back() != whole)
    all.push_back(whole);
  return someOf(all, plan::kMostValues);
}

} // namespace

std::vector<std::uint32_t> stepFamily(const Job &job, std::uint64_t samples) {
  if (isPacked(job))
    return familyOfPacked(job);
  const std::uint32_t whole = stepMicrobatches(job);
  const std::uint64_t batch = job.batch.global.value, wholeSteps = samples / batch,
                      left = samples % batch, size = job.pipeline.microbatch.value.count;
  if (job.data.tail.value != "short" || left == 0 || job.run.steps.value <= wholeSteps)
    return {whole};
  const std::uint32_t last =
      largestShare(static_cast<std::uint32_t>((left + size - 1) / size), job.actor.data.value) *
      slicesOf(job);
  return last == whole ? std::vector{whole} : std::vector{last, whole};
}

std::vector<std::uint32_t> someOf(const std::vector<std::uint32_t> &numbers, std::size_t most) {
  std::vector<std::uint32_t> some;
  const std::size_t count = std::min(numbers.size(), most);
  for (std::size_t index = 1; index <= count; ++index)
    some.push_back(numbers[index * numbers.size() / count - 1]);
  return some;
}

bool fillsUp(const Job &job) {
  const bool mayDiffer = job.data.tail.value == "short" || !job.evaluation.text.value.empty();
  return isPacked(job) || (job.actor.data.value > 1 && mayDiffer);
}

Schedule shortened(const Schedule &order, std::uint32_t microbatches) {
  Schedule result = order;
  for (std::vector<Task> &row : result.rows)
    std::erase_if(row, [&](const Task &task) {
      return task.kind == TaskKind::Idle || task.microbatch >= static_cast<int>(microbatches);
    });
  return result;
}

} // namespace vime
