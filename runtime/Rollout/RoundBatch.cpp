#include "runtime/Rollout/RoundBatch.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace vime {
namespace {

Status refuse(std::string what) { return {StatusCode::Unacceptable, std::move(what)}; }

/// Inputs: all tokens but the last.
std::uint32_t inputsOf(const plan::SampleRecord &record) { return record.tokens - 1; }

Status checkSizes(const plan::RolloutSettings &rollout, const plan::DataSettings &data,
                  std::uint32_t step, std::uint64_t count) {
  const std::uint64_t samples = std::uint64_t{rollout.prompts} * rollout.samples;
  if (count != samples)
    return refuse(fmt::format("a round has {} samples, the plan's have {}", count, samples));
  if (rollout.steps == 0 || samples % rollout.steps != 0)
    return refuse(fmt::format("{} samples of a round are no whole number of samples for each of {} "
                              "steps",
                              samples, rollout.steps));
  if (step >= rollout.steps)
    return refuse(fmt::format("step {} of a round of {}", step, rollout.steps));
  if (data.slices != 1)
    return refuse("samples of rounds are not cut into slices");
  return {};
}

Status checkRecord(const plan::RolloutSettings &rollout, std::uint32_t place,
                   const plan::SampleRecord &record) {
  if (record.promptTokens >= 1 && record.promptTokens <= rollout.maxPrompt &&
      record.tokens > record.promptTokens && record.tokens - record.promptTokens <= rollout.maxNew)
    return {};
  return refuse(fmt::format("sample {} of a round has {} tokens, {} of them its prompt's", place,
                            record.tokens, record.promptTokens));
}

} // namespace

StatusOr<RoundBatch> RoundBatch::make(const plan::RoundSettings &settings,
                                      const plan::DataSettings &data, std::uint32_t replicas,
                                      std::uint32_t step, const std::byte *round) {
  const plan::RolloutSettings &rollout = settings.rollout;
  const auto &header = *reinterpret_cast<const plan::BatchHeader *>(round);
  if (Status status = checkSizes(rollout, data, step, header.count); !status.ok())
    return status;
  RoundBatch batch;
  batch.rollout = rollout;
  batch.roomTokens = data.tokens;
  batch.roomSamples = data.samples;
  batch.round = round;
  batch.stepSamples = rollout.prompts * rollout.samples / rollout.steps;
  batch.firstSample = step * batch.stepSamples;
  std::vector<RoundSample> samples;
  for (std::uint32_t place = 0; place < batch.stepSamples; ++place) {
    const plan::SampleRecord &record = batch.recordAt(place);
    if (Status status = checkRecord(rollout, batch.firstSample + place, record); !status.ok())
      return status;
    samples.push_back({.rollout = place, .tokens = inputsOf(record)});
  }
  const RoundShape shape{.rollouts = batch.stepSamples,
                         .replicas = replicas,
                         .most = data.microbatches,
                         .room = {.tokens = data.tokens, .samples = data.samples}};
  StatusOr<std::vector<RoundStep>> planned = planRound(samples, shape);
  if (!planned.ok())
    return planned.status();
  batch.step = std::move(planned->front());
  return batch;
}

const plan::SampleRecord &RoundBatch::recordAt(std::uint32_t sample) const {
  return *reinterpret_cast<const plan::SampleRecord *>(
      plan::recordAt(round, plan::sampleStride(rollout), firstSample + sample));
}

std::uint32_t RoundBatch::microbatches() const {
  return static_cast<std::uint32_t>(step.replicas.front().size());
}

const PlannedMicrobatch *RoundBatch::find(Place place) const {
  const auto &microbatches = step.replicas[place.replica];
  return place.microbatch < microbatches.size() ? &microbatches[place.microbatch] : nullptr;
}

std::uint32_t RoundBatch::tokensOf(Place place) const {
  std::uint32_t tokens = 0;
  if (const PlannedMicrobatch *microbatch = find(place))
    for (const std::uint32_t sample : *microbatch)
      tokens += inputsOf(recordAt(sample));
  return tokens;
}

void RoundBatch::fill(Place place, const Slots &slots) const {
  const plan::PolicyRegion region = plan::policyRegion(roomTokens, roomSamples);
  auto *advantages = reinterpret_cast<double *>(slots.policy + region.advantages);
  auto *old = reinterpret_cast<double *>(slots.policy + region.old);
  auto *sampled = reinterpret_cast<double *>(slots.policy + region.sampled);
  auto *denominators = reinterpret_cast<double *>(slots.policy + region.denominators);
  std::fill(advantages, denominators, 0.0);
  std::fill(denominators, denominators + roomSamples, 1.0); // of empty segments: harmless
  std::uint32_t at = 0, segment = 0;
  slots.segments[0] = 0;
  if (const PlannedMicrobatch *microbatch = find(place))
    for (const std::uint32_t sample : *microbatch) {
      const plan::SampleRecord &record = recordAt(sample);
      const auto *bytes = reinterpret_cast<const std::byte *>(&record);
      const std::int32_t *tokens = plan::tokensOf(bytes, rollout);
      for (std::uint32_t input = 0; input < inputsOf(record); ++input, ++at) {
        const bool isLabelled = input + 1 >= record.promptTokens;
        slots.tokens[at] = tokens[input];
        slots.labels[at] = isLabelled ? tokens[input + 1] : -1;
        if (!isLabelled)
          continue;
        const std::uint32_t inResponse = input + 1 - record.promptTokens;
        advantages[at] = record.advantage;
        old[at] = plan::logProbabilitiesOf(bytes)[inResponse];
        sampled[at] = plan::sampledOf(bytes, rollout)[inResponse];
      }
      denominators[segment] = record.denominator;
      slots.segments[++segment] = static_cast<std::int32_t>(at);
    }
  while (segment < roomSamples)
    slots.segments[++segment] = static_cast<std::int32_t>(at);
}

} // namespace vime
