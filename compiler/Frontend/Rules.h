// Rules: J over several values of a job: JobRules.cpp, ModelRules.cpp, OrderRules.cpp,
// BatchRules.cpp, EvaluationRules.cpp, SavingRules.cpp.
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

inline std::string text(std::uint64_t number) { return std::to_string(number); }

inline std::string code(std::string_view words) { return '`' + std::string(words) + '`'; }

} // namespace vime
