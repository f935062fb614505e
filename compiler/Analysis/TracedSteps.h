// TracedSteps: the traces of a run, and the steps in them that all ranks have traced whole, action
// by action beside the entries of the plan's table.
//
//   StatusOr<std::vector<trace::RankTrace>> traces = readTraces("traces", table, planId(plan));
//   const TracedStep step = stepOf(table, *traces, *lastStepOf(table, *traces));
//   tracedAt(table, step, rank, entry).begin
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/Verify/ActionTable.h"
#include "runtime/Base/Status.h"
#include "runtime/Trace/Trace.h"

namespace vime {

/// One for each rank of the table, in its order: `rank-0.trace` … in the folder. `File` if one is
/// missing, `InvalidInput` if it is of another plan.
StatusOr<std::vector<trace::RankTrace>> readTraces(const std::string &folder,
                                                   const verify::ActionTable &table,
                                                   std::array<std::uint64_t, 2> planId);

/// The last step that all ranks have traced from its first action to its last one; nothing if there
/// is none.
std::optional<std::uint32_t> lastStepOf(const verify::ActionTable &table,
                                        const std::vector<trace::RankTrace> &traces);

/// A step of all ranks; empty where one of them has not traced it.
using TracedStep = std::vector<std::vector<const trace::TracedAction *>>;

TracedStep stepOf(const verify::ActionTable &table, const std::vector<trace::RankTrace> &traces,
                  std::uint32_t step);

/// The first thousand: each is looked for in all traces.
std::vector<std::uint32_t> stepsOf(const trace::RankTrace &trace);

/// What was traced of an entry of the step, of the rank at that place of the table.
const trace::TracedAction &tracedAt(const verify::ActionTable &table, const TracedStep &step,
                                    std::size_t rank, std::uint32_t entry);

/// The two entries of every transfer in a step, sender first, with the channel's ranks as places in
/// the table.
struct Transfer {
  std::size_t source, destination;
  std::uint32_t send, receive;
};
std::vector<Transfer> transfersOf(const verify::ActionTable &table);

} // namespace vime
