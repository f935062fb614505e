// Durations: how long the things that a plan does take, in whole nanoseconds.
//
//   Durations units = unitDurations(plan);          // F = I = W = 1, B = 2, all else nothing
//   units.stages[3][Opcode::Backward]               // 2 * kUnit
//
// They are unit times of the field's pictures, what stages that sleep declare, or what was measured
// (Measured.h).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/Plan/Plan.h"
#include "schedules/Schedule.h"

namespace vime {

/// What one unit of the field's pictures is taken for.
constexpr std::int64_t kUnit = 1'000'000;

/// One duration for each opcode.
class OpcodeTimes {
public:
  std::int64_t &operator[](plan::Opcode opcode) { return times[placeOf(opcode)]; }
  std::int64_t operator[](plan::Opcode opcode) const { return times[placeOf(opcode)]; }

private:
  static constexpr std::size_t kFamilies = static_cast<std::size_t>(plan::Family::Rollout),
                               kPerFamily = 32; // 0x0100, 0x0200, …
  static constexpr std::size_t placeOf(plan::Opcode opcode) {
    return ((plan::code(opcode) >> 8) - 1u) * kPerFamily + (plan::code(opcode) & 0xFFu);
  }
  std::array<std::int64_t, kFamilies * kPerFamily> times{};
};

/// Of what passes between two ranks: of a message once both of its ends are there, and of each of
/// its bytes. A link carries one message after the other.
struct LinkTimes {
  std::int64_t latency = 0;
  double perByte = 0;
};

struct Durations {
  /// Of each stage of the plan's model: tasks of one whole microbatch, updates of a step.
  std::vector<OpcodeTimes> stages;
  OpcodeTimes ofRank; // of what belongs to no stage
  /// Of `generate`, on each engine; empty: as `ofRank` says.
  std::vector<std::int64_t> generation;

  std::int64_t dispatch = 0;        // of any action, by its rank
  std::int64_t boundaryLatency = 0; // of what passes between stages, besides that of its link
  LinkTimes near, far;              // between ranks of a node, and between nodes
  std::uint32_t ranksPerNode = 0;   // consecutive ones; 0: all ranks are on one node
  /// That the ranks of a node share. 0: each has its own.
  std::uint32_t coresPerNode = 0;

  std::uint32_t nodeOf(std::uint32_t rank) const {
    return ranksPerNode == 0 ? 0 : rank / ranksPerNode;
  }
  const LinkTimes &link(std::uint32_t one, std::uint32_t other) const {
    return nodeOf(one) == nodeOf(other) ? near : far;
  }
};

/// The costs of every stage's tasks and of a transfer, in units; nothing else takes time.
Durations unitDurations(const plan::Plan &plan, UnitCosts costs = {});

/// Of stages that sleep: as long as they are declared to; nothing else takes time.
Durations declaredDurations(const plan::Plan &plan);

} // namespace vime
