// DualPipeV: DualPipe cut in half. A rank holds two stages, one on the way down and one on the way
// back up; in the steady part the forward of one runs as a pair with the backward of the other, so
// that either's transfers hide behind the other's computation. Backwards are whole while there is
// a forward to pair them with and cut in two where the pipeline fills and drains.
// Source: DeepSeek-AI 2025, DualPipe; Li et al. 2025 (cut in half). As PyTorch has it.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"
#include "schedules/RowBuilder.h"

#include <queue>

namespace vime {

namespace {

constexpr int kDown = 0, kUp = 1;

std::optional<Refusal> refuses(ScheduleShape shape) {
  if (shape.microbatches >= shape.stages())
    return std::nullopt;
  return Refusal{"microbatches", "cannot run " + std::to_string(shape.microbatches) +
                                     " microbatches on " + std::to_string(shape.stages()) +
                                     " stages: it needs at least one for each stage"};
}

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

std::vector<Task> rowOf(int rank, int ranks, int microbatches, std::vector<int> stages) {
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
    if (turn == 0 && behind == 0) { // the turn of the V has nothing to pair yet
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

Schedule build(ScheduleShape shape) {
  Schedule order{veePlacement(shape), {}};
  for (int rank = 0; rank < shape.ranks; ++rank)
    order.rows.push_back(
        rowOf(rank, shape.ranks, shape.microbatches, stagesOf(order.placement, rank)));
  return order;
}

} // namespace

const Order orders::dualPipeV{
    .name = "dualpipe-v",
    .summary = "two stages per rank, forwards of one paired with backwards of the other",
    .placement = "vee",
    .chunks = {.least = 2, .most = 2, .usual = 2},
    .build = build,
    .refusal = refuses,
    .needs = "2 chunks, m >= 2p",
    .bubble = "(p-1)F/2 if F = I = W and the parts of a pair run one behind the other",
    .peak = "p + 1/2 microbatches",
    .source = "DeepSeek-AI 2025"};

} // namespace vime
