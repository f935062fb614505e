#include "tests/Fuzz/BasePlans.h"

#include "tests/lowering/Lowered.h"
#include "tests/plan/SmallPlan.h"

namespace vime::fuzz {

const std::vector<plan::Plan> &basePlans() {
  static const std::vector<plan::Plan> kPlans = {
      smallPlan(),
      smallPlan({.exportTo = "model"}),
      foldedPlan(),
      lowered({.ranks = 1, .microbatches = 2, .layers = 2}),
      lowered({.schedule = "gpipe", .layers = 2, .exportTo = "model"}),
      lowered({.schedule = "interleaved", .microbatches = 4, .chunks = 2, .layers = 4}),
      lowered({.schedule = "zb-h1", .layers = 2}),
      lowered({.schedule = "zb-v", .chunks = 2, .layers = 4}),
      lowered({.layers = 2, .family = {1, 3}}),
      lowered({.layers = 2, .evaluates = 2}),
      lowered({.layers = 2, .replicas = 3}),
      lowered({.layers = 2, .family = {2, 3}, .evaluates = 1, .tiedHead = true}),
      lowered({.layers = 2, .replicas = 2, .tiedHead = true, .recomputesLayers = true}),
  };
  return kPlans;
}

} // namespace vime::fuzz
