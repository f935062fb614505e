// MadeSamples: a small job with rounds, and what engines could have generated for it.
//
//   MadeSamples made;                              // 5 candidates of 3 samples, 2 engines
//   made.generate(made.drawn(/*round=*/1), version);
//   made.batch(0)                                  // of the first engine
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/Data/PromptFile.h"
#include "runtime/Plan/RolloutRecords.h"
#include "runtime/Reward/Reward.h"
#include "runtime/Rollout/Score.h"

namespace vime {

/// The name of a new file in the test's folder.
std::string fileOf(const std::string &name, const std::string &text);

class MadeSamples {
public:
  explicit MadeSamples(std::uint32_t engines = 2);

  plan::RoundSettings settings;
  PromptFile prompts;
  static constexpr std::uint64_t kSeed = 7;
  RoundSource source(std::uint64_t round) const { return {settings, prompts, kSeed, round}; }

  /// The buffer `prompts` of a round.
  std::vector<std::byte> drawn(std::uint64_t round) const;
  std::vector<std::byte> drawnEvaluation() const;
  /// What engines make of it: a response is a function of its draw and sample. `backwards`: in
  /// another order within each engine.
  std::vector<std::byte> generate(const std::vector<std::byte> &drawn, std::int64_t version,
                                  bool backwards = false) const;
  std::byte *engine(std::vector<std::byte> &samples, std::uint32_t engine) const {
    return samples.data() + (engine + 1) * plan::samplesBytes(settings);
  }
  /// Record `index` of an engine.
  plan::SampleRecord &record(std::vector<std::byte> &samples, std::uint32_t ofEngine,
                             std::uint32_t index) const {
    return *reinterpret_cast<plan::SampleRecord *>(
        plan::recordAt(engine(samples, ofEngine), plan::sampleStride(settings.rollout), index));
  }
  /// Record `place` of the buffer `round`.
  const plan::SampleRecord &trained(const std::vector<std::byte> &round,
                                    std::uint32_t place) const {
    return *reinterpret_cast<const plan::SampleRecord *>(
        plan::recordAt(round.data(), plan::sampleStride(settings.rollout), place));
  }
  std::vector<std::byte> round() const {
    return std::vector<std::byte>(plan::roundBytes(settings), std::byte(0xEE));
  }
};

/// A reward that is a function of the request.
class FunctionReward final : public Reward {
public:
  using Function = std::function<double(const RewardRequest &)>;
  explicit FunctionReward(Function function) : function(std::move(function)) {}
  StatusOr<std::vector<double>> score(std::span<const RewardRequest> requests) override {
    std::vector<double> scores;
    for (const RewardRequest &request : requests)
      scores.push_back(function(request));
    return scores;
  }
  void cancel() override {}

private:
  Function function;
};

} // namespace vime
