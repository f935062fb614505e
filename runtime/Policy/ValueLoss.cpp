#include "runtime/Policy/ValueLoss.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace vime {
namespace {

Status check(const ValueLossSettings &settings, const ValueLossInputs &inputs,
             std::size_t gradient) {
  if (!(settings.clip >= 0))
    return {StatusCode::InvalidInput, fmt::format("value clip is {}, below 0", settings.clip)};
  if (Status checked = checkSequences(inputs.sequences); !checked.ok())
    return checked;
  const std::size_t tokens = inputs.sequences.tokens();
  const struct {
    const char *what;
    std::size_t found, expected;
  } rows[] = {{"values", inputs.values.size(), tokens},
              {"old values", inputs.old.size(), tokens},
              {"returns", inputs.returns.size(), tokens},
              {"denominators", inputs.denominators.size(), inputs.sequences.count()},
              {"gradient by value", gradient, tokens}};
  for (const auto &row : rows)
    if (Status counted = checkCount(row.what, row.found, row.expected); !counted.ok())
      return counted;
  return {};
}

} // namespace

Status valueLoss(const ValueLossSettings &settings, const ValueLossInputs &inputs,
                 std::span<double> gradient, ValueLossSums &sums) {
  if (Status checked = check(settings, inputs, gradient.size()); !checked.ok())
    return checked;
  const Sequences &sequences = inputs.sequences;
  for (std::size_t sequence = 0; sequence < sequences.count(); ++sequence)
    for (std::uint32_t token = sequences.begins[sequence]; token < sequences.begins[sequence + 1];
         ++token) {
      gradient[token] = 0;
      if (sequences.mask[token] == 0)
        continue;
      const double value = inputs.values[token], old = inputs.old[token];
      const double kept = old + std::clamp(value - old, -settings.clip, settings.clip);
      const double error = value - inputs.returns[token], keptError = kept - inputs.returns[token];
      const bool clipped = keptError * keptError > error * error;
      const double squared = clipped ? keptError * keptError : error * error;
      const double loss = squared / inputs.denominators[sequence];
      if (!std::isfinite(loss))
        return {StatusCode::InvalidInput,
                fmt::format("value loss of token {} of sequence {} is not finite",
                            token - sequences.begins[sequence], sequence)};
      gradient[token] = clipped ? 0 : 2 * error / inputs.denominators[sequence];
      sums.loss.add(loss);
      sums.clipped += clipped ? 1 : 0;
      ++sums.tokens;
    }
  return {};
}

} // namespace vime
