// The row in eight stretches, as DeepSeek's own loop has it: 2024, DualPipe; 2025, DualPipeV.
#include "schedules/DualPipeRow.h"
#include "schedules/RowBuilder.h"

#include <queue>
#include <utility>

namespace vime {

namespace {

constexpr int kDown = 0, kUp = 1;

class DualRow {
public:
  DualRow(std::vector<int> stages, std::size_t slots) : row(std::move(stages), slots) {}

  void forward(int chunk) { row.at(chunk).forward(); }
  void backward(int chunk) { row.at(chunk).backward(); }
  void pair(int forward, int backward) {
    row.at(forward).forward().at(backward).backward().paired();
  }
  void input(int chunk) {
    row.at(chunk).backwardInput();
    owed.push(chunk);
  }
  void weight() { // of the oldest input gradient that has none
    row.at(owed.front()).backwardWeight();
    owed.pop();
  }
  std::vector<Task> take() { return row.take(); }

private:
  RowBuilder row;
  std::queue<int> owed; // chunks
};

} // namespace

std::vector<Task> dualPipeRow(int rank, int ranks, int microbatches, std::vector<int> stages) {
  const int behind = ranks - 1 - rank;
  DualRow row(std::move(stages), static_cast<std::size_t>(6 * microbatches));
  for (int turn = 0; turn < 2 * behind; ++turn)
    row.forward(kDown);
  for (int turn = 0; turn <= rank; ++turn) {
    row.forward(kDown);
    row.forward(kUp);
  }
  for (int turn = 0; turn < behind; ++turn) {
    row.input(kUp);
    row.weight();
    row.forward(kUp);
  }
  for (int turn = 0; turn < microbatches - ranks - behind; ++turn) {
    if (turn == 0 && behind == 0) { // the turn has nothing to pair yet
      row.forward(kDown);
      row.backward(kUp);
    } else {
      row.pair(kDown, kUp);
    }
    row.pair(kUp, kDown);
  }
  for (int turn = 0; turn < behind; ++turn) {
    row.backward(kUp);
    row.pair(kUp, kDown);
  }
  for (int part = 0; part < 2 * (rank + 1); ++part) { // the first half whole, then cut in two
    const int chunk = part % 2 == 0 ? kUp : kDown;
    if (part <= rank)
      row.backward(chunk);
    else
      row.input(chunk);
  }
  for (int turn = 0; turn < behind; ++turn) {
    row.weight();
    row.input(kDown);
  }
  for (int turn = 0; turn <= rank; ++turn)
    row.weight();
  return row.take();
}

} // namespace vime
