// PartTimes: how long an action takes for a layer, for the embedding and for the head of a decoder
// on a machine, and why: measured, scaled from what was measured, or by the roofline.
//
//   StatusOr<PartTimes> parts = partTimes(machine, model, caps, sharers, plan::Opcode::Backward);
//   parts->of(range)                                 // seconds of a stage
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "compiler/Machine/Machine.h"
#include "compiler/Machine/Work.h"
#include "runtime/Base/Status.h"
#include "runtime/Plan/Opcode.h"

namespace vime {

struct PartTimes {
  double layer = 0, embedding = 0, head = 0;
  std::string origin;
  double of(const StageRange &range) const {
    return (range.end - range.first) * layer + (range.embedding ? embedding : 0) +
           (range.head ? head : 0);
  }
};

/// Paths of the figures that a cost was made of.
using UsedFigures = std::set<std::string_view>;

/// The figure, noted as used; `InvalidInput` if the machine does not say it.
StatusOr<double> figureOf(const Machine &machine, Figure Machine::*figure, UsedFigures &used);

/// A figure of the machine times the share of it that is reached.
struct Rate {
  double value = 0;
  std::string text; // "989 TFLOP/s × 0.45"
};
StatusOr<Rate> rateOf(const Machine &machine, Figure Machine::*peak, Figure Machine::*share,
                      UsedFigures &used);
/// The peak of products of that type.
Figure Machine::*peakOf(DataType type);

/// `InvalidInput` if neither measurements nor figures say it.
StatusOr<PartTimes> partTimes(const Machine &machine, const ModelConfig &model,
                              const MicrobatchCaps &caps, std::uint32_t sharers,
                              plan::Opcode opcode, UsedFigures &used);

} // namespace vime
