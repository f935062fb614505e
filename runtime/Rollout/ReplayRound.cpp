#include "runtime/Rollout/ReplayRound.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "runtime/Engine/Sequence.h"

namespace vime {
namespace {

void count(const plan::SampleRecord &record, ResponseCounts &responses) {
  const std::uint32_t length = record.tokens - record.promptTokens;
  responses.shortest = responses.samples == 0 ? length : std::min(responses.shortest, length);
  responses.longest = std::max(responses.longest, length);
  responses.tokens += length;
  ++responses.samples;
  const auto finish = static_cast<Finish>(record.finish);
  responses.stopped += finish == Finish::Stop;
  responses.cut += finish == Finish::Length;
  responses.aborted += finish == Finish::Aborted;
}

} // namespace

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
  double sum = 0, squares = 0;
  for (std::uint64_t index = 0; index < samples; ++index) {
    const auto &record = *reinterpret_cast<const plan::SampleRecord *>(
        plan::recordAt(buffer, plan::sampleStride(settings.rollout), index));
    count(record, report.responses);
    report.version = std::max(report.version, record.version);
    sum += record.reward;
    squares += record.reward * record.reward;
  }
  const auto n = static_cast<double>(samples);
  report.rewardMean = sum / n;
  const double deviations = std::max(0.0, squares - sum * report.rewardMean);
  report.rewardDeviation = samples > 1 ? std::sqrt(deviations / (n - 1)) : 0;
  report.trainedRewardMean = report.rewardMean;
  return report;
}

} // namespace vime
