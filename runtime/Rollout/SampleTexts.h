// SampleTexts: samples as those who judge them read them.
//
//   SampleTexts texts(prompts, records);
//   reward.score(texts.requests());
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runtime/Data/PromptFile.h"
#include "runtime/Plan/RolloutRecords.h"
#include "runtime/Reward/Reward.h"

namespace vime {

/// Tokens as bytes; one that is no byte is U+FFFD.
std::string textOf(std::span<const std::int32_t> tokens);

class SampleTexts {
public:
  /// Both must outlive it. The token that ended a response is not part of its text.
  SampleTexts(const plan::RolloutSettings &rollout, const PromptFile &prompts,
              std::span<const std::byte *const> records);
  std::span<const RewardRequest> requests() const { return asked; }

private:
  std::vector<std::string> texts; // prompt and response of each
  std::vector<RewardRequest> asked;
};

} // namespace vime
