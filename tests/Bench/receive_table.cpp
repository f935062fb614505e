// Where receives stand: PyTorch's two places and ours, over its 280 tables, simulated: which of
// them never end over which queues, how long a step takes and how many messages a rank has room
// for.
//
//     receive_table [TRANSFER]     a transfer beside tasks of 10; 5 if left out
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "schedules/PyTorchTransfers.h"
#include "schedules/SlotsForCosts.h"
#include "schedules/UnitTime.h"
#include "tests/schedules/PyTorchShapes.h"

namespace {

using namespace vime;

// Of those that end, the mean.
struct Times {
  double sum = 0;
  int ended = 0, stuck = 0;
  void add(std::optional<std::int64_t> time, std::int64_t dataflow) {
    if (!time) {
      ++stuck;
      return;
    }
    ++ended;
    sum += static_cast<double>(*time) / static_cast<double>(dataflow) - 1;
  }
  std::string text() const {
    const std::string mean = ended == 0 ? "-" : fmt::format("{:+.1f}%", 100 * sum / ended);
    return stuck == 0 ? mean : fmt::format("{} ({} stuck)", mean, stuck);
  }
};

struct Row {
  int tables = 0;
  Times two, chosen, early, pair, direction;
  int held = 0, heldEarly = 0, heldDeferred = 0, buffers = 0;
};

void add(Row &row, const PyTorchShape &table, UnitCosts costs) {
  const Schedule order = table.order->build(table.shape);
  const int microbatches = table.shape.microbatches;
  const std::int64_t dataflow = simulate(order, costs).makespan;
  const ReceiveSlots slots{{slotsForCosts(order, microbatches, costs)}};
  const auto ours = rowsOf(*layClock(order, microbatches, slots), order, microbatches, slots);
  const TransferRows early = *transfersAsPyTorch(order, microbatches);
  const TransferRows deferred = deferredReceives(early);
  ++row.tables;
  row.two.add(timeWithSlots(order, microbatches, costs, {}), dataflow);
  row.chosen.add(rendezvous(ours, costs, Queues::PerFlow), dataflow);
  row.early.add(rendezvous(early, costs, Queues::PerPair), dataflow);
  row.pair.add(rendezvous(deferred, costs, Queues::PerPair), dataflow);
  row.direction.add(rendezvous(deferred, costs, Queues::PerDirection), dataflow);
  row.held += mostHeld(ours);
  row.heldEarly += mostHeld(early);
  row.heldDeferred += mostHeld(deferred);
  row.buffers += mostReceived(early);
}

void print(std::string_view name, const Row &row) {
  const auto mean = [&](int sum) { return fmt::format("{:.1f}", 1.0 * sum / row.tables); };
  fmt::print("{:<16}{:>7}{:>9}{:>9}{:>9}{:>20}{:>19}{:>8}{:>8}{:>10}{:>9}\n", name, row.tables,
             row.two.text(), row.chosen.text(), row.early.text(), row.pair.text(),
             row.direction.text(), mean(row.held), mean(row.heldEarly), mean(row.heldDeferred),
             mean(row.buffers));
}

} // namespace

int main(int count, char **arguments) {
  const UnitCosts costs{10, 10, 10, count > 1 ? std::atoi(arguments[1]) : 5};
  if (costs.transfer < 1) {
    std::fputs("receive_table: a transfer costs 1 at least\n", stderr);
    return 1;
  }
  fmt::print("tasks of 10, a transfer {}; of a step the mean above the makespan in which transfers "
             "hold nobody\n\n{:<16}{:>7}{:>18}{:>9}{:>20}{:>19}{:>8}{:>27}\n"
             "{:<16}{:>7}{:>9}{:>9}{:>9}{:>20}{:>19}{:>8}{:>8}{:>10}{:>9}\n",
             costs.transfer, "", "", "ours", "PyTorch", "deferred, one queue", "one for each",
             "held", "held, PyTorch's", "order", "tables", "2 slots", "chosen", "", "for a pair",
             "direction", "ours", "early", "deferred", "buffers");
  Row all;
  std::map<std::string_view, Row> rows;
  std::vector<std::string_view> names;
  for (const PyTorchShape &table : pyTorchShapes()) {
    if (!rows.contains(table.order->name))
      names.push_back(table.order->name);
    add(rows[table.order->name], table, costs);
    add(all, table, costs);
  }
  for (const std::string_view name : names)
    print(name, rows[name]);
  print("all", all);
  return 0;
}
