#include "runtime/Rollout/Score.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "runtime/Policy/ExactSum.h"
#include "runtime/Rollout/ChooseGroups.h"
#include "runtime/Rollout/CompleteRound.h"
#include "runtime/Rollout/GatherSamples.h"
#include "runtime/Rollout/SampleTexts.h"

namespace vime {
namespace {

using Records = std::vector<const std::byte *>;

StatusOr<std::vector<double>> rewardsOf(const RoundSource &source, const Records &records,
                                        Reward &reward) {
  const SampleTexts texts(source.settings.rollout, source.prompts, records);
  StatusOr<std::vector<double>> rewards = reward.score(texts.requests());
  if (rewards.ok() && rewards->size() != records.size())
    return Status(StatusCode::Internal,
                  fmt::format("{} rewards for {} samples", rewards->size(), records.size()));
  return rewards;
}

double meanOf(std::span<const double> numbers) {
  ExactSum sum;
  for (const double number : numbers)
    sum.add(number);
  return numbers.empty() ? 0 : sum.value() / static_cast<double>(numbers.size());
}

double deviationOf(std::span<const double> numbers, double mean) {
  ExactSum squares;
  for (const double number : numbers)
    squares.add((number - mean) * (number - mean));
  return numbers.size() < 2 ? 0
                            : std::sqrt(squares.value() / static_cast<double>(numbers.size() - 1));
}

/// A record as it came, but for its reward and the bytes that mean nothing, which become 0.
void copyRecord(const plan::RolloutSettings &rollout, const ScoredSample &sample, std::byte *to) {
  plan::SampleRecord record;
  std::memcpy(&record, sample.record, sizeof(record));
  record.reward = sample.reward;
  record.advantage = record.denominator = 0;
  std::memset(to, 0, plan::sampleStride(rollout));
  std::memcpy(to, &record, sizeof(record));
  const std::uint32_t response = record.tokens - record.promptTokens;
  std::copy_n(plan::logProbabilitiesOf(sample.record), response, plan::logProbabilitiesOf(to));
  std::copy_n(plan::sampledOf(sample.record, rollout), response, plan::sampledOf(to, rollout));
  std::copy_n(plan::tokensOf(sample.record, rollout), record.tokens, plan::tokensOf(to, rollout));
}

void copyTrained(const plan::RolloutSettings &rollout, const std::vector<ScoredSample> &samples,
                 std::byte *round) {
  plan::BatchHeader header;
  for (const ScoredSample &sample : samples)
    if (sample.isTrained)
      copyRecord(rollout, sample,
                 plan::recordAt(round, plan::sampleStride(rollout), header.count++));
  std::memcpy(round, &header, sizeof(header));
}

/// The chance that k of n responses, c of them right, have a right one: 1 - C(n-c, k) / C(n, k).
double passChance(std::uint32_t n, std::uint32_t c, std::uint32_t k) {
  if (n - c < k)
    return 1;
  double none = 1;
  for (std::uint32_t drawn = 0; drawn < k; ++drawn)
    none *= static_cast<double>(n - c - drawn) / (n - drawn);
  return 1 - none;
}

std::vector<std::pair<std::uint32_t, double>> passAt(std::uint32_t samples,
                                                     std::span<const double> rewards) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t k = 1; k < samples; k *= 2)
    sizes.push_back(k);
  sizes.push_back(samples);
  std::vector<std::pair<std::uint32_t, double>> result;
  for (const std::uint32_t k : sizes) {
    std::vector<double> chances;
    for (std::size_t first = 0; first < rewards.size(); first += samples) {
      const auto own = rewards.subspan(first, samples);
      const auto right =
          std::count_if(own.begin(), own.end(), [](double reward) { return reward >= 1; });
      chances.push_back(passChance(samples, static_cast<std::uint32_t>(right), k));
    }
    result.emplace_back(k, meanOf(chances));
  }
  return result;
}

} // namespace

StatusOr<ScoredRound> scoreRound(const RoundSource &source, Reward &reward,
                                 const std::byte *samples, std::byte *round) {
  const plan::RolloutSettings &rollout = source.settings.rollout;
  if (rollout.candidates < rollout.prompts)
    return Status(StatusCode::Unacceptable,
                  fmt::format("a round generates for {} prompts and trains on {}",
                              rollout.candidates, rollout.prompts));
  const AskedSamples asked =
      askedByRound(source.settings, source.prompts, source.seed, source.round);
  const StatusOr<Records> records = gatherSamples(source.settings, source.prompts, asked, samples);
  if (!records.ok())
    return records.status();
  const StatusOr<std::vector<double>> rewards = rewardsOf(source, *records, reward);
  if (!rewards.ok())
    return rewards.status();

  const ChosenGroups chosen = chooseGroups(rollout, *rewards);
  ScoredRound scored;
  for (std::size_t place = 0; place < records->size(); ++place)
    scored.samples.push_back({.record = (*records)[place], .reward = (*rewards)[place]});
  std::vector<double> trained;
  for (const std::uint32_t group : chosen.trained)
    for (std::uint32_t sample = 0; sample < rollout.samples; ++sample) {
      ScoredSample &taken = scored.samples[std::size_t{group} * rollout.samples + sample];
      taken.isTrained = true;
      trained.push_back(taken.reward);
    }
  copyTrained(rollout, scored.samples, round);
  const double mean = meanOf(*rewards);
  scored.report = {.round = source.round,
                   .version = asked.version,
                   .responses = countResponses(*records),
                   .seconds = engineSeconds(source.settings, samples),
                   .rewardMean = mean,
                   .rewardDeviation = deviationOf(*rewards, mean),
                   .trainedRewardMean = meanOf(trained),
                   .candidates = rollout.candidates,
                   .trained = rollout.prompts,
                   .dropped = chosen.dropped,
                   .filled = chosen.filled,
                   .unused = chosen.unused};
  if (Status status = completeRound(source.settings, round); !status.ok())
    return status;
  return scored;
}

StatusOr<EvaluationReport> scoreEvaluation(const RoundSource &source, std::int64_t version,
                                           Reward &reward, const std::byte *samples) {
  const AskedSamples asked = askedByEvaluation(source.settings, version);
  if (source.prompts.count() < asked.draws)
    return Status(StatusCode::InvalidInput, fmt::format("{} prompts are held out, an evaluation "
                                                        "asks for {}",
                                                        source.prompts.count(), asked.draws));
  const StatusOr<Records> records = gatherSamples(source.settings, source.prompts, asked, samples);
  if (!records.ok())
    return records.status();
  const StatusOr<std::vector<double>> rewards = rewardsOf(source, *records, reward);
  if (!rewards.ok())
    return rewards.status();
  return EvaluationReport{.version = version,
                          .responses = countResponses(*records),
                          .seconds = engineSeconds(source.settings, samples),
                          .prompts = asked.draws,
                          .samples = asked.samples,
                          .mean = meanOf(*rewards),
                          .passAt = passAt(asked.samples, *rewards)};
}

} // namespace vime
