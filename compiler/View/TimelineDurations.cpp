#include "compiler/View/TimelineDurations.h"

#include <algorithm>
#include <map>

#include "compiler/Analysis/Measured.h"
#include "runtime/Plan/Opcode.h"

namespace vime {
namespace {

std::optional<plan::Opcode> opcodeNamed(const std::string &name) {
  for (const plan::Signature &signature : plan::signatures())
    if (signature.name == name)
      return signature.opcode;
  return std::nullopt;
}

} // namespace

Durations durationsOf(const Timeline &timeline, const plan::Plan &plan) {
  std::size_t stages = 0;
  for (const plan::Model &model : plan.models)
    stages += model.stages.size();
  std::map<std::pair<std::int32_t, std::uint16_t>, std::vector<std::int64_t>> computed;
  std::vector<std::int64_t> boundaries, messages;
  for (const TimelineRow &row : timeline.rows)
    for (const Bar &bar : row.bars) {
      if (bar.lane == DrawnLane::Compute)
        computed[{bar.stage, bar.kind}].push_back(bar.end - bar.begin);
      else if (bar.lane == DrawnLane::Receive && bar.end > bar.begin)
        (bar.microbatch >= 0 ? boundaries : messages).push_back(bar.end - bar.begin);
    }
  Durations durations;
  durations.stages.resize(stages);
  for (auto &[what, lasted] : computed) {
    const auto [stage, kind] = what;
    const std::optional<plan::Opcode> opcode = opcodeNamed(timeline.kinds[kind].name);
    if (!opcode || stage >= static_cast<std::int32_t>(stages))
      continue;
    (stage < 0 ? durations.ofRank : durations.stages[static_cast<std::size_t>(stage)])[*opcode] =
        median(lasted);
  }
  durations.near.latency = durations.far.latency = median(messages);
  durations.boundaryLatency =
      std::max<std::int64_t>(0, median(boundaries) - durations.near.latency);
  return durations;
}

} // namespace vime
