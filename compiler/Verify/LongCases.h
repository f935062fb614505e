// LongCases: the cases of a plan whose loops are judged by a few of their trips, and what that
// leaves out of a choice.
//
//   const LongCases cases = longCasesOf(plan);
//   cases.shorten(plan, choice);   // now choice.shortened, choice.hidden
//
// Trips may be left out where nothing else knows how many there are: the case alone runs its pass
// (what stands in another one would have to count microbatches from elsewhere), and channels that
// its loops use are empty when it starts.
#pragma once

#include <vector>

#include "compiler/Verify/Choices.h"
#include "compiler/Verify/LongLoops.h"
#include "compiler/Verify/PassPlaces.h"

namespace vime::verify {

struct LongCase {
  std::size_t index; // in the table of cases
  LongLoops found;
};

struct LongCases {
  std::vector<LongCase> cases;
  PassPlaces places;
  bool doOthersDiffer = false; // the trips of other loops follow the step too

  /// Leaves out trips of the loops that run in this choice.
  void shorten(const plan::Plan &plan, Choice &choice) const;
};

/// The plan has passed `verifyIndicesInRange`.
LongCases longCasesOf(const plan::Plan &plan);

} // namespace vime::verify
