#include "compiler/Frontend/Microbatch.h"

#include <algorithm>

#include "runtime/Plan/Names.h"

namespace vime {

bool isPacked(const Job &job) { return job.pipeline.microbatch.value.inOther; }

std::uint32_t slicesOf(const Job &job) { return std::max(job.pipeline.slices.value, 1u); }

std::uint32_t stepMicrobatches(const Job &job) {
  return job.pipeline.microbatches.value * slicesOf(job);
}

namespace {

/// Of a step, in the microbatches of a replica that has its share or, of a text, all of them.
std::uint64_t packedSamples(const Job &job) {
  const std::uint64_t batch = job.batch.global.value, replicas = job.actor.data.value;
  return hasRounds(job) ? (batch + replicas - 1) / replicas : batch;
}

std::uint64_t samplesOfMicrobatch(const Job &job) {
  const std::uint64_t count = job.pipeline.microbatch.value.count;
  return isPacked(job) ? std::min(count, packedSamples(job)) : count;
}

std::uint32_t tokensOfAllSlices(const Job &job) {
  const std::uint64_t tokens = samplesOfMicrobatch(job) * job.data.sequence.value;
  return static_cast<std::uint32_t>(
      isPacked(job) ? std::min(job.pipeline.microbatch.value.count, tokens) : tokens);
}

} // namespace

std::uint64_t mostPackedMicrobatches(const Job &job) {
  const std::uint64_t fit = job.pipeline.microbatch.value.count /
                            std::max<std::uint64_t>(job.data.sequence.value, 1),
                      samples = packedSamples(job);
  return (samples + fit - 1) / std::max<std::uint64_t>(fit, 1);
}

MicrobatchCaps capsOf(const Job &job) {
  return {.tokens = tokensOfAllSlices(job) / slicesOf(job),
          .segments = static_cast<std::uint32_t>(samplesOfMicrobatch(job)),
          .segmentTokens = static_cast<std::uint32_t>(job.data.sequence.value),
          .slices = slicesOf(job)};
}

namespace {

/// Of all replicas together.
std::uint64_t allEvaluationMicrobatches(const Job &job) {
  const auto &held = job.evaluation;
  if (held.microbatches.value != 0 || isPacked(job))
    return held.microbatches.value;
  const std::uint64_t samples = job.pipeline.microbatch.value.count;
  if (held.samples.value != 0 && samples != 0)
    return (held.samples.value + samples - 1) / samples;
  return std::uint64_t{job.pipeline.microbatches.value} * job.actor.data.value;
}

} // namespace

std::uint64_t evaluationBatch(const Job &job) {
  const auto &held = job.evaluation;
  if (held.text.value.empty() || held.samples.value != 0)
    return held.text.value.empty() ? 0 : held.samples.value;
  return isPacked(job) ? job.batch.global.value
                       : allEvaluationMicrobatches(job) * job.pipeline.microbatch.value.count;
}

std::uint32_t evaluationMicrobatches(const Job &job) {
  if (job.evaluation.text.value.empty())
    return 0;
  const std::uint64_t replicas = job.actor.data.value;
  return static_cast<std::uint32_t>((allEvaluationMicrobatches(job) + replicas - 1) / replicas) *
         slicesOf(job);
}

std::uint32_t mostMicrobatches(const Job &job) {
  return std::max(stepMicrobatches(job), evaluationMicrobatches(job));
}

plan::Split splitOf(const Job &job) {
  return plan::enumeratorOf<plan::Split>(job.data.split.value).value_or(plan::Split::Window);
}

plan::Tail tailOf(const Job &job) {
  return plan::enumeratorOf<plan::Tail>(job.data.tail.value).value_or(plan::Tail::Join);
}

BatchShape batchShapeOf(const Job &job) {
  const MicrobatchCaps caps = capsOf(job);
  return {.sequence = caps.segmentTokens,
          .room = {.tokens = tokensOfAllSlices(job), .samples = caps.segments},
          .batch = job.batch.global.value,
          .split = splitOf(job),
          .tail = tailOf(job),
          .slices = caps.slices};
}

BatchShape heldOutShapeOf(const Job &job) {
  BatchShape shape = batchShapeOf(job);
  shape.batch = evaluationBatch(job);
  shape.tail = plan::Tail::Join;
  shape.shuffled = false;
  return shape;
}

} // namespace vime
