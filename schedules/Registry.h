// Registry: the table of orders; for each its rule, the shapes it takes and what is known about it.
//
//   const Order *order = findOrder("interleaved");
//   ScheduleShape shape = shapeFor(*order, /*ranks=*/4, /*microbatches=*/8); // chunks: 2
//   if (auto problem = check(*order, shape))
//     report(problem->message, problem->help);
//   else
//     print(toTimeline(order->build(shape)));
#pragma once

#include "schedules/Limits.h"
#include "schedules/Schedule.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace vime {

struct ChunkRange {
  int least;
  int most;
  int usual; // taken when nobody asks for a number
};

/// Numbers that only some orders have a use for.
struct Takes {
  bool group = false, memory = false, slices = false, overlap = false, costs = false;
};

/// The first number that an order cannot take: `ranks`, `microbatches`, `group`, `memory` or
/// `slices`; `why` goes on after the order's name: "cannot run 3 microbatches on 2 ranks: …".
struct Refusal {
  std::string_view number;
  std::string why;
};

struct Order {
  std::string_view name;            // as jobs and tools write it
  std::string_view summary;         // one line for lists
  std::string_view placement;       // linear, loop, vee, wave, both ways
  ChunkRange chunks;                // stages per rank
  Schedule (*build)(ScheduleShape); // the shape must have passed `check`
  /// Beyond chunks and limits, which `check` knows; null: any shape.
  std::optional<Refusal> (*refusal)(ScheduleShape) = nullptr;
  Takes takes{};
  bool trains = true;      // every stage and microbatch has a backward
  bool ascending = true;   // every stage adds its gradients up in ascending microbatch
  std::string_view needs;  // `refusal` in words, for lists
  std::string_view bubble; // idle time per rank; F, B (or I and W) of all v chunks of a rank
  std::string_view peak;   // activations alive on the fullest rank
  std::string_view source; // where the rule comes from
};

/// Why an order cannot be built, and with which numbers it could.
struct OrderProblem {
  std::string_view number; // the wrong one: "ranks", "chunks", "microbatches", "group", …
  std::string message;
  std::string help;
  std::vector<ScheduleShape> nearest; // legal, as little changed as possible; never empty
};

std::span<const Order> allOrders();
std::vector<std::string_view> orderNames();

/// Exact name; null if there is none.
const Order *findOrder(std::string_view name);

/// The known name that an unknown one most looks like, if any does.
std::optional<std::string_view> nearestOrderName(std::string_view name);

/// The shape with the order's usual chunks where none are given. Not checked.
ScheduleShape shapeFor(const Order &order, int ranks, int microbatches,
                       std::optional<int> chunks = {});

/// Nothing if `order.build` takes the shape.
std::optional<OrderProblem> check(const Order &order, ScheduleShape shape);

} // namespace vime
