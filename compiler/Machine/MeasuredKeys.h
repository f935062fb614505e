// MeasuredKeys: how a file names what was measured: one table for the reader, the printer and
// messages.
#pragma once

#include <array>
#include <string_view>

#include "compiler/Machine/Machine.h"

namespace vime {

/// A number of the measured model, or of its microbatch.
template <typename Owner> struct MeasuredNumber {
  std::string_view key;
  std::uint32_t Owner::*number;
  double most; // what a job may say
};

inline constexpr std::array kModelNumbers = {
    MeasuredNumber<ModelConfig>{"hidden", &ModelConfig::hidden, 1 << 20},
    MeasuredNumber<ModelConfig>{"heads", &ModelConfig::heads, 1 << 20},
    MeasuredNumber<ModelConfig>{"kv_heads", &ModelConfig::kvHeads, 1 << 20},
    MeasuredNumber<ModelConfig>{"head_width", &ModelConfig::headWidth, 1 << 20},
    MeasuredNumber<ModelConfig>{"ffn", &ModelConfig::ffn, 1 << 22},
    MeasuredNumber<ModelConfig>{"vocab", &ModelConfig::vocab, 1 << 24}};

inline constexpr std::array kMicrobatchNumbers = {
    MeasuredNumber<MicrobatchCaps>{"tokens", &MicrobatchCaps::tokens, 1 << 29},
    MeasuredNumber<MicrobatchCaps>{"samples", &MicrobatchCaps::segments, 1 << 29},
    MeasuredNumber<MicrobatchCaps>{"sequence", &MicrobatchCaps::segmentTokens, 1 << 29},
    MeasuredNumber<MicrobatchCaps>{"slices", &MicrobatchCaps::slices, 1 << 29}};

/// What times are of.
struct MeasuredPart {
  std::string_view key;
  MeasuredTimes Measurements::*times;
};

inline constexpr std::array kMeasuredParts = {
    MeasuredPart{"stage", &Measurements::stage}, MeasuredPart{"layer", &Measurements::layer},
    MeasuredPart{"embedding", &Measurements::embedding}, MeasuredPart{"head", &Measurements::head},
    MeasuredPart{"rank", &Measurements::rank}};

} // namespace vime
