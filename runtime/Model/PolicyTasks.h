// PolicyTasks: what the last stage does in a round with logits and labels, whatever made the
// logits.
#pragma once

#include "runtime/Model/Stage.h"
#include "runtime/ModelSpec/PolicyWorkspace.h"

namespace vime {

/// Rows [tokens, vocabulary], without gaps between them.
struct Logits {
  const Kernels &kernels;
  Matrix rows;
  std::int64_t vocabulary() const { return rows.stride; }
};
struct ConstLogits {
  const Kernels &kernels;
  ConstMatrix rows;
  std::int64_t vocabulary() const { return rows.stride; }
};

/// Stage::policyLoss; the stash of the operands is not looked at.
void policyLossOf(const Logits &logits, const Segments &segments, const PolicyLossOperands &at,
                  const PolicyWorkspace &in, const PolicyLossSettings &settings);

/// Of each label; 0 where there is none.
void logProbabilitiesOf(const ConstLogits &logits, std::int64_t tokens, const std::int32_t *labels,
                        double *logProbabilities);

} // namespace vime
