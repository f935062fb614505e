#include "compiler/Driver/OrderNotes.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/Frontend/OrderFile.h"
#include "compiler/Frontend/OrderShape.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Lowering/ReceiveSlotsOfJob.h"
#include "compiler/Verify/VerifyOrder.h"
#include "schedules/Registry.h"

namespace vime {
namespace {

template <typename Is> std::size_t count(const OrderTable &table, Is is) {
  std::size_t found = 0;
  for (const std::vector<TableEntry> &row : table.rows)
    found += static_cast<std::size_t>(std::count_if(
        row.begin(), row.end(), [&](const TableEntry &entry) { return is(entry.kind); }));
  return found;
}

int pairsOf(const Schedule &order) {
  std::ptrdiff_t pairs = 0;
  for (const std::vector<Task> &row : order.rows)
    pairs +=
        std::count_if(row.begin(), row.end(), [](const Task &task) { return task.overlapsNext; });
  return static_cast<int>(pairs);
}

void notePairs(int pairs, std::vector<std::string> &notes) {
  if (pairs > 0)
    notes.push_back(fmt::format("{} overlapped {}: the forward runs first, then the backward",
                                pairs, pairs == 1 ? "pair" : "pairs"));
}

void noteSums(const Schedule &order, std::vector<std::string> &notes) {
  const std::vector<int> stages = stagesThatSumOutOfOrder(order);
  if (stages.empty())
    return;
  const std::string which = stages.size() == 1 ? fmt::format("stage {}", stages.front())
                            : stages.size() == order.placement.size()
                                ? "all stages"
                                : fmt::format("stages {}", fmt::join(stages, ", "));
  notes.push_back(fmt::format("weight gradients of {} do not add up in ascending microbatch: the "
                              "same sums, rounded differently from those of other orders",
                              which));
}

// What a plan mends, but whoever runs the table as it is does not.
void noteStandstill(const OrderTable &table, std::string_view how,
                    std::vector<std::string> &notes) {
  constexpr std::size_t kShown = 4;
  const std::vector<TableEntry> circle = standstillAsWritten(table);
  if (circle.empty())
    return;
  std::vector<std::string> stops;
  for (const TableEntry &entry : circle)
    if (stops.size() < kShown)
      stops.push_back(fmt::format("rank {} stops at `{}` ({}:{})", entry.place.line - 1,
                                  toText(entry), entry.place.line, entry.place.column));
  if (circle.size() > kShown)
    stops.push_back(fmt::format("{} more", circle.size() - kShown));
  notes.push_back(fmt::format("run {}, each send until it is received, the table would never "
                              "finish: {}; the plan's clock orders its transfers "
                              "anew, and `vimec order TABLE --format=csv --with=transfers` writes "
                              "a table that finishes",
                              how, fmt::join(stops, ", ")));
}

// What stated slots cost where the job says what transfers do.
void noteSlots(const Schedule &order, const Job &job, std::vector<std::string> &notes) {
  const auto &stated = job.pipeline.receiveSlots;
  if (stated.value.empty() || !hasTransferCost(job))
    return;
  const SlotsWorth worth = worthOfSlots(order, job);
  constexpr double kHardlyMore = 1.005;
  if (worth.stated > kHardlyMore * worth.best)
    notes.push_back(fmt::format("with these `receive_slots` a step takes {:.1f} % longer than with "
                                "{}, at the costs of the job",
                                100.0 * (worth.stated - worth.best) / worth.best, worth.slots));
}

// Of those that are not searched: these add up in ascending microbatch, and have no pairs.
std::vector<std::string> notesOnNamed(const Order &order, const Job &job) {
  std::vector<std::string> notes;
  if (order.takes.costs)
    return notes;
  const Schedule schedule = order.build(shapeOf(job));
  notePairs(pairsOf(schedule), notes);
  noteSums(schedule, notes);
  noteSlots(schedule, job, notes);
  return notes;
}

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

} // namespace

std::vector<std::string> notesOnImport(OrderTable table) {
  std::vector<std::string> notes = notesOnNotation(table);
  bool hasGroups = false;
  for (std::vector<TableEntry> &row : table.rows)
    for (TableEntry &entry : row)
      hasGroups |= std::exchange(entry.startsWithNext, false);
  noteStandstill(
      table, hasGroups ? "without groups, which PyTorch's notation has not" : "as it is written",
      notes);
  return notes;
}

std::vector<std::string> notesOn(const OrderTable &table) {
  std::vector<std::string> notes = notesOnNotation(table);
  notePairs(table.pairs, notes);
  if (const std::size_t transfers = count(table, isTransfer))
    notes.push_back(
        fmt::format("{} transfers: the same messages travel, each when the plan's clock "
                    "has it",
                    transfers));
  noteStandstill(table, "as it is written", notes);
  if (const std::size_t shards =
          count(table, [](CellKind kind) { return kind > CellKind::ReceiveBackward; }))
    notes.push_back(
        fmt::format("{} cells of UNSHARD, RESHARD, REDUCE_GRAD: nothing is done for them; "
                    "when parameters are whole the job says, gradients are reduced behind the "
                    "last task of the step",
                    shards));
  noteSums(table.schedule(), notes);
  return notes;
}

std::vector<std::string> notesOn(const Job &job) {
  const std::string &schedule = job.pipeline.schedule.value;
  if (!namesTable(schedule)) {
    const Order *order = findOrder(schedule);
    return order ? notesOnNamed(*order, job) : std::vector<std::string>();
  }
  const StatusOr<std::string> text = readTableFile(pathFromJob(job.file, schedule));
  if (!text.ok() || hashOfTable(*text) != job.pipeline.scheduleHash.value)
    return {}; // not the table any more that was judged
  const auto table = readTable(*text);
  if (!std::holds_alternative<OrderTable>(table))
    return {};
  std::vector<std::string> notes = notesOn(std::get<OrderTable>(table));
  noteSlots(std::get<OrderTable>(table).schedule(), job, notes);
  return notes;
}

} // namespace vime
