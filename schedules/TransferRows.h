// TransferRows: what every rank does in its sequence, tasks and ends of transfers alike; and how
// long that takes if a message passes only while both of its ends wait for it.
//
//   const auto rows = rowsOf(*layClock(order, 8), order);
//   rendezvous(rows, {10, 10, 10, /*transfer=*/1}, Queues::PerFlow) // the makespan; nothing: stuck
//
// A rank goes through its row: it runs tasks and posts ends of transfers, and goes on at once
// behind a post. A task waits for the message it needs. Posts of one queue pass in their sequence,
// so whoever shares a queue decides what can get stuck.
#pragma once

#include "schedules/PipelineClock.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace vime {

struct RowAction {
  enum class Kind : std::uint8_t { Task, Send, Receive };
  Kind kind;
  Task task; // of a transfer: the one that makes the message
  bool operator==(const RowAction &) const = default;
};

struct TransferRows {
  Placement placement;
  int microbatches = 0;
  int copies = 1;
  std::vector<std::vector<RowAction>> rows; // by rank
  ReceiveSlots slots{};
  /// A message is written into the slot of an earlier one, which must have passed: as many slots
  /// as its receiver has, two at least. Else each has a place of its own.
  bool reusesSlots = false;
};

/// The part of the clock that each rank runs.
TransferRows rowsOf(const PipelineClock &clock, const Schedule &order, int microbatches,
                    const ReceiveSlots &slots = {});

/// What transfers share: all those of two ranks, those that go one way between them, or those that
/// go one way and are of one kind, activations or gradients.
enum class Queues : std::uint8_t { PerPair, PerDirection, PerFlow };

/// The end of the last task.
std::optional<std::int64_t> rendezvous(const TransferRows &rows, UnitCosts costs, Queues queues);

/// Of the rank that has most: places for received messages, as many for each of its stages and each
/// way as are taken at once, from the post of the receive to the end of the last task that reads
/// it.
int mostHeld(const TransferRows &rows);

/// Of the rank that has most: messages that it receives in a step.
int mostReceived(const TransferRows &rows);

} // namespace vime
