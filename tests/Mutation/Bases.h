// Bases: the right plans and orders that mutants are made of, each with what it is there for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/Frontend/Job.h"
#include "runtime/Plan/Plan.h"
#include "schedules/Schedule.h"

namespace vime {

struct BasePlan {
  std::string name;
  plan::Plan plan;
};
const std::vector<BasePlan> &basePlans();

struct BaseOrder {
  std::string name;
  Job job; // that it is lowered for
  Schedule order;
};
const std::vector<BaseOrder> &baseOrders();

} // namespace vime
