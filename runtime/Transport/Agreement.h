// Agreement: before step 1 the ranks show each other that they run the same plan.
//
//   Agreement agreement(ends, claimsOf(plan, rank, planId));   // outlives the transfers of all
//   ranks Status agreed = agreement.reach(transport);
//
// The first transfer of every channel and group carries the plan id and one hash over all that both
// ends must have in common: (index, time, bytes, type) of each transfer (execution-model.md,
// Certificate). So no rank reads another's program, every edge is touched once before it is needed,
// and a plan that differs on one rank is refused by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Plan/Plan.h"
#include "runtime/Transport/Transport.h"

namespace vime {

/// What a rank claims at one of its ends.
struct Claim {
  plan::Hash128 planId{};
  std::uint64_t stream = 0; // hash of all transfers of the channel or group, in order
  std::uint64_t rank = 0;
  std::uint64_t firstStep = 0; // where the loop over steps begins: a resumed run's
  bool operator==(const Claim &) const = default;
};

/// By end (Ends.h). A loop over microbatches counts as what it unrolls to, so that an end that has
/// one agrees with an end that has none. The plan has passed plan::checkRankPlan.
std::vector<Claim> claimsOf(const plan::Plan &plan, std::uint32_t rank, plan::Hash128 planId,
                            std::uint64_t firstStep = 0);

class Agreement {
public:
  Agreement(const RankEnds &ends, std::vector<Claim> claims);

  /// One transfer on every end. `Unacceptable`, naming the rank that differs.
  Status reach(Transport &transport);

private:
  Payload payloadOf(std::size_t end);
  Status compare(std::size_t end) const;

  const RankEnds ends;
  const std::vector<Claim> claims;       // by end
  std::vector<std::uint32_t> order;      // of ends, alike on all ranks
  std::vector<std::vector<Claim>> heard; // by end: of the sender, or of each member
  alignas(64) std::array<std::byte, 4096> staging{};
};

} // namespace vime
