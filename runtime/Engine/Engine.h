// Engine: generates responses of a decoder, many sequences at a time, by the kernels that train it.
//
//   auto engine = Engine::make(config, stages, {.slots = 16, .rows = 320, .batchTokens = 64},
//                              kernels, records);
//   for (std::uint32_t stage = 0; stage < stages.size(); ++stage)
//     (*engine)->install(stage, weights[stage]);
//   (*engine)->publish(/*version=*/1);
//   (*engine)->wake(cache);
//   (*engine)->resume();
//   StatusOr<int> slot = (*engine)->admit({.prompt = 12, .sample = 0, .seed = 7, .tokens = text,
//                                          .mostNew = 64});
//   while (!(*engine)->isFinished(*slot))
//     if (StatusOr<StepCounts> done = (*engine)->step(workspace); !done.ok())
//       return done.status();
//   Response response = (*engine)->response(*slot); // until release(*slot)
//
// It has no thread and, but for what `make` sets up, no memory of its own: cache, records and
// workspace are the caller's, as large as runtime/ModelSpec/EngineRegions.h says. A step takes a
// token of every sequence that decodes, and of prompts as many as the caps leave room for;
// sequences come and go between steps (continuous batching, Yu et al. 2022). Each has a slot of
// `rows` rows, not pages: what a plan reserves is then exact, and keys of a sequence lie in one
// piece. A prompt is computed for one of its samples; the others copy what is cached.
//
// A token and its log-probability depend on weights, seed, prompt, sample and position: not on the
// other sequences, the caps, how a prompt was cut, or pauses. With native kernels that is so to the
// bit, and a log-probability is the one of the trainer's loss.
//
// States: paused or running; asleep (no cache) or awake; weights of each stage installed, then all
// published under a version. Weights may be written between install and publish, while the engine
// is paused; the version of a token is the one published when it was drawn. Whatever comes in the
// wrong order is refused and changes nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/Kernels.h"
#include "runtime/Base/Status.h"
#include "runtime/Engine/EngineWeights.h"
#include "runtime/Engine/Sampler.h"
#include "runtime/Engine/Sequence.h"
#include "runtime/Model/LlamaLayer.h"
#include "runtime/ModelSpec/EngineRegions.h"

namespace vime {

/// What pausing does to sequences that are not finished.
enum class Pause : std::uint8_t { Keep, Abort };

/// What one step did.
struct StepCounts {
  std::uint32_t rows = 0;  // tokens that passed through the model
  std::uint32_t drawn = 0; // tokens that came out
};

class Engine {
public:
  /// Paused, asleep, without weights. `stages` are all of the model, in order; they say in which
  /// pieces its weights come. `kernels` and `records` must outlive the engine.
  static StatusOr<std::unique_ptr<Engine>> make(const ModelConfig &config,
                                                std::span<const StageRange> stages, EngineCaps caps,
                                                const Kernels &kernels, void *records);

  // --- Sequences, in any state ---

  std::uint32_t freeSlots() const;
  /// Takes a sequence in and copies what it was given; its slot. Refused (InvalidInput): sequences
  /// that do not fit, tokens that the vocabulary does not have, one that is there already.
  /// Internal: there is no free slot.
  StatusOr<int> admit(const GenerationRequest &request);
  /// Of a slot that `admit` gave and that is not released.
  bool isFinished(int slot) const { return sequences[std::size_t(slot)].isFinished(); }
  /// A slot that has finished and is not released yet, the lowest.
  std::optional<int> finishedSlot() const;
  /// What there is so far, of such a slot. Valid until it is released.
  Response response(int slot) const;
  /// Frees the slot of a finished sequence.
  Status release(int slot);
  /// Ends a sequence, or all of a prompt, as it is; how many there were.
  int abort(std::uint64_t prompt, std::optional<std::uint32_t> sample = std::nullopt);

  // --- Generation ---

  /// Running only. `workspace` is forgotten. RankFailed: logits are not numbers; their sequence
  /// stands still until it is aborted, or until the cache is flushed and weights are sound again.
  StatusOr<StepCounts> step(void *workspace);

  // --- States ---

  Status pause(Pause kind);
  /// Paused only: forgets what is cached. Kept sequences have their tokens computed again, by the
  /// weights that are there then.
  Status flush();
  Status resume();
  /// Paused only: gives the cache back, flushed.
  Status sleep();
  /// `cache` has cacheBytes, whatever is in them.
  Status wake(void *cache);
  /// Paused only: the weights of a stage lie there, and may be written until they are published;
  /// nothing is generated before.
  Status install(std::uint32_t stage, const void *weights);
  /// After an installation of each stage. Versions ascend.
  Status publish(std::int64_t version);

  bool isPaused() const { return paused; }
  bool isAwake() const { return cache != nullptr; }
  /// The one published; nothing before the first and while weights are being written.
  std::optional<std::int64_t> version() const;

private:
  /// Rows of a step that belong to one sequence.
  struct Part {
    int slot;
    std::int64_t row, count;
  };

  Engine(const ModelConfig &config, std::span<const StageRange> stages, EngineCaps caps,
         const Kernels &kernels, void *records);

  /// What is cached of a sequence that another one begins with too.
  struct Shared {
    int slot = -1;
    std::int32_t ready = 0, coming = 0; // tokens there are, and will be
  };

  void planParts();
  Shared findShared(int slot) const;
  bool waits(int slot) const;
  void copyShared(int slot);
  void addPart(int slot, std::int64_t count);
  std::int64_t rowsOfParts() const;
  KeyValueCache cacheOf(int slot, std::uint32_t index) const;
  void embed(void *workspace) const;
  void runLayer(std::uint32_t index, void *workspace) const;
  void attend(std::uint32_t index, const LayerKept<void *> &kept, void *scratch) const;
  /// Logits of the sequences whose tokens are all in; `ends` receives their slots.
  void runHead(void *workspace);
  StatusOr<StepCounts> drawAll(void *workspace);
  void finish(Sequence &sequence, Finish reason);
  SequenceRecord recordOf(int slot) const;
  Status checkFits(const GenerationRequest &request) const;

  const ModelConfig config;
  const EngineCaps caps;
  const EngineRegions regions;
  const Kernels &kernels;
  const std::unique_ptr<std::byte[]> ropeTable; // constant
  const LlamaLayer layer;
  std::byte *const records;

  std::vector<Sequence> sequences; // by slot
  std::uint64_t arrivals = 0;
  std::vector<int> order;  // slots of unfinished sequences, as they were admitted
  std::vector<Part> parts; // of the step
  std::vector<int> ends;   // of the step: slots that draw
  bool paused = true;
  std::byte *cache = nullptr;
  EngineWeights weights;
  bool published = false;
  std::int64_t lastVersion = -1;
};

} // namespace vime
