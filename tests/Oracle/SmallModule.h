// SmallModule: a module as a user would save it, made without Python.
#pragma once

#include <cstdint>

#include <torch/csrc/jit/api/module.h>

namespace vime::small_module {

inline constexpr int kLayers = 4;
inline constexpr std::int64_t kHidden = 16, kInner = 24, kVocab = 256;

/// In float64, always with the same parameters. A layer's tokens see the mean of those before them.
/// `keeps`: layers hold on to it, in a buffer.
torch::jit::Module make(bool keeps = false);

} // namespace vime::small_module
