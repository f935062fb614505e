#include "tests/engine/EngineRun.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "runtime/Model/Update.h"

namespace vime {
namespace {

void demand(const Status &status) {
  if (!status.ok())
    throw std::runtime_error(status.message());
}

} // namespace

GenerationRequest Asked::view() const {
  GenerationRequest all = request;
  all.tokens = tokens;
  all.stops = stops;
  return all;
}

Finished copyOf(const Response &response) {
  const auto copied = [](const auto &span) { return std::vector(span.begin(), span.end()); };
  return {response.prompt,
          response.sample,
          copied(response.tokens),
          copied(response.drawn),
          copied(response.logProbabilities),
          copied(response.sampledLogProbabilities),
          copied(response.versions),
          response.finish};
}

GuardedRegion sharpWeights(const ModelConfig &config, const Kernels &kernels, std::uint64_t seed,
                           StageRange stage) {
  const StageSpec spec = stageSpec(config, stage, {1, 1, 1});
  GuardedRegion parameters(spec.gradientBytes), weights(spec.weightBytes);
  initializeParameters(kernels, spec, seed, parameters.data());
  for (const TensorSpec &tensor : spec.tensors)
    if (tensor.start == Start::Normal)
      kernels.scale(std::int64_t(tensor.elements()), 10,
                    elementAt(parameters.data(), std::int64_t(tensor.offset), kernels.sumType()));
  kernels.round(std::int64_t(spec.weightBytes / sizeOf(config.type)), parameters.data(),
                weights.data());
  return weights;
}

GuardedRegion sharpWeights(const ModelConfig &config, const Kernels &kernels, std::uint64_t seed) {
  return sharpWeights(config, kernels, seed, {0, config.layers, true, true});
}

EngineRun::EngineRun(const ModelConfig &config, EngineCaps caps, const Kernels &kernels)
    : EngineRun(config, splitLayers(config, 1), caps, kernels) {}

EngineRun::EngineRun(const ModelConfig &config, std::vector<StageRange> ofStages, EngineCaps caps,
                     const Kernels &kernels)
    : config(config), stages(std::move(ofStages)), kernels(kernels),
      regions(engineRegions(config, caps)), records(regions.recordBytes),
      workspace(regions.workspaceBytes) {
  auto made = Engine::make(config, stages, caps, kernels, records.data());
  demand(made.status());
  engine = std::move(*made);
}

void EngineRun::publish(std::int64_t version, std::uint64_t seed) {
  std::vector<GuardedRegion> fresh;
  for (const StageRange &stage : stages) {
    fresh.push_back(sharpWeights(config, kernels, seed, stage));
    demand(engine->install(std::uint32_t(fresh.size()) - 1, fresh.back().data()));
  }
  demand(engine->publish(version));
  weights = std::move(fresh);
}

void EngineRun::wake() {
  cache = std::make_unique<GuardedRegion>(regions.cacheBytes);
  demand(engine->wake(cache->data()));
}

void EngineRun::start() {
  wake();
  demand(engine->resume());
}

StepCounts EngineRun::step() {
  workspace.poison();
  const StatusOr<StepCounts> counts = engine->step(workspace.data());
  demand(counts.status());
  return *counts;
}

std::vector<Finished> EngineRun::take() {
  std::vector<Finished> all;
  while (const std::optional<int> slot = engine->finishedSlot()) {
    all.push_back(copyOf(engine->response(*slot)));
    demand(engine->release(*slot));
  }
  return all;
}

std::vector<Finished> EngineRun::generate(const std::vector<Asked> &all) {
  std::vector<Finished> done;
  for (std::size_t next = 0; done.size() < all.size();) {
    for (; next < all.size() && engine->freeSlots() > 0; ++next)
      demand(engine->admit(all[next].view()).status());
    step();
    for (Finished &one : take())
      done.push_back(std::move(one));
  }
  sort(done);
  return done;
}

bool EngineRun::fencesIntact() const {
  return records.fencesIntact() && workspace.fencesIntact() && cache->fencesIntact();
}

void sort(std::vector<Finished> &all) {
  std::sort(all.begin(), all.end(), [](const Finished &a, const Finished &b) {
    return std::tie(a.prompt, a.sample) < std::tie(b.prompt, b.sample);
  });
}

} // namespace vime
