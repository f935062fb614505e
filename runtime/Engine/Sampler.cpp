#include "runtime/Engine/Sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "kernels/BFloat16.h"

namespace vime {
namespace {

/// Words by falling logit; among equals the lower id comes first. Logits, not their exponentials,
/// which may be equal where these are not.
template <typename E> class Ranking {
public:
  explicit Ranking(const E *logits) : logits(logits) {}
  bool operator()(std::int32_t a, std::int32_t b) const {
    const Sum<E> ofA = logits[a], ofB = logits[b];
    return ofA > ofB || (ofA == ofB && a < b);
  }

private:
  const E *logits;
};

/// The words up to and with `last`; all of them where that is none.
template <typename E> struct Kept {
  Ranking<E> before;
  std::int32_t last = -1;
  bool holds(std::int32_t word) const { return last < 0 || !before(last, word); }
};

template <typename E, typename T>
double weightOf(const Kept<E> &kept, std::int32_t vocabulary, const T *weights) {
  double total = 0;
  for (std::int32_t word = 0; word < vocabulary; ++word)
    if (kept.holds(word))
      total += double(weights[word]);
  return total;
}

template <typename E>
void keepLikeliest(Kept<E> &kept, std::int32_t count, std::int32_t vocabulary,
                   std::int32_t *ranked) {
  std::iota(ranked, ranked + vocabulary, 0);
  std::nth_element(ranked, ranked + count - 1, ranked + vocabulary, kept.before);
  kept.last = ranked[count - 1];
}

/// The likeliest words are taken off a heap, so that a vocabulary is not sorted for a few of them.
template <typename E, typename T>
void keepShare(Kept<E> &kept, double share, std::int32_t vocabulary, const T *weights,
               std::int32_t *ranked) {
  std::int32_t *end = ranked;
  for (std::int32_t word = 0; word < vocabulary; ++word)
    if (kept.holds(word))
      *end++ = word;
  const double enough = share * weightOf(kept, vocabulary, weights);
  const auto worse = [&](std::int32_t a, std::int32_t b) { return kept.before(b, a); };
  std::make_heap(ranked, end, worse);
  for (double sum = 0; end != ranked && sum < enough;) {
    std::pop_heap(ranked, end--, worse);
    sum += double(weights[*end]);
    kept.last = *end;
  }
}

template <typename E> std::int32_t likeliest(const E *logits, std::int32_t vocabulary) {
  const Ranking<E> before(logits);
  std::int32_t best = 0;
  for (std::int32_t word = 1; word < vocabulary; ++word)
    if (before(word, best))
      best = word;
  return best;
}

template <typename E, typename T>
std::int32_t wordAt(double place, const Kept<E> &kept, std::int32_t vocabulary, const T *weights) {
  double sum = 0;
  std::int32_t last = 0; // where rounding has `place` at the very end
  for (std::int32_t word = 0; word < vocabulary; ++word) {
    if (!kept.holds(word))
      continue;
    sum += double(weights[word]);
    last = word;
    if (sum > place)
      break;
  }
  return last;
}

} // namespace

Status check(const Sampling &sampling) {
  const auto refuse = [](std::string text) {
    return Status(StatusCode::InvalidInput, std::move(text));
  };
  if (!(sampling.temperature >= 0 && std::isfinite(sampling.temperature)))
    return refuse(fmt::format("a temperature of {}, expected at least 0", sampling.temperature));
  if (!(sampling.topP > 0 && sampling.topP <= 1))
    return refuse(fmt::format("a top_p of {}, expected more than 0 and at most 1", sampling.topP));
  if (sampling.topK < 0)
    return refuse(fmt::format("a top_k of {}, expected at least 0", sampling.topK));
  return Status();
}

double Sampler::logProbability(const void *logits, std::int32_t token) const {
  double result = 0;
  kernels.logProbabilities(1, vocabulary, {logits, vocabulary}, &token, &result);
  return result;
}

template <typename E>
Drawn Sampler::drawFrom(const Sampling &sampling, const E *logits, double uniform) const {
  if (sampling.temperature == 0) {
    const std::int32_t token = likeliest(logits, vocabulary);
    return {token, logProbability(logits, token), 0};
  }
  constexpr double kSteepest = 1e30; // greedy in all but name, and finite in a float
  const auto *weight = static_cast<const Sum<E> *>(weights);
  kernels.softmaxWeights(1, vocabulary, {logits, vocabulary},
                         std::min(1 / sampling.temperature, kSteepest), {weights, vocabulary});
  Kept<E> kept{Ranking<E>(logits)};
  double total = weightOf(kept, vocabulary, weight);
  if (!std::isfinite(total)) // no order to rank by
    return {0, std::nan(""), std::nan("")};
  if (sampling.topK > 0 && sampling.topK < vocabulary)
    keepLikeliest(kept, sampling.topK, vocabulary, ranked);
  if (sampling.topP < 1)
    keepShare(kept, sampling.topP, vocabulary, weight, ranked);
  if (kept.last >= 0)
    total = weightOf(kept, vocabulary, weight);

  const std::int32_t token = wordAt(uniform * total, kept, vocabulary, weight);
  Drawn drawn{token, logProbability(logits, token), 0};
  const bool isWhole = sampling.temperature == 1 && kept.last < 0;
  drawn.sampledLogProbability =
      isWhole ? drawn.logProbability : std::log(double(weight[token]) / total);
  return drawn;
}

Drawn Sampler::draw(const Sampling &sampling, const void *logits, double uniform) const {
  switch (kernels.type()) {
  case DataType::Float64:
    return drawFrom(sampling, static_cast<const double *>(logits), uniform);
  case DataType::BFloat16:
    return drawFrom(sampling, static_cast<const BFloat16 *>(logits), uniform);
  default:
    return drawFrom(sampling, static_cast<const float *>(logits), uniform);
  }
}

} // namespace vime
