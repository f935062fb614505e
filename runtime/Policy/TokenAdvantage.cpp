#include "runtime/Policy/TokenAdvantage.h"

#include <initializer_list>

#include <fmt/format.h>

namespace vime {
namespace {

struct Counted {
  const char *what;
  std::size_t count;
};

Status checkTokens(const Sequences &sequences, std::initializer_list<Counted> tokens) {
  if (Status checked = checkSequences(sequences); !checked.ok())
    return checked;
  for (const Counted &numbers : tokens)
    if (Status counted = checkCount(numbers.what, numbers.count, sequences.tokens()); !counted.ok())
      return counted;
  return {};
}

/// Calls with each token of a sequence, last first.
template <typename Visit>
void backwards(const Sequences &sequences, std::size_t sequence, Visit visit) {
  for (std::uint32_t token = sequences.begins[sequence + 1]; token-- > sequences.begins[sequence];)
    visit(token);
}

} // namespace

Status spreadOverTokens(const Sequences &sequences, std::span<const double> numbers,
                        std::span<double> tokens) {
  if (Status checked = checkTokens(sequences, {{"tokens", tokens.size()}}); !checked.ok())
    return checked;
  if (Status counted = checkCount("numbers", numbers.size(), sequences.count()); !counted.ok())
    return counted;
  for (std::size_t sequence = 0; sequence < sequences.count(); ++sequence)
    backwards(sequences, sequence, [&](std::uint32_t token) {
      tokens[token] = sequences.mask[token] != 0 ? numbers[sequence] : 0;
    });
  return {};
}

Status putOnLastToken(const Sequences &sequences, std::span<const double> rewards,
                      std::span<double> tokens) {
  if (Status checked = checkTokens(sequences, {{"tokens", tokens.size()}}); !checked.ok())
    return checked;
  if (Status counted = checkCount("rewards", rewards.size(), sequences.count()); !counted.ok())
    return counted;
  for (std::size_t sequence = 0; sequence < sequences.count(); ++sequence) {
    bool placed = false;
    backwards(sequences, sequence, [&](std::uint32_t token) {
      const bool here = !placed && sequences.mask[token] != 0;
      tokens[token] = here ? rewards[sequence] : 0;
      placed = placed || here;
    });
    if (!placed)
      return {StatusCode::InvalidInput,
              fmt::format("sequence {} has a reward and no token with mask 1", sequence)};
  }
  return {};
}

Status subtractKl(const Sequences &sequences, KlEstimator estimator, double coefficient,
                  std::span<const double> logProbabilities, std::span<const double> reference,
                  std::span<double> tokens) {
  if (Status checked = checkTokens(sequences, {{"log-probabilities", logProbabilities.size()},
                                               {"reference", reference.size()},
                                               {"tokens", tokens.size()}});
      !checked.ok())
    return checked;
  for (std::size_t token = 0; token < sequences.tokens(); ++token)
    if (sequences.mask[token] != 0)
      tokens[token] -=
          coefficient * klEstimate(estimator, logProbabilities[token] - reference[token]).value;
  return {};
}

Status discountReturns(const Sequences &sequences, double discount, std::span<const double> rewards,
                       std::span<double> returns) {
  if (Status checked =
          checkTokens(sequences, {{"rewards", rewards.size()}, {"returns", returns.size()}});
      !checked.ok())
    return checked;
  for (std::size_t sequence = 0; sequence < sequences.count(); ++sequence) {
    double next = 0;
    backwards(sequences, sequence, [&](std::uint32_t token) {
      const bool step = sequences.mask[token] != 0;
      if (step)
        next = rewards[token] + discount * next;
      returns[token] = step ? next : 0;
    });
  }
  return {};
}

Status generalisedAdvantages(const Sequences &sequences, GaeSettings settings,
                             std::span<const double> rewards, std::span<const double> values,
                             std::span<double> advantages, std::span<double> returns) {
  if (Status checked = checkTokens(sequences, {{"rewards", rewards.size()},
                                               {"values", values.size()},
                                               {"advantages", advantages.size()},
                                               {"returns", returns.size()}});
      !checked.ok())
    return checked;
  for (std::size_t sequence = 0; sequence < sequences.count(); ++sequence) {
    double next = 0, nextValue = 0;
    backwards(sequences, sequence, [&](std::uint32_t token) {
      advantages[token] = returns[token] = 0;
      if (sequences.mask[token] == 0)
        return;
      const double surprise = rewards[token] + settings.discount * nextValue - values[token];
      next = surprise + settings.discount * settings.decay * next;
      nextValue = values[token];
      advantages[token] = next;
      returns[token] = next + values[token];
    });
  }
  return {};
}

} // namespace vime
