#include "runtime/Data/RoundPlan.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "runtime/Data/BalancedPacking.h"
#include "runtime/Data/Share.h"

namespace vime {
namespace {

using Places = std::vector<std::uint32_t>;

constexpr std::uint32_t kMostMicrobatches = 1u << 20; // that a step must have

Status refused(std::string message) { return {StatusCode::InvalidInput, std::move(message)}; }

Status checkShape(const RoundShape &shape) {
  const struct {
    const char *what;
    std::uint32_t number;
  } rows[] = {{"rollouts of a step", shape.rollouts},
              {"replicas", shape.replicas},
              {"group of microbatches", shape.group},
              {"tokens of a microbatch", shape.room.tokens},
              {"samples of a microbatch", shape.room.samples}};
  for (const auto &row : rows)
    if (row.number == 0)
      return refused(fmt::format("{}: 0, expected at least 1", row.what));
  if (std::uint64_t{shape.replicas} * shape.group > kMostMicrobatches)
    return refused(
        fmt::format("{} replicas with groups of {} microbatches are more than {} microbatches",
                    shape.replicas, shape.group, kMostMicrobatches));
  if (!(shape.cost.linear >= 0) || !(shape.cost.quadratic >= 0))
    return refused(fmt::format("cost of a sample is {} and {}, one of them below 0",
                               shape.cost.linear, shape.cost.quadratic));
  return {};
}

Status checkSamples(std::span<const RoundSample> samples, const RoundShape &shape) {
  if (samples.empty())
    return refused("a round has no samples");
  for (std::size_t place = 0; place < samples.size(); ++place) {
    if (samples[place].tokens == 0)
      return refused(fmt::format("sample {} has no tokens", place));
    if (samples[place].tokens > shape.room.tokens)
      return refused(fmt::format("sample {} has {} tokens, a microbatch has room for {}", place,
                                 samples[place].tokens, shape.room.tokens));
  }
  return {};
}

/// Places of the samples of each rollout, in the order in which rollouts first come.
std::vector<Places> placesOfRollouts(std::span<const RoundSample> samples) {
  std::vector<Places> places;
  std::unordered_map<std::uint32_t, std::size_t> known;
  for (std::uint32_t place = 0; place < samples.size(); ++place) {
    const auto [at, first] = known.try_emplace(samples[place].rollout, places.size());
    if (first)
      places.emplace_back();
    places[at->second].push_back(place);
  }
  return places;
}

/// Packs the samples of one step.
class StepPacker {
public:
  StepPacker(std::span<const RoundSample> samples, const RoundShape &shape, const Places &places)
      : shape(shape), places(places) {
    for (const std::uint32_t place : places) {
      const double tokens = samples[place].tokens;
      lengths.push_back(samples[place].tokens);
      costs.push_back(tokens * shape.cost.linear + tokens * tokens * shape.cost.quadratic);
    }
  }

  std::vector<std::vector<PlannedMicrobatch>> pack() const {
    auto replicas = shape.rule == PackingRule::FirstFit ? firstFit() : balanced();
    std::size_t longest = 1;
    for (const auto &microbatches : replicas)
      longest = std::max(longest, microbatches.size());
    for (auto &microbatches : replicas)
      microbatches.resize((longest + shape.group - 1) / shape.group * shape.group);
    return replicas;
  }

private:
  PlannedMicrobatch inRound(std::span<const std::uint32_t> inStep) const {
    PlannedMicrobatch microbatch;
    for (const std::uint32_t place : inStep)
      microbatch.push_back(places[place]);
    std::sort(microbatch.begin(), microbatch.end());
    return microbatch;
  }

  std::vector<std::vector<PlannedMicrobatch>> firstFit() const {
    Packing packing;
    packing.pack(lengths, shape.room);
    std::vector<std::vector<PlannedMicrobatch>> replicas(shape.replicas);
    for (std::uint32_t replica = 0; replica < shape.replicas; ++replica) {
      const Share share = shareOf(packing.microbatches(), shape.replicas, replica);
      for (std::uint32_t index = 0; index < share.count; ++index)
        replicas[replica].push_back(inRound(packing.samplesOf(share.first + index)));
    }
    return replicas;
  }

  std::vector<std::vector<PlannedMicrobatch>> balanced() const {
    const auto bins = balancedPacking(lengths, costs, shape.room, shape.replicas * shape.group);
    std::vector<double> costOfBins;
    for (const auto &bin : bins) {
      double cost = 0;
      for (const std::uint32_t place : bin)
        cost += costs[place];
      costOfBins.push_back(cost);
    }
    std::vector<std::vector<PlannedMicrobatch>> replicas;
    for (const auto &share : balancedShares(costOfBins, shape.replicas)) {
      auto &microbatches = replicas.emplace_back();
      for (const std::uint32_t bin : share)
        microbatches.push_back(inRound(bins[bin]));
      std::stable_partition(microbatches.begin(), microbatches.end(),
                            [](const auto &microbatch) { return !microbatch.empty(); });
    }
    return replicas;
  }

  const RoundShape &shape;
  const Places &places;
  std::vector<std::uint32_t> lengths;
  std::vector<double> costs;
};

} // namespace

StatusOr<std::vector<RoundStep>> planRound(std::span<const RoundSample> samples,
                                           const RoundShape &shape) {
  if (Status checked = checkShape(shape); !checked.ok())
    return checked;
  if (Status checked = checkSamples(samples, shape); !checked.ok())
    return checked;
  const std::vector<Places> rollouts = placesOfRollouts(samples);
  if (shape.last == LastStep::Refuse && rollouts.size() % shape.rollouts != 0)
    return refused(fmt::format("a round of {} rollouts is no whole number of steps of {}",
                               rollouts.size(), shape.rollouts));
  std::vector<RoundStep> steps;
  for (std::size_t first = 0; first < rollouts.size(); first += shape.rollouts) {
    const std::size_t end = std::min<std::size_t>(first + shape.rollouts, rollouts.size());
    Places places;
    for (std::size_t rollout = first; rollout < end; ++rollout)
      places.insert(places.end(), rollouts[rollout].begin(), rollouts[rollout].end());
    RoundStep step{static_cast<std::uint32_t>(end - first),
                   StepPacker(samples, shape, places).pack()};
    const std::size_t microbatches = step.replicas.front().size();
    if (shape.most != 0 && microbatches > shape.most)
      return refused(fmt::format("step {} needs {} microbatches a replica, there is room for {}",
                                 steps.size(), microbatches, shape.most));
    steps.push_back(std::move(step));
  }
  return steps;
}

} // namespace vime
