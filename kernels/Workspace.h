// Workspace: the bytes of scratch memory that kernels ask of their caller.
//
// Pure functions of the sizes and of the library that a plan names: no instruction set or machine
// enters, so that a plan made on one machine reserves what every other needs.
#pragma once

#include "kernels/KernelLibrary.h"
#include "kernels/Kernels.h"

namespace vime {

/// For Kernels::product, whatever the strides and rows; grows with `columns` and `depth`.
std::size_t productWorkspace(DataType type, std::int64_t columns, std::int64_t depth,
                             KernelLibrary library = KernelLibrary::Native);

/// For each of the three products of a linear layer, for up to `linear.tokens` tokens.
std::size_t linearWorkspace(DataType type, const Linear &linear,
                            KernelLibrary library = KernelLibrary::Native);

/// For one direction of attention; grows with the longest segment.
std::size_t attentionForwardWorkspace(DataType type, const Attention &attention,
                                      std::int64_t longestSegment,
                                      KernelLibrary library = KernelLibrary::Native);
std::size_t attentionBackwardWorkspace(DataType type, const Attention &attention,
                                       std::int64_t longestSegment,
                                       KernelLibrary library = KernelLibrary::Native);
/// For both.
std::size_t attentionWorkspace(DataType type, const Attention &attention,
                               std::int64_t longestSegment,
                               KernelLibrary library = KernelLibrary::Native);

/// For Kernels::attentionWithCache; grows with the rows of the cache.
std::size_t attentionWithCacheWorkspace(DataType type, const Attention &attention,
                                        std::int64_t rows,
                                        KernelLibrary library = KernelLibrary::Native);
/// What a KeyValueCache of so many rows takes, of every implementation.
std::size_t keyValueCacheBytes(DataType type, const Attention &attention, std::int64_t rows);

/// What is named is what the build with the widest vectors lays out. It leaves unused, at most:
/// gaps in front of areas, and a copy of rows that only a product of strided factors needs.
std::size_t unusedWorkspace(DataType type);

/// Rows and columns of the copies that the LibTorch kernels make of factors which BLAS does not
/// take.
inline constexpr std::int64_t kLibTorchTile = 32;

} // namespace vime
