// 1F1B-V: two stages per rank, down the ranks and back, with whole backwards. The tasks of a
// microbatch stand in slots that repeat every six without meeting those of another, and so that few
// microbatches are alive on a rank at once; then every task moves as far forward as it may without
// more of them. Keeps two thirds of what 1F1B keeps alive.
// Source: Qi et al. 2024, Pipeline Parallelism with Controllable Memory; tie-breaks as in its
// authors' scheduler.
#include "schedules/Orders/Orders.h"
#include "schedules/Search/WholeSlots.h"

namespace vime {

namespace {

WholeBlock blockOf(int ranks) {
  WholeBlock block;
  for (auto *slots : {&block.forward[0], &block.forward[1], &block.backward[0], &block.backward[1]})
    slots->resize(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    block.forward[0][rank] = rank;
    block.forward[1][rank] = 2 * ranks - 1 - rank;
  }
  int slot = 2 * ranks + (ranks % 3 == 0 ? 3 : 0);
  int inPhase = (3 - (ranks + 2) % 3) % 3; // every third backward waits for half a period
  const auto place = [&](int &at) {
    at = slot;
    inPhase = (inPhase + 1) % 3;
    slot += 2 + (inPhase == 0 ? 3 : 0);
  };
  for (int rank = 0; rank < ranks; ++rank)
    place(block.backward[1][rank]);
  for (int rank = ranks; rank-- > 0;)
    place(block.backward[0][rank]);
  return block;
}

Schedule build(ScheduleShape shape) { return pulledForward(blockOf(shape.ranks), shape); }

} // namespace

const Order orders::oneFOneBV{
    .name = "1f1b-v",
    .summary = "two stages per rank, down the ranks and back, with two thirds of 1f1b's memory",
    .placement = "vee",
    .chunks = {.least = 2, .most = 2, .usual = 2},
    .build = build,
    .needs = "2 chunks",
    .bubble = "5/6 (p-1)(F+B) if p mod 3 = 1, m >= p, B = 2F; else a little less",
    .peak = "min((2p+3) div 3, m) microbatches",
    .source = "Qi et al. 2024"};

} // namespace vime
