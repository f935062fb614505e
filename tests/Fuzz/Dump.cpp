// Fuzz target `dump`: a dump of a round, and what a round read from it is good for.
#include <fstream>

#include "runtime/Rollout/RoundBatch.h"
#include "runtime/Rollout/RoundDump.h"
#include "tests/Fuzz/Target.h"
#include "tests/model/TemporaryDirectory.h"

namespace vime::fuzz {
namespace {

constexpr std::uint32_t kVocabulary = 9;

plan::RoundSettings smallRound() {
  plan::RoundSettings settings;
  settings.rollout = {
      .steps = 2, .prompts = 2, .candidates = 2, .samples = 2, .maxPrompt = 2, .maxNew = 3};
  return settings;
}

std::string write(std::string_view bytes) {
  static const TemporaryDirectory kFolder;
  const std::string path = kFolder.path("round.jsonl");
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

void pack(const plan::RoundSettings &settings, const std::vector<std::byte> &round) {
  const plan::DataSettings data{.samples = 2, .tokens = 6};
  for (std::uint32_t step = 0; step < settings.rollout.steps; ++step) {
    const auto batch = RoundBatch::make(settings, data, /*replicas=*/1, step, round.data());
    must(batch.ok(), "what was read can be trained on");
    for (std::uint32_t microbatch = 0; microbatch < batch->microbatches(); ++microbatch) {
      std::vector<std::int32_t> tokens(data.tokens), labels(data.tokens), segments(3);
      std::vector<double> policy(plan::policyRegion(data.tokens, data.samples).bytes / 8);
      batch->fill({0, microbatch}, {tokens.data(), labels.data(), segments.data(),
                                    reinterpret_cast<std::byte *>(policy.data())});
      for (const std::int32_t token : tokens)
        must(token >= 0 && std::uint32_t(token) < kVocabulary, "tokens are in the vocabulary");
    }
  }
}

std::string seed() {
  std::string text = "{\"round\": 5, \"prompts\": 2, \"samples_per_prompt\": 2, \"samples\": 5}\n";
  for (int sample = 0; sample < 5; ++sample)
    text += "{\"draw\": " + std::to_string(10 + sample / 2) +
            ", \"sample\": " + std::to_string(sample % 2) +
            ", \"prompt\": 0, \"finish\": \"stop\", \"version\": 6, " +
            "\"reward\": " + std::to_string(sample % 2) +
            ", \"trained\": " + (sample < 4 ? "true" : "false") +
            ", \"prompt_tokens\": 1, \"tokens\": [3, 8, 0], \"log_probabilities\": [-0.5, -1e-3], "
            "\"sampled_log_probabilities\": [-2, -0.25]}\n";
  return text;
}

} // namespace

void eat(std::string_view bytes) {
  const plan::RoundSettings settings = smallRound();
  std::vector<std::byte> round(plan::roundBytes(settings));
  const Status status = readDump(write(bytes), settings, kVocabulary, 5, round.data());
  if (status.ok())
    pack(settings, round);
  else
    must(!status.message().empty(), "a refusal says why");
}

std::vector<std::string> seeds() { return {seed()}; }

} // namespace vime::fuzz
