#include "compiler/Analysis/SameWork.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "runtime/ModelSpec/Copies.h"

namespace vime {

using namespace plan;

namespace {

/// What a layer, the embedding and the head take, of one opcode.
struct ModelTimes {
  std::vector<double> layers;
  double embedding = 0, head = 0;

  double of(const StageRange &stage) const {
    double time = (stage.embedding ? embedding : 0) + (stage.head ? head : 0);
    for (std::uint32_t layer = stage.first; layer < stage.end; ++layer)
      time += layers[layer];
    return time;
  }
};

std::uint32_t countOf(const StageRange &stage) { return stage.end - stage.first; }

ModelTimes timesOf(const Model &model, std::span<const OpcodeTimes> stages, Opcode opcode) {
  const std::size_t own = model.stages.size() / copiesOf(model.stages); // of one copy
  double body = 0;
  std::uint32_t bodies = 0, layers = 0;
  for (std::size_t stage = 0; stage < own; ++stage) {
    const StageRange &range = model.stages[stage];
    layers = std::max(layers, range.end);
    if (range.embedding || range.head)
      continue;
    body += static_cast<double>(stages[stage][opcode]);
    bodies += countOf(range);
  }
  ModelTimes times{.layers = std::vector<double>(layers)};
  for (std::size_t stage = 0; stage < own; ++stage) {
    const StageRange &range = model.stages[stage];
    const double all = static_cast<double>(stages[stage][opcode]);
    double each = countOf(range) == 0 ? 0 : all / countOf(range);
    // What stands beside the layers is known apart only if it is there once in this stage.
    if (bodies != 0 && range.embedding != range.head) {
      each = std::min(each, body / bodies);
      (range.head ? times.head : times.embedding) = all - each * countOf(range);
    }
    for (std::uint32_t layer = range.first; layer < range.end; ++layer)
      times.layers[layer] = each;
  }
  return times;
}

/// A whole backward and its halves, an update early and late, where only one of them was known.
void complete(OpcodeTimes &stage) {
  for (const auto &[one, other] : {std::pair(Opcode::Optimize, Opcode::OptimizeEarly),
                                   {Opcode::OptimizeEarly, Opcode::Optimize}})
    if (stage[one] == 0)
      stage[one] = stage[other];
  std::int64_t &whole = stage[Opcode::Backward], &input = stage[Opcode::BackwardInput],
               &weight = stage[Opcode::BackwardWeight];
  if (whole == 0)
    whole = input + weight;
  if (input == 0 && weight == 0) {
    input = whole / 2;
    weight = whole - input;
  }
}

} // namespace

Durations sameWork(const Plan &plan, const Durations &durations, const Plan &other) {
  Durations result = durations;
  const double tokens =
      static_cast<double>(other.data.tokens) / std::max(1.0, static_cast<double>(plan.data.tokens));
  result.stages.clear();
  std::size_t place = 0; // of the model's first stage in `durations`
  const std::size_t models = std::min(plan.models.size(), other.models.size());
  for (std::size_t model = 0; model < models; ++model) { // a reference is the second
    const Model &from = plan.models[model], &to = other.models[model];
    const std::span stages = std::span(durations.stages).subspan(place, from.stages.size());
    std::vector<OpcodeTimes> scaled(to.stages.size());
    for (const Signature &signature : signatures()) {
      if (!signature.perStage)
        continue;
      const ModelTimes times = timesOf(from, stages, signature.opcode);
      const double scale = signature.perMicrobatch ? tokens : 1;
      for (std::size_t stage = 0; stage < scaled.size(); ++stage)
        scaled[stage][signature.opcode] = std::llround(scale * times.of(to.stages[stage]));
    }
    result.stages.insert(result.stages.end(), scaled.begin(), scaled.end());
    place += from.stages.size();
  }
  for (OpcodeTimes &stage : result.stages)
    complete(stage);
  result.boundaryLatency = std::llround(tokens * static_cast<double>(durations.boundaryLatency));
  return result;
}

std::vector<double> layerTimes(const Plan &plan, const Durations &durations) {
  std::vector<double> sum;
  for (const Opcode opcode :
       {Opcode::Forward, Opcode::Backward, Opcode::BackwardInput, Opcode::BackwardWeight}) {
    // Of a backward and its halves only what the plan has counts once.
    std::vector<OpcodeTimes> stages = durations.stages;
    for (OpcodeTimes &stage : stages)
      if (stage[Opcode::Backward] != 0)
        stage[Opcode::BackwardInput] = stage[Opcode::BackwardWeight] = 0;
    const ModelTimes times = timesOf(plan.models.front(), stages, opcode);
    sum.resize(times.layers.size());
    for (std::size_t layer = 0; layer < sum.size(); ++layer)
      sum[layer] += times.layers[layer];
    if (!sum.empty()) {
      sum.front() += times.embedding;
      sum.back() += times.head;
    }
  }
  return sum;
}

} // namespace vime
