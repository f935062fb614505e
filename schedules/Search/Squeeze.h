// Squeeze: takes the idle slots out of a repeated building block, at the memory that it has.
//
//   Schedule order = orderOf(squeezed(repeated(block, microbatches)));
//
// A block leaves slots free where the pipeline fills and drains. Each pass moves to the first free
// slot behind what it waits for at which its rank holds no more activations than the fullest rank
// did. The steady part, from the first input gradient that leaves the pipeline to the last forward
// that enters it, keeps its pattern. Source: Qi et al. 2024, section 4.
#pragma once

#include "schedules/Search/VeeSlots.h"

namespace vime {

std::vector<VeeRow> squeezed(std::vector<VeeRow> rows);

} // namespace vime
