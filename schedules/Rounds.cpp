#include "schedules/Rounds.h"

#include <algorithm>

namespace vime {

namespace {

int roundsOf(ScheduleShape shape) { return std::max(1, shape.microbatches / shape.ranks); }

} // namespace

std::vector<int> chunksInTurn(ScheduleShape shape, int group) {
  std::vector<int> turns;
  turns.reserve(static_cast<std::size_t>(shape.microbatches) *
                static_cast<std::size_t>(shape.chunks));
  for (int first = 0; first < shape.microbatches; first += group)
    for (int chunk = 0; chunk < shape.chunks; ++chunk)
      turns.insert(turns.end(),
                   static_cast<std::size_t>(std::min(group, shape.microbatches - first)), chunk);
  return turns;
}

int sizeOfRound(ScheduleShape shape) { return shape.microbatches / roundsOf(shape); }

std::optional<Refusal> refuseUnevenRounds(ScheduleShape shape) {
  const int rounds = roundsOf(shape);
  if (shape.microbatches % rounds == 0)
    return std::nullopt;
  return Refusal{"microbatches", "cannot run " + std::to_string(shape.microbatches) +
                                     " microbatches on " + std::to_string(shape.ranks) +
                                     " ranks: they make " + std::to_string(rounds) +
                                     " rounds, which would not be of one size"};
}

} // namespace vime
