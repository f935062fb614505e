#include "runtime/Rollout/ReplayRound.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "runtime/Rollout/GatherSamples.h"

namespace vime {
Status checkDumps(const std::string &folder, std::uint64_t rounds) {
  for (std::uint64_t round = 0; round < rounds; ++round)
    if (std::error_code error; !std::filesystem::exists(dumpPath(folder, round), error))
      return Status(StatusCode::File,
                    fmt::format("there is no dump of round {} to train on: `{}`\nhelp: a run with "
                                "`rollout.dump` writes them, a file for each round",
                                round, dumpPath(folder, round)));
  return Status();
}

StatusOr<RoundReport> replayRound(const std::string &folder, const plan::RoundSettings &settings,
                                  std::uint32_t vocabulary, std::uint64_t round,
                                  std::byte *buffer) {
  if (Status status = readDump(dumpPath(folder, round), settings, vocabulary, round, buffer);
      !status.ok())
    return status;
  const std::uint64_t samples = std::uint64_t{settings.rollout.prompts} * settings.rollout.samples;
  RoundReport report{.round = round};
  report.candidates = report.trained = settings.rollout.prompts;
  std::vector<const std::byte *> records(samples);
  double sum = 0, squares = 0;
  for (std::uint64_t index = 0; index < samples; ++index) {
    records[index] = plan::recordAt(buffer, plan::sampleStride(settings.rollout), index);
    const auto &record = *reinterpret_cast<const plan::SampleRecord *>(records[index]);
    report.version = std::max(report.version, record.version);
    sum += record.reward;
    squares += record.reward * record.reward;
  }
  report.responses = countResponses(records);
  const auto n = static_cast<double>(samples);
  report.rewardMean = sum / n;
  const double deviations = std::max(0.0, squares - sum * report.rewardMean);
  report.rewardDeviation = samples > 1 ? std::sqrt(deviations / (n - 1)) : 0;
  report.trainedRewardMean = report.rewardMean;
  return report;
}

} // namespace vime
