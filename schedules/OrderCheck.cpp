// Whether an order takes a shape; if not, why, and which shapes near it it does take.
#include "schedules/Registry.h"

#include <algorithm>

namespace vime {

namespace {

std::string counted(int number, std::string_view unit) {
  const std::string_view plural = unit == "microbatch" ? "es" : "s";
  return std::to_string(number) + " " + std::string(unit) + std::string(number == 1 ? "" : plural);
}

int mostMicrobatches(std::int64_t stages) {
  return static_cast<int>(std::clamp<std::int64_t>(kMaxForwards / std::max<std::int64_t>(stages, 1),
                                                   1, kMaxMicrobatches));
}

// "`gpipe` takes 1 to 1024 ranks, not 0"; "" if the number lies in the range.
std::string outOfRange(const Order &order, std::string_view unit, int number, int least, int most,
                       const std::string &where = {}) {
  if (least <= number && number <= most)
    return {};
  const std::string range =
      least == most ? counted(least, unit) : std::to_string(least) + " to " + counted(most, unit);
  return "`" + std::string(order.name) + "` takes " + range + where + ", not " +
         std::to_string(number);
}

std::optional<OrderProblem> problemWith(std::string_view number, std::string why) {
  if (why.empty())
    return std::nullopt;
  return OrderProblem{number, std::move(why), {}, {}};
}

// What the order has no use for must be left alone.
std::optional<OrderProblem> notTaken(const Order &order, const ScheduleShape &shape) {
  const auto stated = [&](std::string_view number, bool isStated, bool isTaken) {
    return problemWith(number, isStated && !isTaken
                                   ? "`" + std::string(order.name) + "` has no use for `" +
                                         std::string(number) + "`"
                                   : "");
  };
  for (auto problem : {stated("group", shape.group != 0, order.takes.group),
                       stated("memory", shape.memory != 0, order.takes.memory),
                       stated("slices", shape.slices != 1, order.takes.slices),
                       stated("overlap", shape.overlap, order.takes.overlap),
                       stated("costs", shape.costs != UnitCosts{}, order.takes.costs)})
    if (problem)
      return problem;
  return std::nullopt;
}

// A number that the order takes; the same for `nearestShapes`, which tries others.
struct Number {
  std::string_view name;
  int ScheduleShape::*value;
  int least;
  int (*most)(const ScheduleShape &);
};

// Where there are fewer microbatches than ranks, it is their number that the order will refuse.
int mostInAGroup(const ScheduleShape &shape) { return std::max(shape.microbatches, shape.ranks); }

constexpr Number kNumbers[] = {
    {"ranks", &ScheduleShape::ranks, 1, [](const ScheduleShape &) { return kMaxRanks; }},
    {"chunks", &ScheduleShape::chunks, 1, [](const ScheduleShape &) { return kMaxChunks; }},
    {"microbatches", &ScheduleShape::microbatches, 1,
     [](const ScheduleShape &shape) { return mostMicrobatches(shape.stages()); }},
    {"group", &ScheduleShape::group, 0, mostInAGroup},
    {"memory", &ScheduleShape::memory, 0, [](const ScheduleShape &) { return kMaxMemory; }},
    {"slices", &ScheduleShape::slices, 1, [](const ScheduleShape &) { return kMaxSlices; }},
};

const Number &numberNamed(std::string_view name) {
  return *std::find_if(std::begin(kNumbers), std::end(kNumbers),
                       [&](const Number &number) { return number.name == name; });
}

// The first number that is wrong, and why. Later rules need the earlier ones to hold.
std::optional<OrderProblem> firstProblem(const Order &order, const ScheduleShape &shape) {
  if (std::string why = outOfRange(order, "rank", shape.ranks, 1, kMaxRanks); !why.empty())
    return problemWith("ranks", std::move(why));
  if (std::string why = outOfRange(order, "chunk", shape.chunks, order.chunks.least,
                                   order.chunks.most, " per rank");
      !why.empty())
    return problemWith("chunks", std::move(why));
  if (auto problem = notTaken(order, shape))
    return problem;
  if (std::string why = outOfRange(order, "slice", shape.slices, 1, kMaxSlices); !why.empty())
    return problemWith("slices", std::move(why));
  const std::string where = " on " + counted(shape.stages(), "stage");
  if (std::string why = outOfRange(order, "microbatch", shape.microbatches, 1,
                                   mostMicrobatches(shape.stages() * shape.slices), where);
      !why.empty())
    return problemWith("microbatches", std::move(why));
  for (const auto &[name, value, least, most] : {numberNamed("group"), numberNamed("memory")})
    if (shape.*value < least || shape.*value > most(shape))
      return problemWith(name, "`" + std::string(order.name) + "` takes a " + std::string(name) +
                                   " of 1 to " + std::to_string(most(shape)) + ", not " +
                                   std::to_string(shape.*value));
  const auto &[forward, input, weight, transfer] = shape.costs;
  if (const auto [least, most] = std::minmax({forward, input, weight, transfer + 1});
      least < 1 || most > kMaxCost)
    return problemWith("costs", "tasks cost 1 to " + std::to_string(kMaxCost) +
                                    " each, a transfer 0 to " + std::to_string(kMaxCost - 1));
  if (order.refusal)
    if (auto refusal = order.refusal(shape))
      return problemWith(refusal->number, "`" + std::string(order.name) + "` " + refusal->why);
  return std::nullopt;
}

// All numbers in range first, and no more of them than the order takes.
ScheduleShape broughtIntoRange(const Order &order, ScheduleShape shape) {
  shape.ranks = std::clamp(shape.ranks, 1, kMaxRanks);
  shape.chunks = std::clamp(shape.chunks, order.chunks.least, order.chunks.most);
  shape.memory = order.takes.memory ? std::clamp(shape.memory, 0, kMaxMemory) : 0;
  shape.slices = order.takes.slices ? std::clamp(shape.slices, 1, kMaxSlices) : 1;
  shape.overlap = shape.overlap && order.takes.overlap;
  const auto cost = [](int value) { return std::clamp(value, 1, kMaxCost); };
  shape.costs = order.takes.costs
                    ? UnitCosts{cost(shape.costs.forward), cost(shape.costs.backwardInput),
                                cost(shape.costs.backwardWeight),
                                std::clamp(shape.costs.transfer, 0, kMaxCost - 1)}
                    : UnitCosts{};
  shape.microbatches =
      std::clamp(shape.microbatches, 1, mostMicrobatches(shape.stages() * shape.slices));
  shape.group = order.takes.group ? std::clamp(shape.group, 0, mostInAGroup(shape)) : 0;
  return shape;
}

// Then the next smaller and larger value of the number that the rule refuses. Where another number
// must change with it, the first that does.
std::vector<ScheduleShape> nearestShapes(const Order &order, ScheduleShape shape) {
  shape = broughtIntoRange(order, shape);
  constexpr int kMostNumbers = std::size(kNumbers);
  for (int changed = 0; changed <= kMostNumbers; ++changed) {
    const auto problem = firstProblem(order, shape);
    if (!problem)
      return {shape};
    const Number &number = numberNamed(problem->number);
    std::vector<ScheduleShape> shapes;
    std::optional<ScheduleShape> halfway; // right in this number, wrong in another
    for (const int step : {-1, 1}) {
      ScheduleShape candidate = shape;
      std::optional<OrderProblem> left = problem;
      while (left && left->number == number.name) {
        candidate.*number.value += step;
        if (candidate.*number.value < number.least ||
            candidate.*number.value > number.most(candidate))
          break;
        left = firstProblem(order, candidate);
      }
      if (!left)
        shapes.push_back(candidate);
      else if (left->number != number.name && !halfway)
        halfway = candidate;
    }
    if (!shapes.empty() || !halfway)
      return shapes;
    shape = *halfway;
  }
  return {};
}

// "4 ranks", "10 or 12 microbatches", "a group of 4": what to take, in the words of a remedy.
std::string valueText(const Number &number, int smaller, int larger) {
  const std::string either = smaller == larger ? "" : std::to_string(smaller) + " or ";
  if (number.name == "group" || number.name == "memory") {
    const std::string name(number.name);
    if (smaller == 0)
      return "no " + name + (larger == 0 ? "" : " or a " + name + " of " + std::to_string(larger));
    return "a " + name + " of " + either + std::to_string(larger);
  }
  return either + counted(larger, number.name == "ranks"          ? "rank"
                                  : number.name == "chunks"       ? "chunk"
                                  : number.name == "microbatches" ? "microbatch"
                                                                  : "slice");
}

// "use 1 rank and 10 or 12 microbatches": the numbers to change, nothing else.
std::string remedy(const ScheduleShape &shape, const std::vector<ScheduleShape> &nearest) {
  std::vector<std::string> changes;
  const ScheduleShape first = nearest.front(), last = nearest.back();
  for (const Number &number : kNumbers) {
    const int smaller = first.*number.value, larger = last.*number.value;
    if (smaller != larger || smaller != shape.*number.value)
      changes.push_back(valueText(number, smaller, larger));
  }
  if (first.overlap != shape.overlap)
    changes.push_back("no overlap");
  if (first.costs != shape.costs)
    changes.push_back("costs in that range");
  std::string text = "use " + changes.front();
  for (std::size_t change = 1; change < changes.size(); ++change)
    text += " and " + changes[change];
  return text;
}

// "", or ", or an order that takes 2 chunks: `interleaved`". For the same purpose as this one.
std::string ordersWithChunks(const Order &order, ScheduleShape shape) {
  const auto takesChunks = [&](const Order &other) {
    if (shape.chunks < other.chunks.least || other.chunks.most < shape.chunks)
      return false;
    const auto refusal = other.refusal ? other.refusal(shape) : std::nullopt;
    return !refusal || refusal->number != "chunks";
  };
  std::string names;
  for (const Order &other : allOrders())
    if (other.trains == order.trains && takesChunks(other))
      names += (names.empty() ? "`" : ", `") + std::string(other.name) + "`";
  return names.empty()
             ? names
             : ", or an order that takes " + counted(shape.chunks, "chunk") + ": " + names;
}

} // namespace

std::optional<OrderProblem> check(const Order &order, ScheduleShape shape) {
  std::optional<OrderProblem> problem = firstProblem(order, shape);
  if (!problem)
    return std::nullopt;
  problem->nearest = nearestShapes(order, shape);
  problem->help = remedy(shape, problem->nearest);
  if (problem->number == "chunks") {
    const ScheduleShape mended = problem->nearest.front();
    problem->help += ordersWithChunks(order, {mended.ranks, mended.microbatches, shape.chunks});
  }
  return problem;
}

} // namespace vime
