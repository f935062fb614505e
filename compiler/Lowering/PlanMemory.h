// Phase `memory`: gives every action its operands, every buffer its slots and place, and every
// action its waits.
//
// Rings get the slots that the dispatch order needs, counted from the uses; what is sent from, two
// at least, so that a rank need not wait for its last message, and what is received into, as many
// unless channels have one slot (ReceiveSlots.h). Waits follow from the uses of the slots
// (DeriveWaits.h).
#pragma once

#include "runtime/ModelSpec/ModelSpec.h"
#include "runtime/Plan/Plan.h"
#include "schedules/ReceiveSlots.h"

namespace vime {

/// Fills operands, waits, layouts and the slots of channel lanes of a plan that phase `comm` made.
/// False if an action needs more waits than it has room for (DeriveWaits.h).
[[nodiscard]] bool planMemory(plan::Plan &plan, const MicrobatchCaps &caps,
                              std::uint32_t microbatches, const ReceiveSlots &slots = {});

} // namespace vime
