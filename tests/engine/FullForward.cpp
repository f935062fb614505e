#include "tests/engine/FullForward.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/ModelSpec/StageRegions.h"
#include "tests/model/Values.h"

namespace vime {

FullForward::FullForward(const ModelConfig &config, const Kernels &kernels,
                         const GuardedRegion &weights, std::uint32_t rows)
    : config(config), caps{rows, 1, rows}, kernels(kernels), weights(weights),
      spec(stageSpec(config, {0, config.layers, true, true}, caps)),
      stage(makeStage(config, {0, config.layers, true, true}, caps, kernels).value()),
      stash(spec.stashBytes), workspace(spec.forwardWorkspace) {}

const void *FullForward::logits(std::span<const std::int32_t> tokens) const {
  const std::int32_t offsets[] = {0, std::int32_t(tokens.size())};
  stage->forward({offsets, 1}, {.input = tokens.data(),
                                .weights = weights.data(),
                                .stash = stash.data(),
                                .output = nullptr,
                                .workspace = workspace.data(),
                                .tiedWeights = config.tiedHead ? weights.data() : nullptr});
  return bytesFrom(static_cast<const void *>(stash.data()),
                   stageRegions(config, {0, config.layers, true, true}, caps).logits);
}

std::vector<double> FullForward::logProbabilities(std::span<const std::int32_t> tokens,
                                                  std::size_t from) const {
  const std::int32_t offsets[] = {0, std::int32_t(tokens.size())};
  auto *rows = static_cast<std::byte *>(const_cast<void *>(logits(tokens)));
  const std::vector<std::byte> kept(rows,
                                    rows + tokens.size() * config.vocab * sizeOf(config.type));
  std::vector<double> found;
  for (std::size_t at = from; at < tokens.size(); ++at) {
    // One label at a time: the loss is a sum, and leaves gradients where the logits were.
    std::vector<std::int32_t> labels(tokens.size(), -1);
    labels[at - 1] = tokens[at];
    double loss = 0;
    std::copy(kept.begin(), kept.end(), rows);
    stage->loss({offsets, 1}, {labels.data(), stash.data(), &loss});
    found.push_back(-loss);
  }
  return found;
}

std::vector<double> FullForward::logProbabilitiesOfRounds(std::span<const std::int32_t> tokens,
                                                          std::size_t from) const {
  logits(tokens);
  const std::int32_t offsets[] = {0, std::int32_t(tokens.size())};
  std::vector<std::int32_t> labels(tokens.size(), -1);
  std::copy(tokens.begin() + long(from), tokens.end(), labels.begin() + long(from) - 1);
  std::vector<double> found(tokens.size());
  stage->logProbabilities({offsets, 1}, {labels.data(), stash.data(), found.data()});
  return {found.begin() + long(from) - 1, found.end() - 1};
}

Finished FullForward::generate(const Asked &asked) const {
  Finished done{.prompt = asked.request.prompt,
                .sample = asked.request.sample,
                .tokens = asked.tokens,
                .finish = Finish::Length};
  const std::size_t most = asked.tokens.size() + std::size_t(asked.request.mostNew);
  while (done.tokens.size() < most && done.finish != Finish::Stop) {
    const void *rows = logits(done.tokens);
    const std::vector<double> last =
        doubles(elementAt(rows, std::int64_t(done.tokens.size() - 1) * config.vocab, config.type),
                config.vocab, config.type);
    const std::vector<double> chance = distributionOf(asked.request.sampling, last);
    const double u = uniformAt(
        {asked.request.seed, done.prompt, done.sample, std::uint32_t(done.tokens.size())});
    double sum = 0;
    std::int32_t token = 0;
    while ((sum += chance[std::size_t(token)]) <= u)
      ++token;
    done.tokens.push_back(token);
    done.drawn.push_back(token);
    done.sampledLogProbabilities.push_back(std::log(chance[std::size_t(token)]));
    done.versions.push_back(0);
    if (std::count(asked.stops.begin(), asked.stops.end(), token) > 0)
      done.finish = Finish::Stop;
  }
  done.logProbabilities = logProbabilities(done.tokens, asked.tokens.size());
  return done;
}

std::vector<double> distributionOf(const Sampling &sampling, const std::vector<double> &logits) {
  std::vector<std::size_t> words(logits.size());
  std::iota(words.begin(), words.end(), 0);
  std::stable_sort(words.begin(), words.end(),
                   [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  if (sampling.temperature == 0)
    words.resize(1);
  if (sampling.topK > 0)
    words.resize(std::min(words.size(), std::size_t(sampling.topK)));
  const double temperature = sampling.temperature == 0 ? 1 : sampling.temperature;
  std::vector<double> weights;
  for (const std::size_t word : words)
    weights.push_back(std::exp((logits[word] - logits[words[0]]) / temperature));
  const double all = std::accumulate(weights.begin(), weights.end(), 0.);
  std::size_t kept = 0;
  for (double sum = 0; kept < words.size() && sum < sampling.topP * all; ++kept)
    sum += weights[kept];
  weights.resize(kept);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.);
  std::vector<double> chance(logits.size(), 0.);
  for (std::size_t rank = 0; rank < kept; ++rank)
    chance[words[rank]] = weights[rank] / total;
  return chance;
}

} // namespace vime
