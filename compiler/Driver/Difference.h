// Difference: what is different between two jobs, plans, orders or traces, and its two faces: text
// for people, JSON for programs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Driver/ChangeClass.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/InputKind.h"
#include "compiler/Driver/PlanCosts.h"
#include "runtime/Base/Status.h"

namespace vime {

/// What is said of both, in one unit.
struct Measure {
  std::string name;
  double one, other;
  std::string unit; // `%` and bytes are shown their own way
};

/// Where a rank first does something else.
struct Divergence {
  std::uint32_t rank;
  std::size_t place; // action or cell
  std::string one, other;
};

/// What ranks do, in words.
struct Rows {
  std::size_t ranks = 0;
  std::function<std::size_t(std::size_t rank)> length;
  std::function<std::string(std::size_t rank, std::size_t place)> say;
};
std::vector<Divergence> divergencesBetween(const Rows &one, const Rows &other);

/// A value of a job that differs; empty: not there.
struct Change {
  ChangeClass kind;
  std::string path, one, other;
};

struct Difference {
  std::vector<Change> changes;
  std::vector<Measure> measures;
  std::vector<Divergence> divergences;
  bool any() const {
    return !changes.empty() || !divergences.empty() ||
           std::any_of(measures.begin(), measures.end(),
                       [](const Measure &measure) { return measure.one != measure.other; });
  }
};

/// Of two files of one kind. Not ok, or findings: one of them is not what it should be.
StatusOr<Difference> differenceOfJobs(const DiffArguments &arguments, Findings &findings,
                                      SourceCache &sources);
StatusOr<Difference> differenceOfPlans(const DiffArguments &arguments, const CostBasis &basis,
                                       Findings &findings);
StatusOr<Difference> differenceOfOrders(const DiffArguments &arguments, Findings &findings,
                                        SourceCache &sources);
StatusOr<Difference> differenceOfTraces(const DiffArguments &arguments);

std::string textOf(const Difference &difference);
std::string jsonOf(const Difference &difference, InputKind kind);

} // namespace vime
