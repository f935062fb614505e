// Interleaved 1F1B: a rank holds several stages, `ranks` apart, and takes one round of microbatches
// through each of them in turn, so the pipeline fills and drains in 1/chunks of the time.
// Source: Narayanan et al. 2021; rounds and idle slots as PyTorch draws them.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"
#include "schedules/RowBuilder.h"

#include <algorithm>

namespace vime {

namespace {

// Microbatches run in this many rounds, all of one size.
int roundsOf(ScheduleShape shape) { return std::max(1, shape.microbatches / shape.ranks); }

// A remainder would leave one round short: its steady part would miss microbatches.
std::optional<Refusal> refuses(ScheduleShape shape) {
  const int rounds = roundsOf(shape);
  if (shape.microbatches % rounds == 0)
    return std::nullopt;
  return Refusal{"microbatches", "cannot run " + std::to_string(shape.microbatches) +
                                     " microbatches on " + std::to_string(shape.ranks) +
                                     " ranks: they make " + std::to_string(rounds) +
                                     " rounds, which would not be of one size"};
}

// The k-th forward of a rank belongs to chunk (k / round) mod chunks; its backwards go through the
// chunks the other way.
class InterleavedRow {
public:
  InterleavedRow(RowBuilder row, int chunks, int round)
      : row(std::move(row)), chunks(chunks), round(round) {}

  void idle(int count) { row.idle(count); }
  void forward() { row.at(forwards++ / round % chunks).forward(); }
  void backward() { row.at(chunks - 1 - backwards++ / round % chunks).backward(); }
  std::vector<Task> take() { return row.take(); }

private:
  RowBuilder row;
  int chunks;
  int round; // microbatches in a row on one chunk
  int forwards = 0;
  int backwards = 0;
};

// Idle slots between warm-up and steady part: the first backward comes back `turn` slots after the
// last stage has had its turn. They belong to the warm-up; a rank that has none (the last one, with
// one chunk) starts steady at once.
int slotsToWait(ScheduleShape shape, int rank, int turn, int ahead) {
  return ahead == 0 ? 0 : std::max(0, shape.stages() + turn - (ahead + rank));
}

Schedule build(ScheduleShape shape) {
  Schedule order{loopPlacement(shape), {}};
  const int total = shape.chunks * shape.microbatches; // forwards of one rank, and backwards
  const int round = shape.microbatches / roundsOf(shape);
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const int turn = 2 * (shape.ranks - 1 - rank); // slots from this rank to the last and back
    const int ahead = std::min((shape.chunks - 1) * round + turn, total);
    const int wait = slotsToWait(shape, rank, turn, ahead);
    const auto slots = static_cast<std::size_t>(rank + wait + 2 * total + ahead);
    InterleavedRow row(RowBuilder(stagesOf(order.placement, rank), slots), shape.chunks, round);
    row.idle(rank);
    for (int warmUp = 0; warmUp < ahead; ++warmUp)
      row.forward();
    row.idle(wait);
    for (int steady = ahead; steady < total; ++steady) {
      row.forward();
      row.backward();
    }
    for (int coolDown = 0; coolDown < ahead; ++coolDown) {
      row.idle(1); // where the steady part had its forward
      row.backward();
    }
    order.rows.push_back(row.take());
  }
  return order;
}

} // namespace

const Order orders::interleaved{
    .name = "interleaved",
    .summary = "1f1b over several stages per rank: a shorter bubble for more transfers",
    .placement = "loop",
    .chunks = {.least = 1, .most = kMaxChunks, .usual = 2},
    .build = build,
    .refusal = refuses,
    .needs = "microbatches a multiple of max(1, microbatches div ranks)",
    .bubble = "(p-1)(F+B)/v if p divides m",
    .peak = "(2(p-1) + (v-1)n + 1)/v microbatches, n per round",
    .source = "Narayanan et al. 2021"};

} // namespace vime
