// Lower bounds, each rank by itself; see Bounds.h for what each of them says.
#include "schedules/Bounds.h"
#include "schedules/UnitTime.h"

#include <algorithm>
#include <limits>
#include <map>

namespace vime {

namespace {

constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

void raise(Bound &bound, std::int64_t least, std::string_view label) {
  if (least > bound.least)
    bound = {least, label};
}

// The stages that a rank has of one copy, and the paths of a microbatch between them.
struct Part {
  std::int64_t head;   // first start of a forward on the lowest stage
  std::int64_t turn;   // from there to the start of a gradient on the highest one
  std::int64_t drain;  // from the end of a forward on the highest stage to the last weight gradient
  std::int64_t finish; // and to that of the first stage, wherever it is
  std::int64_t little; // time that a microbatch's activations live, summed over the stages
  std::int64_t stages;
};

class BoundsOfShape {
public:
  explicit BoundsOfShape(const BoundedShape &shape)
      : shape(shape), costs(shape.costs),
        depth(static_cast<int>(shape.placement.size()) / shape.copies),
        backward(costs.backwardInput + costs.backwardWeight) {}

  Bounds run() {
    for (int copy = 0; copy < shape.copies; ++copy) {
      measurePaths(copy);
      for (int rank = 0; rank < shape.ranks; ++rank)
        addPart(copy, rank);
    }
    for (const auto &[rank, parts] : partsOf)
      boundRank(parts);
    for (int copy = 0; copy < shape.copies; ++copy) {
      measurePaths(copy);
      drainOfLastStage(copy);
    }
    bounds.link = busiestLink();
    return bounds;
  }

private:
  std::size_t index(int copy, int stage) const {
    return static_cast<std::size_t>(copy * depth + stage);
  }
  int rankOf(int copy, int stage) const { return shape.placement[index(copy, stage)]; }
  int hop(int copy, int stage) const {
    return rankOf(copy, stage) == rankOf(copy, stage + 1) ? 0 : costs.transfer;
  }

  // Of the first microbatch, if nothing else is on the ranks.
  void measurePaths(int copy) {
    down.assign(static_cast<std::size_t>(depth), 0);
    up.assign(static_cast<std::size_t>(depth), 0);
    for (int stage = 0; stage + 1 < depth; ++stage)
      down[static_cast<std::size_t>(stage) + 1] =
          down[static_cast<std::size_t>(stage)] + costs.forward + hop(copy, stage);
    up.back() = down.back() + costs.forward;
    for (int stage = depth - 2; stage >= 0; --stage)
      up[static_cast<std::size_t>(stage)] =
          up[static_cast<std::size_t>(stage) + 1] + costs.backwardInput + hop(copy, stage);
  }

  void addPart(int copy, int rank) {
    std::vector<std::size_t> stages;
    for (int stage = 0; stage < depth; ++stage)
      if (rankOf(copy, stage) == rank)
        stages.push_back(static_cast<std::size_t>(stage));
    if (stages.empty())
      return;
    const std::size_t low = stages.front(), high = stages.back();
    Part part{down[low],
              up[high] - down[low],
              up[low] - down[high] - costs.forward + backward,
              up.front() - down[high] - costs.forward + backward,
              0,
              static_cast<std::int64_t>(stages.size())};
    for (const std::size_t stage : stages)
      part.little += up[stage] - down[stage] + backward;
    partsOf[rank].push_back(part);
  }

  // What of `amount` activations a rank can have at one time.
  std::int64_t held(std::int64_t amount) const {
    return shape.memory == 0 ? amount : std::min<std::int64_t>(amount, shape.memory);
  }

  void boundRank(const std::vector<Part> &parts) {
    std::int64_t head = kUnbounded, turn = kUnbounded, drain = kUnbounded, finish = kUnbounded;
    std::int64_t forwards = 0, little = 0;
    for (const Part &part : parts) {
      head = std::min(head, part.head);
      turn = std::min(turn, part.turn);
      drain = std::min(drain, part.drain);
      finish = std::min(finish, part.finish);
      forwards += part.stages * microbatchesOfCopy();
      little += part.little * microbatchesOfCopy();
    }
    const std::int64_t alive = held(forwards), busy = forwards * (costs.forward + backward);
    const std::int64_t before = std::max<std::int64_t>(0, turn - alive * costs.forward);
    // Both waits add up where memory makes the first backward come before the last forward.
    const auto waits = [&](std::int64_t way) {
      const std::int64_t behind = std::max<std::int64_t>(0, way - alive * backward);
      return alive < forwards ? before + behind : std::max(before, behind);
    };
    const std::int64_t living = alive == 0 ? 0 : (little + alive - 1) / alive;
    for (const auto &[least, label] : {std::pair<std::int64_t, std::string_view>(busy, "L1"),
                                       {busy + before, "L2"},
                                       {living, "L3"}}) {
      raise(bounds.span, least, label);
      raise(bounds.makespan, head + least, label);
    }
    raise(bounds.span, busy + waits(drain), "L4");
    raise(bounds.makespan, head + busy + waits(finish), "L4");
    // The first stage's rank begins before this one and ends behind what comes back from it.
    if (shape.copies == 1)
      raise(bounds.span, head + busy + (alive < forwards ? before : 0) + finish - alive * backward,
            "L4");
  }

  // Before the last gradient of the last stage its rank has run all of the copy's forwards, all
  // gradients of that stage, and all that those forwards had to make room for. The rank of the
  // first stage began before and has to wait for what comes back.
  void drainOfLastStage(int copy) {
    const Part &part = partsOf[rankOf(copy, depth - 1)].back();
    const std::int64_t forwards = part.stages * microbatchesOfCopy();
    const std::int64_t gone = forwards - held(forwards);
    const std::int64_t least = part.head + forwards * costs.forward +
                               std::max(microbatchesOfCopy(), gone + 1) * costs.backwardInput +
                               gone * costs.backwardWeight + up.front() - up.back() +
                               costs.backwardWeight;
    raise(bounds.makespan, least, "L4");
    raise(bounds.span, least, "L4");
  }

  std::int64_t busiestLink() const {
    std::map<std::pair<int, int>, std::int64_t> messages;
    for (int copy = 0; copy < shape.copies; ++copy)
      for (int stage = 0; stage + 1 < depth; ++stage)
        if (const int from = rankOf(copy, stage), to = rankOf(copy, stage + 1); from != to) {
          messages[{from, to}] += microbatchesOfCopy();
          messages[{to, from}] += microbatchesOfCopy(); // gradients
        }
    std::int64_t most = 0;
    for (const auto &[link, count] : messages)
      most = std::max(most, count * costs.transfer);
    return most;
  }

  std::int64_t microbatchesOfCopy() const { return shape.microbatches; }

  const BoundedShape &shape;
  const UnitCosts costs;
  const int depth; // stages of a copy
  const std::int64_t backward;
  std::vector<std::int64_t> down, up;       // of the copy at hand: start of forwards, of gradients
  std::map<int, std::vector<Part>> partsOf; // by rank
  Bounds bounds;
};

} // namespace

Bounds boundsOf(const BoundedShape &shape) { return BoundsOfShape(shape).run(); }

BoundedShape boundedShapeOf(const Schedule &order, UnitCosts costs) {
  const UnitTimes times = simulate(order, costs);
  int forwards = 0;
  for (const std::vector<Task> &row : order.rows)
    for (const Task &task : row)
      forwards += task.kind == TaskKind::Forward;
  return {.placement = order.placement,
          .ranks = static_cast<int>(order.rows.size()),
          .microbatches = forwards / static_cast<int>(order.placement.size()),
          .memory = *std::max_element(times.peakLive.begin(), times.peakLive.end()),
          .copies = order.copies,
          .costs = costs};
}

} // namespace vime
