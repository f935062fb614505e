// Coordinator: what rank 0 has besides its program: the texts, how far the run is, and an observer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Checkpoint/Manifest.h"
#include "runtime/Data/TextDataset.h"
#include "runtime/Exec/RunObserver.h"
#include "runtime/Plan/Plan.h"

namespace vime {

class Coordinator {
public:
  /// Opens the texts and compares them with what the plan was made for. A missing one is a File
  /// error that says how to name its folder.
  static StatusOr<Coordinator> open(const plan::Plan &plan, const std::string &base,
                                    RunObserver &observer);

  /// Before the first step: the run goes on from there.
  void resume(const RunProgress &from) {
    now = from;
    updated = from.updates;
  }

  /// The step that begins; counted as done from here on. By `decide`.
  std::uint64_t nextStep();
  /// Of the optimizer so far: steps that were not skipped.
  std::uint64_t updates() const { return updated; }
  /// The step has run; `skipped`: its gradients were bad, no parameter has changed. By `report`.
  void finishStep(bool skipped) { updated += skipped ? 0 : 1; }
  /// A held-out loss is known: whether the run goes on, by the plan's patience and target.
  bool goesOnAfter(double loss, const plan::EvaluationSettings &settings);
  /// How far the run is when the step that was begun last is done, but for the count of updates. By
  /// `snapshot`, which stands behind all that this step decided and before the next one is handed
  /// to its lane.
  const RunProgress &progress() const { return now; }

  const TextDataset &text() const { return dataset; }
  /// Where the plan evaluates.
  const TextDataset &heldOut() const { return *evaluation; }
  /// Host and io lanes may both have something to tell.
  RunObserver &observer() { return *watcher; }

private:
  Coordinator(TextDataset dataset, std::uint64_t replicas, RunObserver &observer);

  TextDataset dataset;
  std::optional<TextDataset> evaluation;
  std::uint64_t replicas;
  std::unique_ptr<RunObserver> watcher;
  RunProgress now;
  std::uint64_t updated = 0; // apart: `report` may still count while a snapshot is taken
};

} // namespace vime
