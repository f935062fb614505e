#include "compiler/Analysis/RoundQuantiles.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "runtime/Plan/Decisions.h"

namespace vime {

using namespace plan;

namespace {

/// Draws lengths; the same ones everywhere.
class LengthDice {
public:
  LengthDice(std::span<const LengthWeight> lengths, std::uint32_t otherwise) {
    for (const LengthWeight &length : lengths)
      sums.push_back({length.tokens, sum += length.weight});
    if (sums.empty())
      sums.push_back({otherwise, sum = 1});
  }
  std::uint32_t draw(std::mt19937_64 &random) const {
    const double at = static_cast<double>(random() >> 11) * 0x1p-53 * sum;
    const auto found = std::ranges::upper_bound(sums, at, {}, &LengthWeight::weight);
    return (found == sums.end() ? sums.back() : *found).tokens;
  }

private:
  std::vector<LengthWeight> sums; // weights added up
  double sum = 0;
};

Quantiles quantilesOf(std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(
        std::lround(share * static_cast<double>(values.size() - 1)))];
  };
  return {at(0.1), at(0.5), at(0.9)};
}

struct DrawnSample {
  std::uint32_t prompt, response;
};

/// What is known of the drawn rounds, one of each.
struct Drawn {
  std::vector<double> period, generation, tokens, microbatches, bubble, trainersWait, enginesWait;
  std::vector<std::vector<double>> engines;
};

class RoundDice {
public:
  RoundDice(const Plan &plan, const Durations &durations, const EngineCosts &costs,
            const LengthHistogram &lengths, const StepPacking &pack)
      : plan(plan), rollout(plan.round.rollout), durations(durations), costs(costs),
        prompts(lengths.prompts, rollout.maxPrompt), responses(lengths.responses, rollout.maxNew),
        pack(pack), random(plan.run.seed) {
    this->durations.generation.assign(rollout.engines, 0); // counted here
    drawn.engines.resize(rollout.engines);
  }

  StatusOr<RoundQuantiles> run(std::uint32_t rounds) {
    for (std::uint32_t round = 0; round < rounds; ++round)
      if (const Status status = drawRound(); !status.ok())
        return status;
    RoundQuantiles result{.rounds = rounds,
                          .period = quantilesOf(drawn.period),
                          .generation = quantilesOf(drawn.generation),
                          .tokens = quantilesOf(drawn.tokens),
                          .microbatches = quantilesOf(drawn.microbatches),
                          .bubble = quantilesOf(drawn.bubble),
                          .trainersWait = quantilesOf(drawn.trainersWait),
                          .enginesWait = quantilesOf(drawn.enginesWait)};
    for (const std::vector<double> &engine : drawn.engines)
      result.engines.push_back(std::llround(quantilesOf(engine).middle));
    return result;
  }

private:
  Status drawRound() {
    std::vector<DrawnSample> samples;
    double tokens = 0;
    for (std::uint32_t draw = 0; draw < rollout.candidates; ++draw) {
      const std::uint32_t prompt = prompts.draw(random);
      for (std::uint32_t sample = 0; sample < rollout.samples; ++sample) {
        samples.push_back({prompt, responses.draw(random)});
        tokens += samples.back().response;
      }
    }
    drawn.tokens.push_back(tokens);
    return addRound(samples, generate(samples));
  }

  /// Nanoseconds of each engine.
  std::vector<double> generate(const std::vector<DrawnSample> &samples) {
    std::vector<std::vector<EngineSequence>> queues(rollout.engines);
    for (std::uint32_t place = 0; place < samples.size(); ++place) {
      const std::uint32_t draw = place / rollout.samples;
      queues[draw % rollout.engines].push_back(
          {draw, samples[place].prompt, samples[place].response});
    }
    std::vector<double> engines;
    for (std::uint32_t engine = 0; engine < rollout.engines; ++engine) {
      engines.push_back(1e9 *
                        engineSeconds(queues[engine], {rollout.slots, rollout.stepTokens}, costs));
      drawn.engines[engine].push_back(engines.back());
    }
    return engines;
  }

  Status addRound(const std::vector<DrawnSample> &samples, const std::vector<double> &engines) {
    RoundTimes round;
    const std::uint32_t ofStep = rollout.prompts * rollout.samples / rollout.steps;
    StepReport first;
    for (std::uint32_t step = 0; step < rollout.steps; ++step) {
      const StatusOr<std::uint32_t> microbatches =
          microbatchesOf(std::span(samples).subspan(std::size_t{step} * ofStep, ofStep));
      if (!microbatches.ok())
        return microbatches.status();
      drawn.microbatches.push_back(*microbatches);
      const StepReport &report =
          reportFor({.beginsRound = step == 0, .microbatches = *microbatches});
      addStep(report, 1, round);
      if (step == 0)
        first = report;
    }
    finishRound(first, round);
    const double generation = lastOf(engines, durations.coresPerNode);
    const double period = static_cast<double>(round.period) + generation;
    double busy = 0;
    for (const double engine : engines)
      busy += engine;
    const auto share = [&](double time, const RoleTimes &role) {
      return time / (static_cast<double>(role.ranks) * period);
    };
    drawn.period.push_back(period);
    drawn.generation.push_back(generation);
    drawn.bubble.push_back(share(static_cast<double>(round.trainers.idle), round.trainers));
    drawn.trainersWait.push_back(share(static_cast<double>(round.trainers.other) +
                                           generation * static_cast<double>(round.trainers.ranks),
                                       round.trainers));
    drawn.enginesWait.push_back(share(static_cast<double>(round.engines.other) +
                                          generation * static_cast<double>(round.engines.ranks) -
                                          busy,
                                      round.engines));
    return Status();
  }

  StatusOr<std::uint32_t> microbatchesOf(std::span<const DrawnSample> samples) const {
    std::vector<std::uint32_t> inputs;
    for (const DrawnSample &sample : samples)
      inputs.push_back(sample.prompt + sample.response - 1); // the last token is a label alone
    const StatusOr<std::uint32_t> microbatches = pack(inputs);
    return microbatches.ok() ? filledUp(plan, *microbatches) : microbatches;
  }

  const StepReport &reportFor(StepKind kind) {
    const std::pair key(kind.beginsRound, kind.microbatches);
    const auto found = reports.find(key);
    return found != reports.end()
               ? found->second
               : reports.emplace(key, simulatedStep(plan, durations, kind)).first->second;
  }

  const Plan &plan;
  const RolloutSettings &rollout;
  Durations durations;
  const EngineCosts &costs;
  const LengthDice prompts, responses;
  const StepPacking &pack;
  std::mt19937_64 random;
  std::map<std::pair<bool, std::uint32_t>, StepReport> reports;
  Drawn drawn;
};

} // namespace

double lastOf(std::vector<double> engines, std::uint32_t cores) {
  if (cores == 0 || engines.size() <= cores)
    return engines.empty() ? 0 : std::ranges::max(engines);
  std::ranges::sort(engines);
  double now = 0, done = 0; // all that are not through have come so far
  for (std::size_t place = 0; place < engines.size(); ++place) {
    const double running = static_cast<double>(engines.size() - place);
    now += (engines[place] - done) * std::max(1.0, running / cores);
    done = engines[place];
  }
  return now;
}

StatusOr<RoundQuantiles> roundQuantiles(const Plan &plan, const Durations &durations,
                                        const EngineCosts &costs, const LengthHistogram &lengths,
                                        const StepPacking &pack, std::uint32_t rounds) {
  return RoundDice(plan, durations, costs, lengths, pack).run(rounds);
}

} // namespace vime
