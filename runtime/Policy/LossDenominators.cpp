#include "runtime/Policy/LossDenominators.h"

#include <algorithm>
#include <map>

namespace vime {
namespace {

/// Which unit the sequence is part of. Of tokens, all are part of one.
std::uint32_t unitOf(LossUnit unit, std::span<const StepSequence> step, std::size_t sequence) {
  switch (unit) {
  case LossUnit::Token:
    return 0;
  case LossUnit::Sequence:
    return static_cast<std::uint32_t>(sequence);
  case LossUnit::Prompt:
    return step[sequence].prompt;
  case LossUnit::Rollout:
  case LossUnit::Constant:
    break;
  }
  return step[sequence].rollout;
}

} // namespace

StatusOr<std::vector<double>> lossDenominators(LossUnit unit, std::span<const StepSequence> step,
                                               std::uint32_t constant) {
  if (unit == LossUnit::Constant && constant == 0)
    return Status(StatusCode::InvalidInput, "a loss divided by a constant has the constant 0");
  if (std::all_of(step.begin(), step.end(),
                  [](const auto &sequence) { return sequence.tokens == 0; }))
    return Status(StatusCode::InvalidInput, "no token of the step has mask 1");
  std::map<std::uint32_t, std::uint64_t> tokens;
  for (std::size_t sequence = 0; sequence < step.size(); ++sequence)
    tokens[unitOf(unit, step, sequence)] += step[sequence].tokens;
  std::vector<double> denominators(step.size());
  for (std::size_t sequence = 0; sequence < step.size(); ++sequence) {
    const std::uint64_t perUnit =
        unit == LossUnit::Constant
            ? constant
            : std::max<std::uint64_t>(tokens[unitOf(unit, step, sequence)], 1);
    denominators[sequence] = static_cast<double>(tokens.size() * perUnit);
  }
  return denominators;
}

} // namespace vime
