// Which stage a chunk is: the table does not say, but its maker meant the answer under which the
// order finishes, and soonest.
#include "schedules/PlaceChunks.h"
#include "schedules/UnitTime.h"

#include <algorithm>

namespace vime {

namespace {

struct Candidate {
  std::string_view name;
  int (*stageOf)(int rank, int chunk, int ranks);
  int copies = 1;
};

constexpr Candidate kCandidates[] = {
    {"loop", [](int rank, int chunk, int ranks) { return chunk * ranks + rank; }},
    {"vee", [](int rank, int chunk,
               int ranks) { return chunk * ranks + (chunk % 2 == 0 ? rank : ranks - 1 - rank); }},
};

// Against each other: down the ranks the first copy of the model, up the second.
constexpr Candidate kBothWays{"both ways",
                              [](int rank, int chunk, int ranks) {
                                return chunk * ranks + (chunk == 0 ? rank : ranks - 1 - rank);
                              },
                              /*copies=*/2};

OrderTable placed(OrderTable table, const Candidate &candidate) {
  const int ranks = static_cast<int>(table.rows.size());
  for (int rank = 0; rank < ranks; ++rank)
    for (TableEntry &entry : table.rows[static_cast<std::size_t>(rank)])
      if (entry.kind != CellKind::Idle)
        entry.stage = candidate.stageOf(rank, entry.stage, ranks);
  table.chunksAre = candidate.name;
  return table;
}

struct Run {
  std::size_t tasks = 0; // that ran before the order finished or was stuck
  std::int64_t makespan = 0;
};

Run runOf(const OrderTable &table, int copies) {
  Schedule order = table.schedule();
  order.copies = copies;
  const UnitTimes times = simulate(order);
  Run run{0, times.makespan};
  for (const auto &starts : times.start)
    run.tasks += static_cast<std::size_t>(
        std::count_if(starts.begin(), starts.end(), [](std::int64_t start) { return start >= 0; }));
  return run;
}

std::size_t tasksOf(const OrderTable &table) {
  std::size_t tasks = 0;
  for (const std::vector<TableEntry> &row : table.rows)
    tasks += static_cast<std::size_t>(std::count_if(
        row.begin(), row.end(), [](const TableEntry &entry) { return isTask(entry.kind); }));
  return tasks;
}

// The first task of the second copy.
TableProblem twoCopies(const OrderTable &table) {
  for (const std::vector<TableEntry> &row : table.rows)
    for (const TableEntry &entry : row)
      if (entry.stage == 1 && isTask(entry.kind))
        return {entry.place,
                "the table runs two copies of the model, one down the ranks and one up",
                "a table has one copy of every stage"};
  return {};
}

// So few of the tasks that its numbers speak of that nothing is to be learnt from running them.
bool isSparse(const OrderTable &table, std::size_t tasks) {
  const auto forwards = static_cast<std::size_t>(table.stages()) * table.rows.size() *
                        static_cast<std::size_t>(table.microbatches());
  return forwards > 4 * tasks;
}

} // namespace

std::optional<TableProblem> placeChunks(OrderTable &table, std::string_view placement) {
  const int chunks = table.stages();
  const std::size_t all = tasksOf(table);
  if (isSparse(table, all)) {
    table = placed(std::move(table), kCandidates[placement == "vee"]);
    return std::nullopt;
  }
  std::optional<OrderTable> best;
  Run bestRun;
  for (const Candidate &candidate : kCandidates) {
    if (placement.empty() ? chunks == 1 && candidate.name != "loop" : candidate.name != placement)
      continue;
    OrderTable answer = placed(table, candidate);
    const Run run = runOf(answer, /*copies=*/1);
    const bool isSooner = run.tasks == bestRun.tasks && run.makespan < bestRun.makespan;
    if (!best || run.tasks > bestRun.tasks || isSooner) {
      best = std::move(answer);
      bestRun = run;
    }
  }
  if (placement.empty() && bestRun.tasks < all && chunks == 2 &&
      runOf(placed(table, kBothWays), kBothWays.copies).tasks == all)
    return twoCopies(table);
  table = std::move(*best);
  return std::nullopt;
}

} // namespace vime
