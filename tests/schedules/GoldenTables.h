// The tables under golden/: orders as PyTorch and as the makers of the zero-bubble family write
// them.
#pragma once

#include <string>
#include <vector>

#include "schedules/Schedule.h"

namespace vime {

struct GoldenTable {
  std::string name;     // `2.5/Interleaved1F1B_pp2_v2_mb4.comms`
  std::string schedule; // `Interleaved1F1B`
  std::string content;  // `compute`, `sendrecv`, `merged_sendrecv`, `comms`
  bool isOld = false;   // written as PyTorch 2.5 does
  ScheduleShape shape{};
  std::string text;
};

std::vector<GoldenTable> goldenTables();

/// What the tables say of themselves, for the compute-only ones of today's notation.
struct GoldenMetrics {
  std::string schedule;
  ScheduleShape shape{};
  double makespan = 0, bubble = 0; // F = I = W = 1, B = 2, transfers free
  std::string peaks;               // activations alive at once, of each rank: `4 3 2 1`
};

std::vector<GoldenMetrics> goldenMetrics();

/// golden/zero-bubble/NAME.csv, lines ended by a line feed alone.
std::string zeroBubbleTable(const std::string &name);

/// An order as those tables write it: `F3.0`, `B` and `W` for the halves of a backward, `BW` for a
/// whole one, `[F7.0&BW3.1]` for a pair, `F3.0s2` for slice 2. Idle slots are left out. Where there
/// are two copies of the model, each is a chunk with microbatches of its own.
std::string inZeroBubbleNotation(const Schedule &order);

} // namespace vime
