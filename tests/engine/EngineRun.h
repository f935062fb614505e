// EngineRun: an engine with memory of exactly the declared sizes, and random weights.
//
//   EngineRun run(config, {.slots = 3, .rows = 40, .batchTokens = 8}, kernels);
//   run.publish(/*version=*/1, /*seed=*/7);
//   run.start();
//   Finished one = run.generate({request}).front();
//
// The workspace is poisoned before each step and the cache before it is given, so an engine that
// relies on what was there gives NaN.
#pragma once

#include <memory>
#include <vector>

#include "runtime/Engine/Engine.h"
#include "tests/model/GuardedRegion.h"

namespace vime {

/// A request that owns its tokens.
struct Asked {
  GenerationRequest request;
  std::vector<std::int32_t> tokens, stops = {};
  GenerationRequest view() const;
};

/// A response that outlives its slot.
struct Finished {
  std::uint64_t prompt;
  std::uint32_t sample;
  std::vector<std::int32_t> tokens, drawn;
  std::vector<double> logProbabilities, sampledLogProbabilities;
  std::vector<std::int64_t> versions;
  Finish finish;
  bool operator==(const Finished &) const = default;
};
Finished copyOf(const Response &response);

/// Weights of a stage, its matrices larger than a model starts with, so that words differ.
GuardedRegion sharpWeights(const ModelConfig &config, const Kernels &kernels, std::uint64_t seed,
                           StageRange stage);
/// Of a whole model.
GuardedRegion sharpWeights(const ModelConfig &config, const Kernels &kernels, std::uint64_t seed);

class EngineRun {
public:
  EngineRun(const ModelConfig &config, EngineCaps caps, const Kernels &kernels);
  /// Of a model whose stages lie apart.
  EngineRun(const ModelConfig &config, std::vector<StageRange> stages, EngineCaps caps,
            const Kernels &kernels);

  Engine &operator*() { return *engine; }
  Engine *operator->() { return engine.get(); }
  /// Installs sharpWeights of each stage; the engine is paused.
  void publish(std::int64_t version, std::uint64_t seed);
  /// Gives it a new, poisoned cache.
  void wake();
  /// Wakes and resumes.
  void start();
  StepCounts step();
  /// Releases what has finished.
  std::vector<Finished> take();
  /// Admits as slots are free and steps until all have finished; sorted by prompt and sample.
  std::vector<Finished> generate(const std::vector<Asked> &all);
  bool fencesIntact() const;

private:
  const ModelConfig config;
  const std::vector<StageRange> stages;
  const Kernels &kernels;
  const EngineRegions regions;
  GuardedRegion records, workspace;
  std::vector<GuardedRegion> weights; // of each stage
  std::unique_ptr<GuardedRegion> cache;
  std::unique_ptr<Engine> engine;
};

void sort(std::vector<Finished> &all);

} // namespace vime
