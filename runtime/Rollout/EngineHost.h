// EngineHost: the engine of one rank, on buffers of its plan.
//
//   StatusOr<std::unique_ptr<EngineHost>> host = EngineHost::make(plan, rank, kernels, records);
//   (*host)->wake(cache);
//   (*host)->pause(); (*host)->flush(); (*host)->install(0, weights); …
//   (*host)->publish(header.round + 1); (*host)->resume();
//   Status status = (*host)->generate(prompts, workspace, samples, goesOn);
//
// Each call is an action of the plan; what the engine refuses is refused with its words. An engine
// takes every so many-th prompt of a batch, as many sequences at a time as it has slots, others as
// those end. What it leaves in `samples` is ordered by prompt and sample, so that it does not
// depend on which sequence ended first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/Engine/Engine.h"
#include "runtime/Plan/Plan.h"
#include "runtime/Plan/RolloutRecords.h"

namespace vime {

class EngineHost {
public:
  /// Asked between two steps of the engine: whether the run goes on. It is also the sign that this
  /// rank does.
  using GoesOn = std::function<bool()>;

  /// `rank` is an engine of the plan; `records` has recordBytes and, as the kernels, outlives it.
  static StatusOr<std::unique_ptr<EngineHost>> make(const plan::Plan &plan, std::uint32_t rank,
                                                    const Kernels &kernels, std::byte *records);

  Status wake(std::byte *cache);
  Status pause();
  Status flush();
  Status install(std::uint32_t stage, const std::byte *weights);
  Status publish(std::int64_t version);
  Status resume();

  /// Reads the buffer `prompts` and fills `samples`. Unacceptable: prompts are not as the plan has
  /// them. Interrupted: `goesOn` said no.
  Status generate(const std::byte *prompts, std::byte *workspace, std::byte *samples,
                  const GoesOn &goesOn);

private:
  /// What is generated for one batch: sequences, by place in `samples`.
  struct Batch;

  EngineHost(const plan::Plan &plan, std::uint32_t engine, std::unique_ptr<Engine> core);
  StatusOr<Batch> read(const std::byte *prompts) const;
  Status admit(const Batch &batch, std::uint32_t place);
  Status takeFinished(const Batch &batch, std::byte *samples, std::uint32_t &finished);
  Status run(const Batch &batch, std::byte *workspace, std::byte *samples, const GoesOn &goesOn);

  const plan::RoundSettings &settings;
  const std::uint64_t seed;
  const std::uint32_t own; // among the engines
  const std::uint32_t vocabulary;
  const std::unique_ptr<Engine> engine;
  std::vector<std::uint32_t> placeOf; // by slot: of its sequence in `samples`
  double pausedAt = 0, syncSeconds = 0;
};

} // namespace vime
