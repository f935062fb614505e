#include "runtime/Rollout/DrawPrompts.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace vime {
namespace {

/// The prompt as record `place` of the batch; its bytes must be 0.
Status put(const plan::RolloutSettings &rollout, const PromptFile &prompts,
           const plan::PromptRecord &wanted, std::uint32_t place, std::byte *batch) {
  const std::vector<std::int32_t> &tokens = prompts.at(wanted.prompt).tokens;
  if (tokens.size() > rollout.maxPrompt)
    return {StatusCode::InvalidInput,
            fmt::format("prompt {} has {} tokens, the plan has room for {}", wanted.prompt,
                        tokens.size(), rollout.maxPrompt)};
  plan::PromptRecord record = wanted;
  record.tokens = static_cast<std::uint32_t>(tokens.size());
  std::byte *at = plan::recordAt(batch, plan::promptStride(rollout), place);
  std::memcpy(at, &record, sizeof(record));
  std::memcpy(at + sizeof(record), tokens.data(), tokens.size() * sizeof(std::int32_t));
  return {};
}

void clear(const plan::RoundSettings &settings, plan::BatchHeader header, std::byte *batch) {
  std::memset(batch, 0, plan::promptsBytes(settings));
  std::memcpy(batch, &header, sizeof(header));
}

} // namespace

Status drawPrompts(const plan::RoundSettings &settings, const PromptFile &prompts,
                   std::uint64_t seed, std::uint64_t round, std::byte *buffer) {
  const plan::RolloutSettings &rollout = settings.rollout;
  clear(settings, {.count = rollout.candidates}, buffer);
  for (std::uint32_t candidate = 0; candidate < rollout.candidates; ++candidate) {
    const std::uint64_t draw = drawOf(rollout, round, candidate);
    const plan::PromptRecord record{.draw = draw,
                                    .prompt = promptOfDraw(prompts.count(), seed, draw),
                                    .samples = rollout.samples};
    if (Status status = put(rollout, prompts, record, candidate, buffer); !status.ok())
      return status;
  }
  return {};
}

Status drawEvaluation(const plan::RoundSettings &settings, const PromptFile &prompts,
                      std::byte *buffer) {
  const plan::PromptEvaluation &held = settings.evaluation;
  if (prompts.count() < held.count)
    return {StatusCode::InvalidInput, fmt::format("prompts `{}` have {}, an evaluation asks for {}",
                                                  held.prompts.file, prompts.count(), held.count)};
  clear(settings, {.count = held.count, .isEvaluation = 1}, buffer);
  for (std::uint32_t prompt = 0; prompt < held.count; ++prompt) {
    const plan::PromptRecord record{
        .draw = plan::kFirstEvaluationDraw + prompt, .prompt = prompt, .samples = held.samples};
    if (Status status = put(settings.rollout, prompts, record, prompt, buffer); !status.ok())
      return status;
  }
  return {};
}

} // namespace vime
