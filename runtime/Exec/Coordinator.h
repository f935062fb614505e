// Coordinator: what rank 0 has besides its program: the count of steps, and an observer. And the
// text of the job, which the first rank of each replica reads.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Data/TextDataset.h"
#include "runtime/Exec/RunObserver.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// Opens the text and compares it with what the plan was made for; a step of it is that of all
/// replicas. A missing one is a File error that says how to name its folder.
StatusOr<TextDataset> openText(const plan::Plan &plan, const std::string &base);

class Coordinator {
public:
  explicit Coordinator(RunObserver &observer) : watcher(&observer) {}

  std::uint64_t nextStep() { return step++; }
  RunObserver &observer() { return *watcher; }

private:
  RunObserver *watcher;
  std::uint64_t step = 0;
};

} // namespace vime
