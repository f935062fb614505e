// DualPipe: two copies of the model, one up the ranks and one down, so that work enters at both
// ends; every steady task is a pair of a forward one way and a backward the other, which may run
// together. Each copy meets the other in the middle, as the two ways of DualPipeV meet at its turn.
// Source: DeepSeek-AI 2024, DeepSeek-V3 Technical Report.
#include "schedules/DualPipeRow.h"
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"

#include <algorithm>

namespace vime {

namespace {

std::optional<Refusal> refuses(ScheduleShape shape) {
  const std::string numbers = "cannot run " + std::to_string(shape.microbatches) +
                              " microbatches on " + std::to_string(shape.ranks) + " ranks: ";
  if (shape.ranks % 2 != 0)
    return Refusal{"ranks", "needs an even number of ranks, not " + std::to_string(shape.ranks)};
  if (shape.microbatches % 2 != 0)
    return Refusal{"microbatches", numbers + "half of them go each way"};
  if (shape.microbatches < 2 * shape.ranks)
    return Refusal{"microbatches", numbers + "it needs two for each rank"};
  return std::nullopt;
}

Schedule build(ScheduleShape shape) {
  Schedule order{bothWaysPlacement(shape), {}, /*copies=*/2};
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const int fromEnd = shape.ranks - 1 - rank;
    const int up = rank, down = shape.ranks + fromEnd; // its stages
    const bool isFirstHalf = rank < fromEnd;
    order.rows.push_back(dualPipeRow(std::min(rank, fromEnd), shape.ranks / 2,
                                     shape.microbatches / 2,
                                     isFirstHalf ? std::vector{up, down} : std::vector{down, up}));
  }
  dealToCopies(order);
  return order;
}

} // namespace

const Order orders::dualPipe{
    .name = "dualpipe",
    .summary = "two copies of the model, up and down the ranks, forwards paired with backwards",
    .placement = "both ways",
    .chunks = {.least = 1, .most = 1, .usual = 1},
    .build = build,
    .refusal = refuses,
    .needs = "1 chunk, p even, m even and at least 2p",
    .bubble = "(p/2-1)(F+I-W)",
    .peak = "p+1 microbatches",
    .source = "DeepSeek-AI 2024"};

} // namespace vime
