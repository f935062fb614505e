#include "runtime/Rollout/CompleteRound.h"

#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "runtime/Policy/GroupAdvantage.h"
#include "runtime/Policy/LossDenominators.h"
#include "runtime/Policy/Whitening.h"

namespace vime {
namespace {

using plan::AdvantageRule;
using Records = std::vector<plan::SampleRecord *>;

Records recordsOf(const plan::RolloutSettings &rollout, std::byte *round) {
  Records records;
  const auto &header = *reinterpret_cast<const plan::BatchHeader *>(round);
  for (std::uint64_t index = 0; index < header.count; ++index)
    records.push_back(reinterpret_cast<plan::SampleRecord *>(
        plan::recordAt(round, plan::sampleStride(rollout), index)));
  return records;
}

std::uint32_t responseTokens(const plan::SampleRecord &record) {
  return record.tokens - record.promptTokens;
}

std::optional<GroupBaseline> baselineOf(AdvantageRule rule) {
  switch (rule) {
  case AdvantageRule::Grpo:
    return GroupBaseline::MeanAndDeviation;
  case AdvantageRule::DrGrpo:
  case AdvantageRule::ReinforcePlusPlusBaseline:
    return GroupBaseline::Mean;
  case AdvantageRule::Rloo:
    return GroupBaseline::LeaveOneOut;
  case AdvantageRule::ReinforcePlusPlus:
    break;
  }
  return std::nullopt;
}

LossUnit unitOf(plan::LossUnit unit) {
  switch (unit) {
  case plan::LossUnit::Token:
    return LossUnit::Token;
  case plan::LossUnit::Sequence:
    return LossUnit::Sequence;
  case plan::LossUnit::Rollout:
    return LossUnit::Rollout;
  case plan::LossUnit::Prompt:
    return LossUnit::Prompt;
  case plan::LossUnit::Constant:
    break;
  }
  return LossUnit::Constant;
}

Status compare(std::optional<GroupBaseline> baseline, std::uint32_t samplesOfGroup,
               const Records &records) {
  std::vector<std::uint32_t> groups;
  std::vector<double> rewards, advantages(records.size());
  for (std::size_t place = 0; place < records.size(); ++place) {
    groups.push_back(static_cast<std::uint32_t>(place / samplesOfGroup));
    rewards.push_back(records[place]->reward);
  }
  if (!baseline)
    advantages = rewards;
  else if (Status status = groupAdvantages(*baseline, groups, rewards, advantages); !status.ok())
    return status;
  for (std::size_t place = 0; place < records.size(); ++place)
    records[place]->advantage = advantages[place];
  return {};
}

/// All tokens of a response have its advantage.
void whiten(std::span<plan::SampleRecord *const> step, std::uint32_t longest) {
  const std::vector<std::uint8_t> mask(longest, 1);
  std::vector<double> numbers(longest);
  const auto spread = [&](const plan::SampleRecord &record) {
    const auto own = std::span(numbers).first(responseTokens(record));
    std::fill(own.begin(), own.end(), record.advantage);
    return own;
  };
  const auto maskOf = [&](const plan::SampleRecord &record) {
    return std::span(mask).first(responseTokens(record));
  };
  Whitening whitening;
  for (const plan::SampleRecord *record : step)
    whitening.addNumbers(maskOf(*record), spread(*record));
  whitening.takeMean();
  for (const plan::SampleRecord *record : step)
    whitening.addSquares(maskOf(*record), spread(*record));
  for (plan::SampleRecord *record : step)
    whitening.apply(std::span(mask).first(1), std::span(&record->advantage, 1));
}

Status divide(const plan::RoundSettings &settings, std::uint32_t firstSample,
              std::span<plan::SampleRecord *const> step) {
  std::vector<StepSequence> sequences;
  for (std::uint32_t place = 0; place < step.size(); ++place)
    sequences.push_back({.rollout = place,
                         .prompt = (firstSample + place) / settings.rollout.samples,
                         .tokens = responseTokens(*step[place])});
  const StatusOr<std::vector<double>> denominators =
      lossDenominators(unitOf(settings.algorithm.unit), sequences, settings.rollout.maxNew);
  if (!denominators.ok())
    return denominators.status();
  for (std::size_t place = 0; place < step.size(); ++place)
    step[place]->denominator = (*denominators)[place];
  return {};
}

} // namespace

Status completeRound(const plan::RoundSettings &settings, std::byte *round) {
  const plan::RolloutSettings &rollout = settings.rollout;
  const AdvantageRule rule = settings.algorithm.advantage;
  const Records records = recordsOf(rollout, round);
  if (rollout.steps == 0 || records.size() % rollout.steps != 0)
    return {StatusCode::Unacceptable,
            fmt::format("{} samples of a round are no whole number of samples for each of {} steps",
                        records.size(), rollout.steps)};
  if (Status status = compare(baselineOf(rule), rollout.samples, records); !status.ok())
    return status;
  const auto samples = static_cast<std::uint32_t>(records.size() / rollout.steps);
  for (std::uint32_t step = 0; step < rollout.steps; ++step) {
    const auto own = std::span(records).subspan(std::size_t{step} * samples, samples);
    const bool isWhitened = rule == AdvantageRule::ReinforcePlusPlus ||
                            rule == AdvantageRule::ReinforcePlusPlusBaseline;
    if (isWhitened && !settings.algorithm.klInReward) // else behind it, where the KL is known
      whiten(own, rollout.maxNew);
    if (Status status = divide(settings, step * samples, own); !status.ok())
      return status;
  }
  return {};
}

} // namespace vime
