#include "compiler/Driver/OrderNotes.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/Frontend/OrderFile.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Verify/VerifyOrder.h"

namespace vime {
namespace {

template <typename Is> std::size_t count(const OrderTable &table, Is is) {
  std::size_t found = 0;
  for (const std::vector<TableEntry> &row : table.rows)
    found += static_cast<std::size_t>(std::count_if(
        row.begin(), row.end(), [&](const TableEntry &entry) { return is(entry.kind); }));
  return found;
}

} // namespace

std::vector<std::string> notesOnNotation(const OrderTable &table) {
  std::vector<std::string> notes;
  if (table.isOld)
    notes.push_back("read as PyTorch 2.5 wrote it: `B` is the input gradient, since `W` stands "
                    "without `I`");
  if (table.stages() > static_cast<int>(table.rows.size()) && !table.chunksAre.empty())
    notes.push_back(table.chunksAre == "vee"
                        ? "its chunks were taken for stages down the ranks and back"
                        : "its chunks were taken for stages that go round the ranks");
  return notes;
}

std::vector<std::string> notesOn(const OrderTable &table) {
  std::vector<std::string> notes = notesOnNotation(table);
  if (table.pairs > 0)
    notes.push_back(fmt::format("{} overlapped {}: the forward runs first, then the backward",
                                table.pairs, table.pairs == 1 ? "pair" : "pairs"));
  if (const std::size_t transfers = count(table, isTransfer))
    notes.push_back(
        fmt::format("{} transfers: the same messages travel, each when the plan's clock "
                    "has it",
                    transfers));
  if (const std::size_t shards =
          count(table, [](CellKind kind) { return kind > CellKind::ReceiveBackward; }))
    notes.push_back(
        fmt::format("{} cells of UNSHARD, RESHARD, REDUCE_GRAD: nothing is done for them; "
                    "a rank keeps its parameters whole, gradients are reduced behind the "
                    "last task of the step",
                    shards));
  if (const std::vector<int> stages = stagesThatSumOutOfOrder(table.schedule()); !stages.empty())
    notes.push_back(fmt::format("weight gradients of {} {} do not add up in ascending microbatch: "
                                "the same sums, rounded differently from those of other orders",
                                stages.size() == 1 ? "stage" : "stages", fmt::join(stages, ", ")));
  return notes;
}

std::vector<std::string> notesOn(const Job &job) {
  const std::string &schedule = job.pipeline.schedule.value;
  if (!namesTable(schedule))
    return {};
  const StatusOr<std::string> text = readTableFile(pathFromJob(job.file, schedule));
  if (!text.ok() || hashOfTable(*text) != job.pipeline.scheduleHash.value)
    return {}; // not the table any more that was judged
  const auto table = readTable(*text);
  return std::holds_alternative<OrderTable>(table) ? notesOn(std::get<OrderTable>(table))
                                                   : std::vector<std::string>();
}

} // namespace vime
