// Reduce: adds one member's numbers to another's, as every transport does it.
//
// Elementwise, so that the order of the members alone decides about the bits.
#pragma once

#include <cstddef>

#include "kernels/DataType.h"

namespace vime {

/// sum[i] += addend[i]. Bytes and whole numbers wrap around. `bytes` holds whole elements.
void addTo(DataType type, void *sum, const void *addend, std::size_t bytes);

} // namespace vime
