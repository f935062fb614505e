// Hanayo: waves. The stages go down the ranks and back, once for each wave, so that a microbatch
// turns on a rank instead of crossing all of them again. Every rank takes what it has first,
// backwards before forwards and old microbatches before new ones, and holds a place for each stage
// that a microbatch still has to pass here.
// Source: Liu et al. 2023, Hanayo: Harnessing Wave-like Pipeline Parallelism, as list scheduling
// with backwards twice as long as forwards.
#include "schedules/Orders/Orders.h"
#include "schedules/Placement.h"

#include <algorithm>

namespace vime {

namespace {

constexpr int kForward = 1, kBackward = 2; // slots

int memoryOf(ScheduleShape shape) { return shape.memory ? shape.memory : shape.stages(); }

std::optional<Refusal> refuses(ScheduleShape shape) {
  if (shape.chunks % 2 != 0)
    return Refusal{"chunks", "cannot run " + std::to_string(shape.chunks) +
                                 " chunks per rank: a wave has two"};
  if (memoryOf(shape) < shape.chunks)
    return Refusal{"memory", "cannot keep " + std::to_string(shape.memory) +
                                 " activations: a microbatch alone has " +
                                 std::to_string(shape.chunks) + " on a rank"};
  return std::nullopt;
}

class Waves {
public:
  explicit Waves(ScheduleShape shape)
      : shape(shape), order{veePlacement(shape), std::vector<std::vector<Task>>(shape.ranks)},
        forwards{std::vector<std::vector<int>>(shape.stages())}, backwards(forwards),
        freeAt(shape.ranks), alive(shape.ranks) {
    for (int rank = 0; rank < shape.ranks; ++rank)
      stages.push_back(stagesOf(order.placement, rank));
  }

  Schedule run() {
    int left = 2 * shape.stages() * shape.microbatches;
    for (int slot = 0; left > 0; ++slot)
      for (int rank = 0; rank < shape.ranks; ++rank)
        if (freeAt[rank] <= slot)
          left -= runOne(rank, slot);
    return std::move(order);
  }

private:
  // Of one kind, per stage: the slot behind each microbatch that has run.
  struct Done {
    std::vector<std::vector<int>> ends;
    int count(int stage) const { return static_cast<int>(ends[stage].size()); }
    bool has(int stage, int microbatch, int slot) const {
      return microbatch < count(stage) && ends[stage][microbatch] <= slot;
    }
  };

  bool runOne(int rank, int slot) {
    int backward = -1, forward = -1; // stages
    for (const int stage : stages[rank]) {
      if (canRunBackward(stage, slot) &&
          (backward < 0 || backwards.count(stage) <= backwards.count(backward)))
        backward = stage;
      if (canRunForward(stage, slot, rank))
        forward = stage;
    }
    if (backward < 0 && forward < 0)
      return false;
    const bool isForward = backward < 0;
    const int stage = isForward ? forward : backward;
    Done &done = isForward ? forwards : backwards;
    order.rows[rank].push_back(
        {isForward ? TaskKind::Forward : TaskKind::Backward, stage, done.count(stage)});
    freeAt[rank] = slot + (isForward ? kForward : kBackward);
    alive[rank] += isForward ? 1 : -1;
    done.ends[stage].push_back(freeAt[rank]);
    return true;
  }

  bool canRunBackward(int stage, int slot) const {
    const int microbatch = backwards.count(stage);
    return forwards.has(stage, microbatch, slot) &&
           (stage + 1 == shape.stages() || backwards.has(stage + 1, microbatch, slot));
  }

  // Stages that are still to come on this rank must find a place, or nothing could ever leave.
  bool canRunForward(int stage, int slot, int rank) const {
    const int microbatch = forwards.count(stage);
    const int toCome = shape.chunks - 1 - stage / shape.ranks;
    return microbatch < shape.microbatches && alive[rank] < memoryOf(shape) - toCome &&
           (stage == 0 || forwards.has(stage - 1, microbatch, slot));
  }

  const ScheduleShape shape;
  Schedule order;
  Done forwards, backwards;
  std::vector<int> freeAt, alive;       // per rank
  std::vector<std::vector<int>> stages; // per rank
};

Schedule build(ScheduleShape shape) { return Waves(shape).run(); }

} // namespace

const Order orders::hanayo{
    .name = "hanayo",
    .summary = "waves: stages down the ranks and back, several times, nothing stored twice",
    .placement = "wave",
    .chunks = {.least = 2, .most = kMaxChunks, .usual = 2},
    .build = build,
    .refusal = refuses,
    .takes = {.memory = true},
    .needs = "an even number of chunks, two to a wave",
    .bubble = "2/3 (p-1)(F+B) if m = p, one wave, B = 2F",
    .peak = "min(p, m) microbatches, or the memory given",
    .source = "Liu et al. 2023"};

} // namespace vime
