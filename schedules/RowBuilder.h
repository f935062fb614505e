// RowBuilder: writes one rank's row, counting the microbatches of each chunk and kind by itself.
//
//   RowBuilder row({2, 6}, /*slots=*/16); // a rank with stages 2 and 6
//   row.idle(2).forward(3);               // . . 2F0 2F1 2F2
//   row.at(1).forward().backward();       // 6F0 6B0
//
// Every order here runs the microbatches of one stage and kind in ascending order, so an order says
// only *what comes next*, never a microbatch number.
#pragma once

#include "schedules/Schedule.h"

#include <array>
#include <cstddef>
#include <utility>

namespace vime {

class RowBuilder {
public:
  RowBuilder(std::vector<int> stages, std::size_t slots)
      : stages(std::move(stages)), next(this->stages.size()) {
    row.reserve(slots);
  }

  /// Chooses the chunk that the following calls write; chunk 0 at first.
  RowBuilder &at(int chunk) {
    current = static_cast<std::size_t>(chunk);
    return *this;
  }

  /// The next `count` microbatches of the chosen chunk.
  RowBuilder &forward(int count = 1) { return run(TaskKind::Forward, count); }
  RowBuilder &backward(int count = 1) { return run(TaskKind::Backward, count); }
  RowBuilder &backwardInput(int count = 1) { return run(TaskKind::BackwardInput, count); }
  RowBuilder &backwardWeight(int count = 1) { return run(TaskKind::BackwardWeight, count); }

  /// Free slots; a count of zero or less adds none.
  RowBuilder &idle(int count = 1) {
    for (int slot = 0; slot < count; ++slot)
      row.push_back({TaskKind::Idle, -1, -1});
    return *this;
  }

  std::vector<Task> take() { return std::move(row); }

private:
  RowBuilder &run(TaskKind kind, int count) {
    int &microbatch = next[current][static_cast<std::size_t>(kind)];
    for (const int end = microbatch + count; microbatch < end; ++microbatch)
      row.push_back({kind, stages[current], microbatch});
    return *this;
  }

  std::vector<int> stages;
  std::vector<std::array<int, 4>> next; // per chunk and kind: the microbatch that comes next
  std::size_t current = 0;
  std::vector<Task> row;
};

} // namespace vime
