#include "runtime/Rollout/RoundDump.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/Base/AtomicFile.h"
#include "runtime/Engine/Sequence.h"
#include "runtime/Rollout/SampleTexts.h"

namespace vime {
namespace {

using Json = nlohmann::ordered_json;

void appendLine(const Json &json, std::string &text) {
  text += json.dump(-1, ' ', false, Json::error_handler_t::replace);
  text += '\n';
}

Json describeRound(const RoundSource &source, const ScoredRound &scored) {
  const plan::RolloutSettings &rollout = source.settings.rollout;
  return {{"round", source.round},
          {"version", scored.report.version},
          {"prompts", rollout.prompts},
          {"samples_per_prompt", rollout.samples},
          {"samples", scored.samples.size()},
          {"reward_mean", scored.report.rewardMean},
          {"seed", source.seed}};
}

/// `request`: of the same sample; `trained`: its record in the round, null where it has none.
Json describeSample(const plan::RolloutSettings &rollout, const ScoredSample &sample,
                    const RewardRequest &request, const plan::SampleRecord *trained) {
  const auto &record = *reinterpret_cast<const plan::SampleRecord *>(sample.record);
  const std::uint32_t response = record.tokens - record.promptTokens;
  const auto numbers = [&](const double *first) { return Json(std::span(first, response)); };
  Json json{{"draw", record.draw},
            {"sample", record.sample},
            {"prompt", record.prompt},
            {"prompt_text", request.isText ? Json(request.prompt) : Json()},
            {"response_text", request.isText ? Json(request.response) : Json()},
            {"finish", nameOf(static_cast<Finish>(record.finish))},
            {"version", record.version},
            {"reward", sample.reward},
            {"trained", trained != nullptr}};
  if (trained) {
    json["advantage"] = trained->advantage;
    json["denominator"] = trained->denominator;
  }
  json["prompt_tokens"] = record.promptTokens;
  json["tokens"] = std::span(plan::tokensOf(sample.record, rollout), record.tokens);
  json["log_probabilities"] = numbers(plan::logProbabilitiesOf(sample.record));
  json["sampled_log_probabilities"] = numbers(plan::sampledOf(sample.record, rollout));
  return json;
}

} // namespace

std::string dumpPath(const std::string &folder, std::uint64_t round) {
  return (std::filesystem::path(folder) / fmt::format("round-{:06}.jsonl", round)).string();
}

Status writeDump(const std::string &folder, const RoundSource &source, const ScoredRound &scored,
                 const std::byte *round) {
  const plan::RolloutSettings &rollout = source.settings.rollout;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return {StatusCode::File,
            fmt::format("cannot make the folder `{}` for dumps: {}", folder, error.message())};
  std::vector<const std::byte *> records;
  for (const ScoredSample &sample : scored.samples)
    records.push_back(sample.record);
  const SampleTexts texts(rollout, source.prompts, records);
  std::string text;
  appendLine(describeRound(source, scored), text);
  std::size_t place = 0; // in the round
  for (std::size_t sample = 0; sample < scored.samples.size(); ++sample) {
    const bool isTrained = scored.samples[sample].isTrained;
    const auto *trained = isTrained ? reinterpret_cast<const plan::SampleRecord *>(plan::recordAt(
                                          round, plan::sampleStride(rollout), place++))
                                    : nullptr;
    appendLine(describeSample(rollout, scored.samples[sample], texts.requests()[sample], trained),
               text);
  }
  return writeFileAtomically(dumpPath(folder, source.round), text);
}

} // namespace vime
