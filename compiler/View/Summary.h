// Summary: the first page about a plan: what it trains, on how many ranks, in how much memory, and
// what was proved of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "compiler/Diagnostics/Amounts.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// Lines for a terminal. `proved` are the labels of the rules that hold for the plan (`S1`, `C2`);
/// the plan does not say.
std::string planSummary(const plan::Plan &plan, std::span<const std::string_view> proved = {});

/// The same as one JSON object, no line end behind it. Of several replicas the leading one and the
/// next, which stands for all others.
std::string summaryJson(const plan::Plan &plan, std::span<const std::string_view> proved = {});

} // namespace vime
