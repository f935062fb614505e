// Workspace: the bytes of scratch memory that kernels ask of their caller.
//
// Pure functions of the sizes: no instruction set, machine or implementation enters, so that a plan
// made on one machine reserves what every other needs.
#pragma once

#include "kernels/Kernels.h"

namespace vime {

/// For Kernels::product, whatever the strides and rows; grows with `columns` and `depth`.
std::size_t productWorkspace(DataType type, std::int64_t columns, std::int64_t depth);

/// For each of the three products of a linear layer, for up to `linear.tokens` tokens.
std::size_t linearWorkspace(DataType type, const Linear &linear);

/// For both directions of attention; grows with the longest segment.
std::size_t attentionWorkspace(DataType type, const Attention &attention,
                               std::int64_t longestSegment);

} // namespace vime
