// The list of phases.
#include "compiler/Phases/Phases.h"

#include <array>

namespace vime {
namespace {

constexpr std::array<Phase, 5> kPhases = {{
    {"job", "the YAML is legal and complete; every derived value is present with its origin"},
    {"order", "every pass has a placement and a legal order of tasks"},
    {"comm", "transfers, collectives, lanes and the logical clock exist"},
    {"memory", "buffers have offsets and slots; waits follow from their uses; peaks are exact"},
    {"plan", "everything that the runtime reads is there; all verifiers have judged it"},
}};

} // namespace

std::span<const Phase> phases() { return kPhases; }

const Phase *findPhase(std::string_view name) {
  for (const Phase &phase : kPhases)
    if (phase.name == name)
      return &phase;
  return nullptr;
}

} // namespace vime
