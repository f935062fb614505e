#include "runtime/Rollout/SampleTexts.h"

#include "runtime/Engine/Sequence.h"

namespace vime {

std::string textOf(std::span<const std::int32_t> tokens) {
  std::string text;
  text.reserve(tokens.size());
  for (const std::int32_t token : tokens)
    if (token < 256)
      text += static_cast<char>(token);
    else
      text += "\xEF\xBF\xBD";
  return text;
}

SampleTexts::SampleTexts(const plan::RolloutSettings &rollout, const PromptFile &prompts,
                         std::span<const std::byte *const> records) {
  texts.reserve(2 * records.size()); // requests see into them
  for (const std::byte *bytes : records) {
    const auto &record = *reinterpret_cast<const plan::SampleRecord *>(bytes);
    const Prompt &prompt = prompts.at(record.prompt);
    const std::span tokens(plan::tokensOf(bytes, rollout), record.tokens);
    const auto response = tokens.subspan(record.promptTokens);
    const bool stopped = static_cast<Finish>(record.finish) == Finish::Stop;
    RewardRequest request{.draw = record.draw,
                          .sample = record.sample,
                          .isText = prompt.isText,
                          .promptTokens = tokens.first(record.promptTokens),
                          .responseTokens = response,
                          .answer = prompt.answer,
                          .metadata = prompt.metadata};
    if (prompt.isText) {
      request.prompt = texts.emplace_back(textOf(request.promptTokens));
      request.response =
          texts.emplace_back(textOf(response.first(response.size() - (stopped ? 1 : 0))));
    }
    asked.push_back(request);
  }
}

} // namespace vime
