#include "runtime/Rollout/GatherSamples.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "runtime/Engine/Sequence.h"
#include "runtime/Rollout/DrawPrompts.h"

namespace vime {
namespace {

const plan::SampleRecord &recordOf(const std::byte *bytes) {
  return *reinterpret_cast<const plan::SampleRecord *>(bytes);
}

class Gathering {
public:
  Gathering(const plan::RoundSettings &settings, const PromptFile &prompts,
            const AskedSamples &asked)
      : settings(settings), rollout(settings.rollout), prompts(prompts), asked(asked),
        found(std::size_t{asked.draws} * asked.samples) {}

  /// `engine`: -1 of the coordinator's own batch.
  Status take(const std::byte *batch, int engine) {
    const auto &header = *reinterpret_cast<const plan::BatchHeader *>(batch);
    const std::uint64_t most = engine < 0 ? 0 : plan::mostSamplesOfEngine(settings);
    if (header.count > most)
      return refuse(fmt::format("engine {} has {} samples, a batch has room for {}", engine,
                                header.count, most));
    if (header.count > 0 && (header.isEvaluation != 0) != asked.isEvaluation)
      return refuse(fmt::format("engine {} has samples of {}", engine,
                                asked.isEvaluation ? "a rollout instead of an evaluation"
                                                   : "an evaluation instead of a rollout"));
    for (std::uint64_t index = 0; index < header.count; ++index) {
      const std::byte *record = plan::recordAt(batch, plan::sampleStride(rollout), index);
      if (Status status = place(record); !status.ok())
        return Status(status.code(), fmt::format("engine {}: {}", engine, status.message()));
    }
    return {};
  }

  StatusOr<std::vector<const std::byte *>> finish() {
    const auto missing = std::find(found.begin(), found.end(), nullptr);
    if (missing != found.end()) {
      const auto at = static_cast<std::uint64_t>(missing - found.begin());
      return refuse(fmt::format("sample {} of draw {} is missing, with {} of {} others",
                                at % asked.samples, nameOf(at / asked.samples),
                                std::count(found.begin(), found.end(), nullptr) - 1,
                                found.size() - 1));
    }
    return std::move(found);
  }

private:
  static Status refuse(std::string what) { return {StatusCode::Unacceptable, std::move(what)}; }
  std::string nameOf(std::uint64_t inBatch) const {
    return asked.isEvaluation ? fmt::format("{} of an evaluation", inBatch)
                              : fmt::format("{}", asked.firstDraw + inBatch);
  }

  Status place(const std::byte *bytes) {
    const plan::SampleRecord &record = recordOf(bytes);
    const std::uint64_t draw = record.draw - asked.firstDraw; // wraps where it is below
    if (draw >= asked.draws || record.sample >= asked.samples)
      return refuse(fmt::format("sample {} of draw {} was not asked for, but {} of each of {} "
                                "draws from {} on",
                                record.sample, record.draw, asked.samples, asked.draws,
                                asked.firstDraw));
    const std::string name = fmt::format("sample {} of draw {}", record.sample, nameOf(draw));
    if (Status status = check(bytes, name, asked.prompts[draw]); !status.ok())
      return status;
    const std::byte *&at = found[draw * asked.samples + record.sample];
    if (at)
      return refuse(fmt::format("{} is there twice", name));
    at = bytes;
    return {};
  }

  Status check(const std::byte *bytes, const std::string &name, std::uint64_t prompt) const {
    const plan::SampleRecord &record = recordOf(bytes);
    if (record.prompt != prompt)
      return refuse(fmt::format("{} is of prompt {}, expected {}", name, record.prompt, prompt));
    if (record.version != asked.version)
      return refuse(fmt::format("{} is of version {} of the weights, expected {}", name,
                                record.version, asked.version));
    if (record.finish > static_cast<std::uint32_t>(Finish::Aborted))
      return refuse(
          fmt::format("{} has ended for a reason without a name: {}", name, record.finish));
    const std::vector<std::int32_t> &given = prompts.at(prompt).tokens;
    if (record.promptTokens != given.size())
      return refuse(fmt::format("{} has a prompt of {} tokens, expected {}", name,
                                record.promptTokens, given.size()));
    if (record.tokens <= record.promptTokens ||
        record.tokens - record.promptTokens > rollout.maxNew)
      return refuse(fmt::format("{} has {} tokens behind a prompt of {}, expected 1 to {}", name,
                                std::int64_t{record.tokens} - record.promptTokens,
                                record.promptTokens, rollout.maxNew));
    return checkParts(bytes, name, given);
  }

  Status checkParts(const std::byte *bytes, const std::string &name,
                    const std::vector<std::int32_t> &given) const {
    const plan::SampleRecord &record = recordOf(bytes);
    const std::int32_t *tokens = plan::tokensOf(bytes, rollout);
    if (!std::equal(given.begin(), given.end(), tokens))
      return refuse(fmt::format("{} begins with other tokens than its prompt", name));
    const std::uint32_t vocabulary = prompts.limits().vocabulary;
    for (std::uint32_t at = record.promptTokens; at < record.tokens; ++at) {
      if (tokens[at] < 0 || static_cast<std::uint32_t>(tokens[at]) >= vocabulary)
        return refuse(fmt::format("{} has token {} at place {}, the vocabulary ends at {}", name,
                                  tokens[at], at, vocabulary - 1));
      const std::uint32_t inResponse = at - record.promptTokens;
      if (!std::isfinite(plan::logProbabilitiesOf(bytes)[inResponse]) ||
          !std::isfinite(plan::sampledOf(bytes, rollout)[inResponse]))
        return refuse(fmt::format("{} has a log-probability that is no finite number, at place {}",
                                  name, at));
    }
    return {};
  }

  const plan::RoundSettings &settings;
  const plan::RolloutSettings &rollout;
  const PromptFile &prompts;
  const AskedSamples &asked;
  std::vector<const std::byte *> found;
};

} // namespace

AskedSamples askedByRound(const plan::RoundSettings &settings, const PromptFile &prompts,
                          std::uint64_t seed, std::uint64_t round) {
  const plan::RolloutSettings &rollout = settings.rollout;
  AskedSamples asked{.firstDraw = drawOf(rollout, round, 0),
                     .draws = rollout.candidates,
                     .samples = rollout.samples,
                     .version = static_cast<std::int64_t>(round) + 1};
  for (std::uint32_t candidate = 0; candidate < asked.draws; ++candidate)
    asked.prompts.push_back(promptOfDraw(prompts.count(), seed, asked.firstDraw + candidate));
  return asked;
}

AskedSamples askedByEvaluation(const plan::RoundSettings &settings, std::int64_t version) {
  AskedSamples asked{.firstDraw = plan::kFirstEvaluationDraw,
                     .draws = settings.evaluation.count,
                     .samples = settings.evaluation.samples,
                     .prompts = std::vector<std::uint64_t>(settings.evaluation.count),
                     .version = version,
                     .isEvaluation = true};
  std::iota(asked.prompts.begin(), asked.prompts.end(), 0);
  return asked;
}

StatusOr<std::vector<const std::byte *>> gatherSamples(const plan::RoundSettings &settings,
                                                       const PromptFile &prompts,
                                                       const AskedSamples &asked,
                                                       const std::byte *samples) {
  Gathering gathering(settings, prompts, asked);
  const int engines = static_cast<int>(settings.rollout.engines);
  for (int engine = -1; engine < engines; ++engine, samples += plan::samplesBytes(settings))
    if (Status status = gathering.take(samples, engine); !status.ok())
      return status;
  return gathering.finish();
}

EngineSeconds engineSeconds(const plan::RoundSettings &settings, const std::byte *samples) {
  EngineSeconds longest;
  for (std::uint32_t engine = 0; engine < settings.rollout.engines; ++engine) {
    samples += plan::samplesBytes(settings); // the first batch is the coordinator's
    const auto &header = *reinterpret_cast<const plan::BatchHeader *>(samples);
    longest.generation = std::max(longest.generation, header.generationSeconds);
    longest.sync = std::max(longest.sync, header.syncSeconds);
  }
  return longest;
}

ResponseCounts countResponses(const std::vector<const std::byte *> &records) {
  ResponseCounts counts{.samples = records.size()};
  for (const std::byte *bytes : records) {
    const plan::SampleRecord &record = recordOf(bytes);
    const std::uint32_t length = record.tokens - record.promptTokens;
    counts.shortest = bytes == records.front() ? length : std::min(counts.shortest, length);
    counts.longest = std::max(counts.longest, length);
    counts.tokens += length;
    const auto finish = static_cast<Finish>(record.finish);
    counts.stopped += finish == Finish::Stop;
    counts.cut += finish == Finish::Length;
    counts.aborted += finish == Finish::Aborted;
  }
  return counts;
}

} // namespace vime
