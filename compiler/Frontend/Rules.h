// Rules: J over several values of a job: JobRules.cpp, ModelRules.cpp, OrderRules.cpp,
// BatchRules.cpp, EvaluationRules.cpp, SavingRules.cpp; of rounds: RoundRules.cpp,
// RolloutRules.cpp, RewardRules.cpp, AlgorithmRules.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/Frontend/Draft.h"
#include "runtime/Base/Counted.h"

namespace vime {

/// Each model by itself: what its family has, heads that divide, a vocabulary for bytes.
void checkModels(Draft &draft);
/// The schedule: that it can be built, fits the ranks and the model, and is placed as asked.
void checkPipeline(Draft &draft);
/// What a step and an evaluation take from their texts.
void checkBatch(Draft &draft);
/// What a run needs to save itself.
void checkSaving(Draft &draft);

/// What varies from step to step: the learning rate, evaluations (EvaluationRules.cpp).
void checkVariation(Draft &draft);

/// Rounds: steps, what vime cannot do with them yet, and all that follows.
void checkRounds(Draft &draft);
/// Ranks and models of actor, engines and reference: called by checkRounds.
void checkRoundRoles(Draft &draft);
/// What engines generate, who judges it, and what is made of that: called by checkRounds.
void checkRollout(Draft &draft);
void checkReward(Draft &draft);
void checkAlgorithm(Draft &draft);

/// Whether evaluations are counted in steps or in rounds.
void checkEvaluationInterval(Draft &draft);

inline std::string text(std::uint64_t number) { return std::to_string(number); }

/// Whether a known value is another than its default: that one may stand anywhere, as it does in
/// the resolved text of a job.
inline bool isOther(const Draft &draft, const std::string &path) {
  const FieldSpec &field = *findField(path);
  return draft.isKnown(path) && printValue(field, draft.value(path)) != field.fallback;
}

/// Of ranks: `4-5`.
inline std::string rangeText(std::uint32_t first, std::uint32_t count) {
  return count == 1 ? text(first) : text(first) + '-' + text(first + count - 1);
}

inline std::string code(std::string_view words) { return '`' + std::string(words) + '`'; }

} // namespace vime
