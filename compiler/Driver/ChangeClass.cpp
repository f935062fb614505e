#include "compiler/Driver/ChangeClass.h"

#include <array>
#include <cstddef>

namespace vime {
namespace {

struct Row {
  std::string_view path; // of the field, or of its section
  ChangeClass kind;
};

/// The first row that a path begins with decides; what stands nowhere is compiled again.
constexpr Row kRows[] = {
    {"name", ChangeClass::Operations},
    {"cluster.machine", ChangeClass::Operations}, // tells what to expect, and changes nothing
    {"roles.actor.model", ChangeClass::Frozen},
    {"roles.ref.model", ChangeClass::Frozen},
    {"rollout.slots", ChangeClass::Recompile}, // samples do not depend on them
    {"rollout.step_tokens", ChangeClass::Recompile},
    {"rollout.dump", ChangeClass::Operations},
    {"rollout", ChangeClass::Frozen},
    {"reward.timeout", ChangeClass::Operations},
    {"reward.retries", ChangeClass::Operations},
    {"reward.workers", ChangeClass::Operations},
    {"reward.min_workers", ChangeClass::Operations},
    {"reward", ChangeClass::Frozen},
    {"algorithm", ChangeClass::Frozen},
    {"run.seed", ChangeClass::Frozen},
    {"run", ChangeClass::Operations},
    {"checkpoint", ChangeClass::Operations},
    {"limits", ChangeClass::Operations},
    {"eval.text", ChangeClass::Frozen},
    {"eval.prompts", ChangeClass::Frozen},
    {"eval.count", ChangeClass::Recompile},
    {"eval", ChangeClass::Operations},
    {"models", ChangeClass::Frozen},
    {"data", ChangeClass::Frozen},
    {"batch", ChangeClass::Frozen},
    {"optimizer.commit", ChangeClass::Recompile},
    {"optimizer", ChangeClass::Frozen},
    {"pipeline.microbatches", ChangeClass::Frozen}, // samples of a step
    {"pipeline.microbatch", ChangeClass::Frozen},
};

} // namespace

ChangeClass changeClassOf(std::string_view path) {
  for (const Row &row : kRows)
    if (path == row.path || (path.starts_with(row.path) && path[row.path.size()] == '.'))
      return row.kind;
  return ChangeClass::Recompile;
}

std::string_view nameOf(ChangeClass kind) {
  constexpr std::array<std::string_view, 3> kNames = {"frozen", "recompile", "operations"};
  return kNames[static_cast<std::size_t>(kind)];
}

} // namespace vime
