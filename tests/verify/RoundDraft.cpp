#include "tests/verify/RoundDraft.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "runtime/Plan/Describe.h"

namespace vime {

using namespace plan;

std::uint32_t RoundDraft::indexOf(std::uint32_t rank, std::string_view description,
                                  std::uint32_t time) {
  for (std::uint32_t index = 0; index < program(rank).actions.size(); ++index)
    if (describe(plan, rank, index) == description && time-- == 0)
      return index;
  ADD_FAILURE() << "rank " << rank << " has too few actions `" << description << "`";
  return 0;
}

std::uint32_t RoundDraft::bufferOf(std::uint32_t rank, std::string_view description) {
  const std::vector<Buffer> &buffers = plan.layouts[rank].buffers;
  for (std::uint32_t index = 0; index < buffers.size(); ++index)
    if (describeBuffer(plan, rank, index) == description)
      return index;
  ADD_FAILURE() << "rank " << rank << " has no buffer `" << description << "`";
  return 0;
}

void RoundDraft::joinAt(std::uint32_t rank, std::uint32_t index) {
  const std::vector<Lane> &lanes = program(rank).lanes;
  const auto lane = std::ranges::find(lanes, LaneKind::Compute, &Lane::kind) - lanes.begin();
  program(rank).actions[index] = {.opcode = code(Opcode::Join),
                                  .lane = static_cast<std::uint8_t>(lane)};
}

void RoundDraft::settle() {
  for (Program &program : plan.programs)
    for (Action &action : program.actions)
      action.flags |= kHostBlocking;
  reclock(plan); // where members disagree about calls there is no such clock
}

std::string findingsAfter(const std::function<void(RoundDraft &)> &change) {
  RoundDraft draft;
  change(draft);
  return draft.findings();
}

std::string codesAfter(const std::function<void(RoundDraft &)> &change) {
  RoundDraft draft;
  change(draft);
  return draft.codes();
}

std::string onEngines(const std::function<void(RoundDraft &, std::uint32_t)> &change) {
  return codesAfter([&](RoundDraft &draft) {
    draft.onEngines([&](std::uint32_t rank) { change(draft, rank); });
  });
}

} // namespace vime
