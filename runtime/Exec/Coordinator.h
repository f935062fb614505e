// Coordinator: what rank 0 has besides its program: how far the run is, and an observer. And the
// texts of the job, which the first rank of each replica reads.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Checkpoint/Manifest.h"
#include "runtime/Data/TextDataset.h"
#include "runtime/Exec/RunObserver.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// Opens the text and compares it with what the plan was made for; a step of it is that of all
/// replicas. A missing one is a File error that says how to name its folder.
StatusOr<TextDataset> openText(const plan::Plan &plan, const std::string &base);
/// Likewise what is held out, of a plan that evaluates.
StatusOr<TextDataset> openHeldOut(const plan::Plan &plan, const std::string &base);

class Coordinator {
public:
  Coordinator(const plan::Plan &plan, RunObserver &observer);

  /// Before the first step: the run goes on from there.
  void resume(const RunProgress &from) {
    now = from;
    updated = from.updates;
  }

  /// The step that begins, of so many samples; counted as done from here on. By `decide`.
  std::uint64_t nextStep() { return now.steps++; }
  void take(std::uint64_t samples) { now.samples += samples; }
  /// Whether the step begun last is settled by the next one; so it counts as not skipped for now.
  bool isPending() const { return pending; }
  void leavePending(bool isLeft) { pending = isLeft; }
  /// Of the optimizer so far: steps that were not skipped.
  std::uint64_t updates() const { return updated; }
  /// The step has run; `skipped`: its gradients were bad, no parameter has changed. By `report`.
  void finishStep(bool skipped) { updated += skipped ? 0 : 1; }
  /// The samples of a step of a round are loaded: what follows is training. By `load_round`.
  void beginTraining() { trainingSince = std::chrono::steady_clock::now(); }
  double trainingSeconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - trainingSince).count();
  }
  /// A held-out loss is known: whether the run goes on, by the plan's patience and target.
  bool goesOnAfter(double loss);
  /// How far the run is when the step that was begun last is done, but for the count of updates. By
  /// `snapshot`, which stands behind all that this step decided and before the next one is handed
  /// to its lane.
  const RunProgress &progress() const { return now; }

  /// Host and io lanes may both have something to tell.
  RunObserver &observer() { return *watcher; }

private:
  const plan::EvaluationSettings &settings;
  std::unique_ptr<RunObserver> watcher;
  RunProgress now;
  bool pending = false;
  std::chrono::steady_clock::time_point trainingSince{};
  std::uint64_t updated = 0; // apart: `report` may still count while a snapshot is taken
};

} // namespace vime
