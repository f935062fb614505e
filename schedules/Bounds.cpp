// Lower bounds, each rank by itself; see Bounds.h for what each of them says.
#include "schedules/Bounds.h"
#include "schedules/UnitTime.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

namespace vime {

namespace {

constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

constexpr std::array<std::string_view, 4> kLabels = {"L1", "L2", "L3", "L4"};
enum Law : std::uint8_t { Start, WarmUp, Little, Drain };

// `count` of each of some costs: what the cheapest or the dearest ones of them take together.
class Costs {
public:
  void add(std::int64_t cost, std::int64_t count) { parts.emplace_back(cost, count); }
  std::int64_t dearest(std::int64_t count) {
    std::sort(parts.begin(), parts.end(), std::greater<>());
    return first(count);
  }
  std::int64_t cheapest(std::int64_t count) {
    std::sort(parts.begin(), parts.end());
    return first(count);
  }

private:
  std::int64_t first(std::int64_t count) const {
    std::int64_t sum = 0;
    for (const auto &[cost, there] : parts) {
      const std::int64_t taken = std::min(count, there);
      sum += cost * taken;
      count -= taken;
    }
    return sum;
  }

  std::vector<std::pair<std::int64_t, std::int64_t>> parts;
};

// The stages that a rank has of one copy, and the paths of a microbatch between them.
struct Part {
  std::int64_t head;   // first start of a forward on the lowest stage
  std::int64_t turn;   // from there to the start of a gradient on the highest one
  std::int64_t drain;  // from the end of a forward on the highest stage to the last weight gradient
  std::int64_t finish; // and to that of the first stage, wherever it is
  std::int64_t little; // time that a microbatch's activations live, summed over the stages
  std::vector<std::size_t> stages; // of all copies
};

class BoundsOfShape {
public:
  BoundsOfShape(const BoundedShape &shape, const TaskCosts &costs)
      : shape(shape), costs(costs), depth(static_cast<int>(shape.placement.size()) / shape.copies) {
  }

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
  const StageCosts &costsOf(int copy, int stage) const { return costs.stages[index(copy, stage)]; }
  std::int64_t hop(int copy, int stage) const {
    return rankOf(copy, stage) == rankOf(copy, stage + 1) ? 0 : costs.transfer;
  }
  static std::int64_t backwardOf(const StageCosts &stage) {
    return stage.backwardInput + stage.backwardWeight;
  }

  void raiseMakespan(std::int64_t least, Law law) {
    raise(bounds.makespan, bounds.makespans[law], least, law);
  }
  void raiseSpan(std::int64_t least, Law law) { raise(bounds.span, bounds.spans[law], least, law); }
  static void raise(Bound &bound, std::int64_t &ofLaw, std::int64_t least, Law law) {
    ofLaw = std::max(ofLaw, least);
    if (least > bound.least)
      bound = {least, kLabels[law]};
  }

  // Of the first microbatch, if nothing else is on the ranks.
  void measurePaths(int copy) {
    down.assign(static_cast<std::size_t>(depth), 0);
    up.assign(static_cast<std::size_t>(depth), 0);
    for (int stage = 0; stage + 1 < depth; ++stage)
      down[static_cast<std::size_t>(stage) + 1] =
          down[static_cast<std::size_t>(stage)] + costsOf(copy, stage).forward + hop(copy, stage);
    up.back() = down.back() + costsOf(copy, depth - 1).forward;
    for (int stage = depth - 2; stage >= 0; --stage)
      up[static_cast<std::size_t>(stage)] = up[static_cast<std::size_t>(stage) + 1] +
                                            costsOf(copy, stage + 1).backwardInput +
                                            hop(copy, stage);
  }

  void addPart(int copy, int rank) {
    std::vector<std::size_t> stages;
    for (int stage = 0; stage < depth; ++stage)
      if (rankOf(copy, stage) == rank)
        stages.push_back(static_cast<std::size_t>(stage));
    if (stages.empty())
      return;
    const std::size_t low = stages.front(), high = stages.back();
    const auto ofStage = [&](std::size_t stage) { return costsOf(copy, static_cast<int>(stage)); };
    const std::int64_t behind = down[high] + ofStage(high).forward;
    Part part{down[low],
              up[high] - down[low],
              up[low] - behind + backwardOf(ofStage(low)),
              up.front() - behind + backwardOf(ofStage(0)),
              0,
              {}};
    for (const std::size_t stage : stages) {
      part.little += up[stage] - down[stage] + backwardOf(ofStage(stage));
      part.stages.push_back(index(copy, static_cast<int>(stage)));
    }
    partsOf[rank].push_back(part);
  }

  // What of `amount` activations a rank can have at one time.
  std::int64_t held(std::int64_t amount) const {
    return shape.memory == 0 ? amount : std::min<std::int64_t>(amount, shape.memory);
  }

  void boundRank(const std::vector<Part> &parts) {
    std::int64_t head = kUnbounded, turn = kUnbounded, drain = kUnbounded, finish = kUnbounded;
    std::int64_t forwards = 0, little = 0, busy = 0;
    Costs ofForwards, ofBackwards;
    for (const Part &part : parts) {
      head = std::min(head, part.head);
      turn = std::min(turn, part.turn);
      drain = std::min(drain, part.drain);
      finish = std::min(finish, part.finish);
      little += part.little * microbatchesOfCopy();
      for (const std::size_t stage : part.stages) {
        const StageCosts &each = costs.stages[stage];
        forwards += microbatchesOfCopy();
        busy += microbatchesOfCopy() * (each.forward + backwardOf(each));
        ofForwards.add(each.forward, microbatchesOfCopy());
        ofBackwards.add(backwardOf(each), microbatchesOfCopy());
      }
    }
    const std::int64_t alive = held(forwards), filling = ofForwards.dearest(alive),
                       emptying = ofBackwards.dearest(alive);
    const std::int64_t before = std::max<std::int64_t>(0, turn - filling);
    // Both waits add up where memory makes the first backward come before the last forward.
    const auto waits = [&](std::int64_t way) {
      const std::int64_t behind = std::max<std::int64_t>(0, way - emptying);
      return alive < forwards ? before + behind : std::max(before, behind);
    };
    const std::int64_t living = alive == 0 ? 0 : (little + alive - 1) / alive;
    for (const auto &[least, law] :
         {std::pair(busy, Start), {busy + before, WarmUp}, {living, Little}}) {
      raiseSpan(least, law);
      raiseMakespan(head + least, law);
    }
    raiseSpan(busy + waits(drain), Drain);
    raiseMakespan(head + busy + waits(finish), Drain);
    // The first stage's rank begins before this one and ends behind what comes back from it.
    if (shape.copies == 1)
      raiseSpan(head + busy + (alive < forwards ? before : 0) + finish - emptying, Drain);
  }

  // Before the last gradient of the last stage its rank has run all of the copy's forwards, all
  // gradients of that stage, and all that those forwards had to make room for. The rank of the
  // first stage began before and has to wait for what comes back.
  void drainOfLastStage(int copy) {
    const Part &part = partsOf[rankOf(copy, depth - 1)].back();
    Costs inputs, weights;
    std::int64_t forwards = 0, filling = 0;
    for (const std::size_t stage : part.stages) {
      forwards += microbatchesOfCopy();
      filling += microbatchesOfCopy() * costs.stages[stage].forward;
      inputs.add(costs.stages[stage].backwardInput, microbatchesOfCopy());
      weights.add(costs.stages[stage].backwardWeight, microbatchesOfCopy());
    }
    const std::int64_t gone = forwards - held(forwards);
    const StageCosts &first = costsOf(copy, 0), &last = costsOf(copy, depth - 1);
    const std::int64_t least =
        part.head + filling +
        std::max(microbatchesOfCopy() * last.backwardInput, inputs.cheapest(gone + 1)) +
        weights.cheapest(gone) + up.front() - up.back() - last.backwardInput + backwardOf(first);
    raiseMakespan(least, Drain);
    raiseSpan(least, Drain);
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
  const TaskCosts &costs;
  const int depth;                          // stages of a copy
  std::vector<std::int64_t> down, up;       // of the copy at hand: start of forwards, of gradients
  std::map<int, std::vector<Part>> partsOf; // by rank
  Bounds bounds;
};

} // namespace

Bounds boundsOf(const BoundedShape &shape) {
  return boundsOf(shape, taskCosts(shape.costs, shape.placement.size()));
}

Bounds boundsOf(const BoundedShape &shape, const TaskCosts &costs) {
  return BoundsOfShape(shape, costs).run();
}

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
