// RowBuilder: writes one rank's row, counting the microbatches of each chunk and kind by itself.
//
//   RowBuilder row({2, 6}, /*slots=*/16); // a rank with stages 2 and 6
//   row.idle(2).forward(3);               // . . 2F0 2F1 2F2
//   row.at(1).forward().backward();       // 6F0 6B0
//   row.at(0).forward().at(1).backward().paired();  // 2F3 and 6B1, overlapped
//
// Nearly every order runs the microbatches of one stage and kind in ascending order, so an order
// says only *what comes next*, never a microbatch number. A whole backward is the next of both its
// halves.
#pragma once

#include "schedules/Schedule.h"

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
  RowBuilder &forward(int count = 1) {
    return run(TaskKind::Forward, next[current].forward, count);
  }
  RowBuilder &backward(int count = 1) {
    next[current].weight += count;
    return run(TaskKind::Backward, next[current].input, count);
  }
  RowBuilder &backwardInput(int count = 1) {
    return run(TaskKind::BackwardInput, next[current].input, count);
  }
  RowBuilder &backwardWeight(int count = 1) {
    return run(TaskKind::BackwardWeight, next[current].weight, count);
  }

  /// Free slots; a count of zero or less adds none.
  RowBuilder &idle(int count = 1) {
    for (int slot = 0; slot < count; ++slot)
      row.push_back({TaskKind::Idle, -1, -1});
    return *this;
  }

  /// Joins the last two tasks, a forward and a backward.
  RowBuilder &paired() {
    row[row.size() - 2].overlapsNext = true;
    return *this;
  }

  std::vector<Task> take() { return std::move(row); }

private:
  // Per chunk: the microbatch that comes next.
  struct Next {
    int forward = 0, input = 0, weight = 0;
  };

  RowBuilder &run(TaskKind kind, int &microbatch, int count) {
    for (const int end = microbatch + count; microbatch < end; ++microbatch)
      row.push_back({kind, stages[current], microbatch});
    return *this;
  }

  std::vector<int> stages;
  std::vector<Next> next;
  std::size_t current = 0;
  std::vector<Task> row;
};

} // namespace vime
