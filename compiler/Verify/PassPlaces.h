// PassPlaces: where a plan runs the microbatches of a step, and where those of an evaluation: in
// which cases, and whether outside of them too.
//
//   places->isAlone(plan, choice, /*caseIndex=*/1)   // it runs all microbatches of its pass
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/Verify/Choices.h"
#include "runtime/Plan/Plan.h"

namespace vime::verify {

struct PassPlace {
  bool trains = false, evaluates = false; // tasks, or messages of microbatches beside them
  bool isOfOnePass() const { return trains != evaluates; }
};

struct PassPlaces {
  std::vector<PassPlace> cases; // of any rank
  PassPlace outside;

  /// Whether nothing else that runs in this choice is of the pass of this case.
  bool isAlone(const plan::Plan &plan, const Choice &choice, std::size_t caseIndex) const;
};

/// Nothing where ranks have other cases than the first one. The plan has passed
/// `verifyIndicesInRange`.
std::optional<PassPlaces> passPlacesOf(const plan::Plan &plan);

} // namespace vime::verify
