// A cyclic order: what each rank runs again and again in the steady part, each of its passes once a
// turn. In turn t a pass runs microbatch t plus its shift.
//
//   CyclicOrder cycle = cycleOf(kernelOf(flow, timing), flow);
//   cycle = betterCycle(flow, cycle, random, /*tries=*/1000);
//   Timing timing = unrolled(flow, cycle).value();
//
// A swap of two neighbours changes all turns at once: where memory is small, that finds shorter
// periods than changes of keys do, after which a rank may still choose otherwise.
#pragma once

#include "schedules/Search/Kernel.h"
#include "schedules/Search/Random.h"

#include <optional>

namespace vime {

struct CyclicOrder {
  std::vector<std::vector<int>> rows; // per rank: its passes
  std::vector<int> shifts;            // per pass
};

CyclicOrder cycleOf(const Kernel &kernel, const Flow &flow);

/// All turns of a step, without what lies before its first microbatch or behind its last, as early
/// as the ranks' orders allow. Nothing if they get stuck or hold more than the flow allows.
std::optional<Timing> unrolled(const Flow &flow, const CyclicOrder &cycle);

/// After so many tries to swap neighbours, for a step of as many microbatches as `flow` has.
CyclicOrder betterCycle(const Flow &flow, CyclicOrder cycle, Random &random, std::int64_t tries);

} // namespace vime
