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
  return static_cast<int>(std::min<std::int64_t>(kMaxMicrobatches, kMaxForwards / stages));
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

// The first number that is wrong, and why. Later rules need the earlier ones to hold.
std::optional<OrderProblem> firstProblem(const Order &order, ScheduleShape shape) {
  if (std::string why = outOfRange(order, "rank", shape.ranks, 1, kMaxRanks); !why.empty())
    return OrderProblem{"ranks", std::move(why), {}, {}};
  if (std::string why = outOfRange(order, "chunk", shape.chunks, order.chunks.least,
                                   order.chunks.most, " per rank");
      !why.empty())
    return OrderProblem{"chunks", std::move(why), {}, {}};
  const std::string where = " on " + counted(shape.stages(), "stage");
  if (std::string why = outOfRange(order, "microbatch", shape.microbatches, 1,
                                   mostMicrobatches(shape.stages()), where);
      !why.empty())
    return OrderProblem{"microbatches", std::move(why), {}, {}};
  if (std::string why = order.refusal(shape); !why.empty())
    return OrderProblem{"microbatches", std::move(why), {}, {}};
  return std::nullopt;
}

// All numbers in range first, then the next smaller and larger microbatches that the rule takes.
std::vector<ScheduleShape> nearestShapes(const Order &order, ScheduleShape shape) {
  shape.ranks = std::clamp(shape.ranks, 1, kMaxRanks);
  shape.chunks = std::clamp(shape.chunks, order.chunks.least, order.chunks.most);
  const int most = mostMicrobatches(shape.stages());
  shape.microbatches = std::clamp(shape.microbatches, 1, most);
  if (order.refusal(shape).empty())
    return {shape};
  std::vector<ScheduleShape> shapes;
  for (const int step : {-1, 1}) {
    ScheduleShape candidate = shape;
    do
      candidate.microbatches += step;
    while (1 <= candidate.microbatches && candidate.microbatches <= most &&
           !order.refusal(candidate).empty());
    if (1 <= candidate.microbatches && candidate.microbatches <= most)
      shapes.push_back(candidate);
  }
  return shapes;
}

// "use 1 rank and 10 or 12 microbatches": the numbers to change, nothing else.
std::string remedy(ScheduleShape shape, const std::vector<ScheduleShape> &nearest) {
  std::vector<std::string> changes;
  const ScheduleShape first = nearest.front();
  if (first.ranks != shape.ranks)
    changes.push_back(counted(first.ranks, "rank"));
  if (first.chunks != shape.chunks)
    changes.push_back(counted(first.chunks, "chunk"));
  if (nearest.size() == 2)
    changes.push_back(std::to_string(first.microbatches) + " or " +
                      counted(nearest.back().microbatches, "microbatch"));
  else if (first.microbatches != shape.microbatches)
    changes.push_back(counted(first.microbatches, "microbatch"));
  std::string text = "use " + changes.front();
  for (std::size_t change = 1; change < changes.size(); ++change)
    text += " and " + changes[change];
  return text;
}

// "", or ", or an order that takes 2 chunks: `interleaved`".
std::string ordersWithChunks(int chunks) {
  std::string names;
  for (const Order &order : allOrders())
    if (order.chunks.least <= chunks && chunks <= order.chunks.most)
      names += (names.empty() ? "`" : ", `") + std::string(order.name) + "`";
  return names.empty() ? names
                       : ", or an order that takes " + counted(chunks, "chunk") + ": " + names;
}

} // namespace

std::optional<OrderProblem> check(const Order &order, ScheduleShape shape) {
  std::optional<OrderProblem> problem = firstProblem(order, shape);
  if (!problem)
    return std::nullopt;
  problem->nearest = nearestShapes(order, shape);
  problem->help = remedy(shape, problem->nearest);
  if (problem->number == "chunks")
    problem->help += ordersWithChunks(shape.chunks);
  return problem;
}

} // namespace vime
