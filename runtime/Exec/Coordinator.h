// Coordinator: what rank 0 has besides its program: the text, how far the run is, and an observer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Checkpoint/Manifest.h"
#include "runtime/Data/TextDataset.h"
#include "runtime/Exec/RunObserver.h"
#include "runtime/Plan/Plan.h"

namespace vime {

class Coordinator {
public:
  /// Opens the text and compares it with what the plan was made for. A missing one is a File error
  /// that says how to name its folder.
  static StatusOr<Coordinator> open(const plan::Plan &plan, const std::string &base,
                                    RunObserver &observer);

  /// Before the first step: the run goes on from there.
  void resume(const RunProgress &from) { now = from; }

  /// The step that begins; counted as done from here on. By `decide`.
  std::uint64_t nextStep();
  /// How far the run is when the step that was begun last is done. By `snapshot`, which stands
  /// behind all that this step decided and before the next one is handed to its lane.
  const RunProgress &progress() const { return now; }

  const TextDataset &text() const { return dataset; }
  /// Host and io lanes may both have something to tell.
  RunObserver &observer() { return *watcher; }

private:
  Coordinator(TextDataset dataset, std::uint64_t samplesOfStep, RunObserver &observer);

  TextDataset dataset;
  std::uint64_t samplesOfStep;
  std::unique_ptr<RunObserver> watcher;
  RunProgress now;
};

} // namespace vime
