// FoldPass: the clock of an order, with its repetitions as loops.
//
// Rows of tasks that repeat are simulated with fewer microbatches, so that this costs hardly more
// for a million of them than for a hundred; trips are added afterwards.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/Lowering/FoldClock.h"
#include "schedules/Schedule.h"

namespace vime {

enum class Folding : std::uint8_t { Nowhere, WherePossible, WhereWorthwhile };

/// Whether loops leave out at least half of the nodes, and more than a person would want to read.
bool isWorthwhile(const FoldedClock &folded);

/// Nothing if the order can never finish.
std::optional<FoldedClock> foldedPass(const Schedule &order, int microbatches, Folding folding,
                                      const ReceiveSlots &slots = {});

} // namespace vime
