#include "tests/rollout/MadeSamples.h"

#include <cstring>
#include <fstream>
#include <random>
#include <unistd.h>

#include <gtest/gtest.h>

#include "runtime/Rollout/DrawPrompts.h"

namespace vime {
namespace {

PromptFile madePrompts() {
  std::string lines;
  for (int number = 0; number < 11; ++number) {
    const std::string text = std::to_string(number * number);
    lines += "{\"prompt\": \"" + text + "\", \"answer\": \"" + text + "\"}\n";
  }
  return *PromptFile::open(fileOf("made-prompts.jsonl", lines), {.tokens = 4});
}

/// A response of 1 to `mostNew` tokens.
void fillRecord(const plan::RolloutSettings &rollout, const plan::PromptRecord &prompt,
                const std::int32_t *given, std::uint32_t sample, std::int64_t version,
                std::byte *at) {
  std::mt19937_64 random(prompt.draw * 1000 + sample);
  plan::SampleRecord record{.draw = prompt.draw,
                            .prompt = prompt.prompt,
                            .sample = sample,
                            .promptTokens = prompt.tokens,
                            .tokens = prompt.tokens + 1 + std::uint32_t(random() % rollout.maxNew),
                            .version = version};
  record.finish = record.tokens == prompt.tokens + rollout.maxNew ? 1 : 0;
  std::memcpy(at, &record, sizeof(record));
  std::memcpy(plan::tokensOf(at, rollout), given, prompt.tokens * sizeof(std::int32_t));
  for (std::uint32_t token = prompt.tokens; token < record.tokens; ++token) {
    plan::tokensOf(at, rollout)[token] = std::int32_t(random() % 256);
    plan::logProbabilitiesOf(at)[token - prompt.tokens] = -double(random() % 1000000007) / 3e8;
    plan::sampledOf(at, rollout)[token - prompt.tokens] = -double(random() % 1000000007) / 7e8;
  }
}

} // namespace

std::string fileOf(const std::string &name, const std::string &text) {
  const std::string path = testing::TempDir() + std::to_string(getpid()) + "-" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

MadeSamples::MadeSamples(std::uint32_t engines) : prompts(madePrompts()) {
  settings.rollout = {.engines = engines,
                      .steps = 2,
                      .prompts = 4,
                      .candidates = 5,
                      .samples = 3,
                      .maxPrompt = 4,
                      .maxNew = 6};
  settings.evaluation.count = 3;
  settings.evaluation.samples = 4;
}

std::vector<std::byte> MadeSamples::drawn(std::uint64_t round) const {
  std::vector<std::byte> batch(plan::promptsBytes(settings));
  EXPECT_TRUE(drawPrompts(settings, prompts, kSeed, round, batch.data()).ok());
  return batch;
}

std::vector<std::byte> MadeSamples::drawnEvaluation() const {
  std::vector<std::byte> batch(plan::promptsBytes(settings));
  EXPECT_TRUE(drawEvaluation(settings, prompts, batch.data()).ok());
  return batch;
}

std::vector<std::byte> MadeSamples::generate(const std::vector<std::byte> &drawn,
                                             std::int64_t version, bool backwards) const {
  const plan::RolloutSettings &rollout = settings.rollout;
  std::vector<std::byte> samples((rollout.engines + 1) * plan::samplesBytes(settings),
                                 std::byte(0xAB)); // what is behind tokens means nothing
  plan::BatchHeader asked;
  std::memcpy(&asked, drawn.data(), sizeof(asked));
  std::memset(samples.data(), 0, sizeof(plan::BatchHeader));
  for (std::uint32_t own = 0; own < rollout.engines; ++own) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> work; // prompt of the batch, sample
    for (std::uint32_t index = own; index < asked.count; index += rollout.engines)
      for (std::uint32_t sample = 0;
           sample < (asked.isEvaluation ? settings.evaluation.samples : rollout.samples); ++sample)
        work.emplace_back(index, sample);
    if (backwards)
      std::reverse(work.begin(), work.end());
    plan::BatchHeader header{.count = work.size(), .isEvaluation = asked.isEvaluation};
    std::memcpy(engine(samples, own), &header, sizeof(header));
    for (std::uint32_t place = 0; place < work.size(); ++place) {
      const auto [index, sample] = work[place];
      const std::byte *from = plan::recordAt(drawn.data(), plan::promptStride(rollout), index);
      plan::PromptRecord prompt;
      std::memcpy(&prompt, from, sizeof(prompt));
      fillRecord(rollout, prompt, reinterpret_cast<const std::int32_t *>(from + sizeof(prompt)),
                 sample, version,
                 plan::recordAt(engine(samples, own), plan::sampleStride(rollout), place));
    }
  }
  return samples;
}

} // namespace vime
