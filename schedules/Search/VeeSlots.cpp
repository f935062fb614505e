// Vee slots: when the passes of a rank with two stages run.
#include "schedules/Search/VeeSlots.h"
#include "schedules/Placement.h"
#include "schedules/RowBuilder.h"

#include <algorithm>

namespace vime {

int VeeRow::end() const {
  int end = 0;
  for (const std::vector<int> &pass : slots)
    end = std::max(end, pass.back() + 1);
  return end;
}

std::vector<VeeRow> repeated(const VeeBlock &block, int microbatches) {
  std::vector<VeeRow> rows(block.size());
  for (std::size_t rank = 0; rank < block.size(); ++rank)
    for (std::size_t pass = 0; pass < kVeePasses; ++pass)
      for (int microbatch = 0; microbatch < microbatches; ++microbatch)
        rows[rank].slots[pass].push_back(block[rank][pass] + kVeePeriod * microbatch);
  return rows;
}

namespace {

// Which chunk of a rank runs the pass.
int chunkOf(VeePass pass) { return pass == kDown || pass == kBackDown ? 0 : 1; }

std::vector<Task> tasksOf(const VeeRow &row, std::vector<int> stages) {
  const int end = row.end();
  std::vector<int> passAt(static_cast<std::size_t>(end), -1);
  for (int pass = 0; pass < kVeePasses; ++pass)
    for (const int slot : row.slots[static_cast<std::size_t>(pass)])
      passAt[static_cast<std::size_t>(slot)] = pass;
  RowBuilder tasks(std::move(stages), 6 * row.slots[kDown].size());
  std::array<int, 2> owed{}; // weight gradients, per chunk
  for (const int at : passAt) {
    if (at >= 0) {
      const auto pass = static_cast<VeePass>(at);
      const int chunk = chunkOf(pass);
      if (isForward(pass))
        tasks.at(chunk).forward();
      else
        tasks.at(chunk).backwardInput(), ++owed[static_cast<std::size_t>(chunk)];
    } else if (owed[1] > 0) {
      tasks.at(1).backwardWeight(), --owed[1];
    } else if (owed[0] > 0) {
      tasks.at(0).backwardWeight(), --owed[0];
    }
  }
  tasks.at(1).backwardWeight(owed[1]);
  tasks.at(0).backwardWeight(owed[0]);
  return tasks.take();
}

} // namespace

Schedule orderOf(const std::vector<VeeRow> &rows) {
  const ScheduleShape shape{.ranks = static_cast<int>(rows.size()),
                            .microbatches = static_cast<int>(rows[0].slots[kDown].size()),
                            .chunks = 2};
  Schedule order{veePlacement(shape), {}};
  for (int rank = 0; rank < shape.ranks; ++rank)
    order.rows.push_back(
        tasksOf(rows[static_cast<std::size_t>(rank)], stagesOf(order.placement, rank)));
  return order;
}

} // namespace vime
