// Coordinator: what rank 0 has besides its program: the text, the count of steps, and an observer.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/Base/Status.h"
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

  std::uint64_t nextStep() { return step++; }
  const TextDataset &text() const { return dataset; }
  RunObserver &observer() { return *watcher; }

private:
  Coordinator(TextDataset dataset, RunObserver &observer)
      : dataset(std::move(dataset)), watcher(&observer) {}

  TextDataset dataset;
  RunObserver *watcher;
  std::uint64_t step = 0;
};

} // namespace vime
