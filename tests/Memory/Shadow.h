// Shadow: sees every access of a run to its memory, page by page, as the hardware does.
//
//   Shadow shadow(spreadPlan);
//   job.run(spreadPlan, &shadow.probe());
//   shadow.trace(rank)[k].touches           // {{slot, readFirst, wrote}, …}: of the k-th action
//   shadow.untouchedBytes(rank, tier)       // {0, 0, 4096, …}, of each region
//
// Before every action all slots of its rank are out of reach; what it touches comes within reach by
// the fault. Every rank runs its actions one behind the other, transfers awaited, workers too,
// which the certificate of a plan allows; so a touch belongs to the action that is under way.
// Loops run all their trips; cases and guards that do not hold are not there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/Exec/RankProbe.h"
#include "runtime/Plan/Plan.h"
#include "tests/Memory/SpreadPlan.h"

namespace vime {

/// What an action did with a region (SpreadPlan.h) of its rank.
struct Touch {
  plan::Tier tier = plan::Tier::Device;
  std::uint32_t region = 0; // index in regionsOf its tier
  bool readFirst = false;   // before it wrote, if it wrote
  bool wrote = false;
};

struct TracedAction {
  std::uint32_t action = 0; // index in the program
  std::vector<Touch> touches;
};

class Shadow {
public:
  /// One at a time; the plan must outlive it.
  explicit Shadow(const plan::Plan &plan);
  ~Shadow();
  Shadow(const Shadow &) = delete;

  const RankProbe &probe() const;

  /// All that the rank did, in dispatch order.
  const std::vector<TracedAction> &trace(std::uint32_t rank) const;
  /// What the dispatcher itself touched between actions.
  const std::vector<Touch> &betweenActions(std::uint32_t rank) const;
  /// Bytes on pages that nobody ever used, of each region of a tier.
  std::vector<std::uint64_t> untouchedBytes(std::uint32_t rank, plan::Tier tier) const;
  /// What went wrong with the shadow itself; empty: nothing.
  std::string problem() const;

private:
  class Ranks;
  std::unique_ptr<Ranks> ranks;
};

} // namespace vime
