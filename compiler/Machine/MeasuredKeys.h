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
};

inline constexpr std::array kModelNumbers = {
    MeasuredNumber<ModelConfig>{"hidden", &ModelConfig::hidden},
    MeasuredNumber<ModelConfig>{"heads", &ModelConfig::heads},
    MeasuredNumber<ModelConfig>{"kv_heads", &ModelConfig::kvHeads},
    MeasuredNumber<ModelConfig>{"head_width", &ModelConfig::headWidth},
    MeasuredNumber<ModelConfig>{"ffn", &ModelConfig::ffn},
    MeasuredNumber<ModelConfig>{"vocab", &ModelConfig::vocab}};

inline constexpr std::array kMicrobatchNumbers = {
    MeasuredNumber<MicrobatchCaps>{"tokens", &MicrobatchCaps::tokens},
    MeasuredNumber<MicrobatchCaps>{"samples", &MicrobatchCaps::segments},
    MeasuredNumber<MicrobatchCaps>{"sequence", &MicrobatchCaps::segmentTokens},
    MeasuredNumber<MicrobatchCaps>{"slices", &MicrobatchCaps::slices}};

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
