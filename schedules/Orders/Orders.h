// The pipeline orders by their C++ names; tools find them by the names of jobs (Registry.h).
//
//   Schedule order = orders::oneFOneB.build({.ranks = 4, .microbatches = 8});
#pragma once

#include "schedules/Registry.h"

namespace vime::orders {

#define VIME_ORDER(name) extern const Order name;
#include "schedules/Orders/Orders.def"
#undef VIME_ORDER

} // namespace vime::orders
