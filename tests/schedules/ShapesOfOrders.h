// ShapesOfOrders: shapes to try an order with, legal ones and others, and what must hold of each.
#pragma once

#include "schedules/Registry.h"

namespace vime {

/// Shapes of the property tests have up to so many of each. A search takes longer, so orders that
/// search have a smaller field; ZB-V has a rule for the usual costs.
struct Field {
  int ranks = 16, microbatches = 64, chunks = 4;
  bool has(ScheduleShape shape) const;
};

Field fieldOf(const Order &order);

/// The shape itself, then what it is with each number that the order has a use for, at and around
/// the ends of what could be legal; where that means a search, in its field alone.
std::vector<ScheduleShape> variantsOf(const Order &order, ScheduleShape plain);

/// Whether the order takes the shape. Expects a legal order that finishes and keeps to its memory
/// if it does, otherwise a message, a remedy and the nearest legal numbers.
bool expectLegalOrMended(const Order &order, ScheduleShape shape);

std::string named(const Order &order, ScheduleShape shape);

} // namespace vime
