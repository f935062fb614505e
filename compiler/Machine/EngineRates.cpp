#include "compiler/Machine/EngineRates.h"

#include <fmt/format.h>

#include "compiler/Machine/FigureText.h"
#include "runtime/ModelSpec/Copies.h"
#include "runtime/ModelSpec/StageRegions.h"

namespace vime {

namespace {

/// Operations and bytes of an engine's step, each of what it goes with.
struct EngineWork {
  double row = 0, pair = 0, draw = 0; // operations
  double weights = 0, key = 0;        // bytes
};

EngineWork workOf(const plan::Model &model) {
  const ModelConfig &config = model.config;
  double layers = 0;
  for (std::size_t stage = 0; stage < model.stages.size() / copiesOf(model.stages); ++stage)
    layers += model.stages[stage].end - model.stages[stage].first;
  const double hidden = config.hidden, query = static_cast<double>(queryWidth(config)),
               qkv = static_cast<double>(qkvWidth(config)),
               element = static_cast<double>(sizeOf(config.type));
  const double matrices = layers * (qkv * hidden + query * hidden + 3.0 * config.ffn * hidden);
  const double head = static_cast<double>(config.vocab) * hidden;
  return {.row = 2 * matrices,
          .pair = 4 * query * layers,
          .draw = 2 * head,
          .weights = element * (matrices + head),
          .key = element * layers * (qkv - query)};
}

} // namespace

StatusOr<EngineRates> engineRates(const Machine &machine, const plan::Plan &plan,
                                  UsedFigures &used) {
  if (machine.engineStep.isKnown() && machine.engineToken.isKnown()) {
    used.insert(fieldOf(&Machine::engineStep).path);
    used.insert(fieldOf(&Machine::engineToken).path);
    return EngineRates{
        .costs = {.step = machine.engineStep.value, .row = machine.engineToken.value},
        .origin = fmt::format("{} a step and {} a token",
                              printFigure(FigureKind::Seconds, machine.engineStep.value),
                              printFigure(FigureKind::Seconds, machine.engineToken.value))};
  }
  const plan::Model &model = plan.models.front();
  if (!isDecoder(model.config.family))
    return Status(StatusCode::InvalidInput,
                  fmt::format("machine `{}` does not say `engine.step` and `engine.token`, and the "
                              "model's work is not known",
                              machine.name));
  const StatusOr<Rate> flops = rateOf(machine, peakOf(model.config.type), &Machine::share, used);
  if (!flops.ok())
    return flops.status();
  const StatusOr<Rate> bytes = rateOf(machine, &Machine::bandwidth, &Machine::bandwidthShare, used);
  if (!bytes.ok())
    return bytes.status();
  const EngineWork work = workOf(model);
  return EngineRates{.costs = {.row = work.row / flops->value,
                               .pair = work.pair / flops->value,
                               .draw = work.draw / flops->value,
                               .weights = work.weights / bytes->value,
                               .key = work.key / bytes->value},
                     .origin = fmt::format("the longer of operations / ({}) and bytes / ({})",
                                           flops->text, bytes->text)};
}

} // namespace vime
