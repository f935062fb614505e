// Drawn: what `vimec view` makes pictures of: a plan, a job's plan, an order or a trace as
// timelines, with what the judges say of it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/PlanCosts.h"
#include "compiler/View/Timeline.h"
#include "runtime/Base/Status.h"

namespace vime {

struct Drawn {
  Timeline timeline;
  std::string grid; // empty: there is none of it
  std::optional<Timeline> measured;
};

/// Of a plan, or of what a job compiles to. `traces`: among the inputs; without other costs a plan
/// is expected to take what it took there.
StatusOr<Drawn> drawnPlan(const std::string &path, const ViewArguments &arguments,
                          const CostBasis &basis, std::span<const Timeline> traces,
                          Findings &findings, SourceCache &sources);

StatusOr<Drawn> drawnTable(const std::string &path, const ViewArguments &arguments,
                           Findings &findings, SourceCache &sources);

/// Findings from that one on become problems of the picture.
void addProblems(const Findings &findings, std::size_t from, Timeline &timeline);

} // namespace vime
