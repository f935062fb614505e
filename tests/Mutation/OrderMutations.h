// OrderMutations: the ways in which orders are spoiled before they are made into plans.
#pragma once

#include <random>
#include <span>
#include <string_view>

#include "schedules/Schedule.h"

namespace vime {

struct OrderMutation {
  std::string_view name;
  /// False if there was nothing to change.
  bool (*apply)(Schedule &order, std::mt19937 &random);
};

std::span<const OrderMutation> orderMutations();

} // namespace vime
