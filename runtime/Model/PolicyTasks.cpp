#include "runtime/Model/PolicyTasks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/Model/LlamaTensors.h"

namespace vime {
namespace {

/// `visit(begin, count)` for each run of tokens that have labels.
template <typename Visit>
void forLabelledRuns(std::int64_t tokens, const std::int32_t *labels, const Visit &visit) {
  for (std::int64_t begin = 0; begin < tokens;) {
    std::int64_t end = begin;
    while (end < tokens && labels[end] >= 0)
      ++end;
    if (end > begin)
      visit(begin, end - begin);
    begin = std::max(end, begin + 1);
  }
}

ConstMatrix rowsFrom(const ConstLogits &logits, std::int64_t token) {
  return {elementAt(logits.rows.data, token * logits.rows.stride, logits.kernels.type()),
          logits.rows.stride};
}

void entropiesOf(const ConstLogits &logits, std::int64_t tokens, const std::int32_t *labels,
                 double *entropies) {
  forLabelledRuns(tokens, labels, [&](std::int64_t begin, std::int64_t count) {
    logits.kernels.entropies(count, logits.vocabulary(), rowsFrom(logits, begin),
                             entropies + begin);
  });
}

/// Sums over tokens with a label that the loss itself has no use for.
struct Report {
  ExactSum entropy;
  double drift = 0;
  void add(double ofToken, double moved) {
    entropy.add(ofToken);
    drift = std::max(drift, std::abs(moved));
  }
};

plan::PolicyNumbers numbersOf(const PolicyLossSums &sums, const Report &report) {
  return {.loss = sums.loss.value(),
          .kl = sums.kl.value(),
          .ratio = sums.ratio.value(),
          .entropy = report.entropy.value(),
          .drift = report.drift,
          .clipped = double(sums.clipped),
          .corrected = double(sums.corrected),
          .tokens = double(sums.tokens)};
}

} // namespace

void logProbabilitiesOf(const ConstLogits &logits, std::int64_t tokens, const std::int32_t *labels,
                        double *logProbabilities) {
  std::fill_n(logProbabilities, tokens, 0.);
  forLabelledRuns(tokens, labels, [&](std::int64_t begin, std::int64_t count) {
    logits.kernels.logProbabilities(count, logits.vocabulary(), rowsFrom(logits, begin),
                                    labels + begin, logProbabilities + begin);
  });
}

void policyLossOf(const Logits &logits, const Segments &segments, const PolicyLossOperands &at,
                  const PolicyWorkspace &in, const PolicyLossSettings &settings) {
  const auto tokens = std::size_t(segments.tokens()), count = std::size_t(segments.count);
  *at.numbers = {};
  if (tokens == 0)
    return;
  const auto row = [&](std::uint64_t offset) {
    return static_cast<double *>(bytesFrom(at.workspace, offset));
  };
  double *const logProbabilities = row(in.logProbabilities), *const entropies = row(in.entropies),
                *const byLogProbability = row(in.byLogProbability),
                *const byEntropy = row(in.byEntropy);
  auto *const mask = static_cast<std::uint8_t *>(bytesFrom(at.workspace, in.mask));
  for (std::size_t token = 0; token < tokens; ++token)
    mask[token] = at.labels[token] >= 0 ? 1 : 0;

  const ConstLogits read{logits.kernels, logits.rows};
  logProbabilitiesOf(read, std::int64_t(tokens), at.labels, logProbabilities);
  entropiesOf(read, std::int64_t(tokens), at.labels, entropies);
  const auto of = [&](const double *numbers) { return std::span(numbers, numbers ? tokens : 0); };
  PolicyLossSums sums;
  const Status status = policyLoss(
      settings,
      {.sequences = {{reinterpret_cast<const std::uint32_t *>(segments.offsets), count + 1},
                     {mask, tokens}},
       .logProbabilities = of(logProbabilities),
       .old = of(at.old),
       .sampled = of(at.sampled),
       .reference = of(at.reference),
       .entropies = of(entropies),
       .advantages = of(at.advantages),
       .denominators = {at.denominators, count}},
      {.byLogProbability = {byLogProbability, tokens}, .byEntropy = {byEntropy, tokens}}, sums);
  Report report;
  for (std::size_t token = 0; token < tokens; ++token)
    if (mask[token] != 0)
      report.add(entropies[token], logProbabilities[token] - at.old[token]);
  *at.numbers = numbersOf(sums, report);
  if (!status.ok()) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    at.numbers->loss = kNone;
    std::fill_n(byLogProbability, tokens, kNone);
    std::fill_n(byEntropy, tokens, 0.);
  }
  logits.kernels.logProbabilitiesBackward(std::int64_t(tokens), logits.vocabulary(), logits.rows,
                                          at.labels, byLogProbability,
                                          settings.entropy != 0 ? byEntropy : nullptr);
}

} // namespace vime
