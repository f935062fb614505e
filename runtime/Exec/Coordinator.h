// Coordinator: what rank 0 has besides its program: the texts, how far the run has come, and an
// observer.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Data/TextDataset.h"
#include "runtime/Exec/RunObserver.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// How far a run has come. With weights and moments it is all that the steps to come depend on.
struct RunCursor {
  std::uint64_t step = 0;    // the next one
  std::uint64_t updates = 0; // of the optimizer: steps that were not skipped
  double bestLoss = std::numeric_limits<double>::infinity(); // of the evaluations so far
  std::uint64_t evaluationsSince = 0;                        // the best one
};

class Coordinator {
public:
  /// Opens the texts and compares them with what the plan was made for. A missing one is a File
  /// error that says how to name its folder.
  static StatusOr<Coordinator> open(const plan::Plan &plan, const std::string &base,
                                    RunObserver &observer);

  const RunCursor &cursor() const { return progress; }
  void resume(const RunCursor &cursor) { progress = cursor; }

  /// A step has run; `skipped`: its gradients were bad, no parameter has changed.
  void finishStep(bool skipped);
  /// A held-out loss is known: whether the run goes on, by the plan's patience and target.
  bool goesOnAfter(double loss, const plan::EvaluationSettings &settings);

  const TextDataset &text() const { return dataset; }
  /// Where the plan evaluates.
  const TextDataset &heldOut() const { return *evaluation; }
  RunObserver &observer() { return *watcher; }

private:
  Coordinator(TextDataset dataset, RunObserver &observer)
      : dataset(std::move(dataset)), watcher(&observer) {}

  TextDataset dataset;
  std::optional<TextDataset> evaluation;
  RunObserver *watcher;
  RunCursor progress;
};

} // namespace vime
