// OperandRules: which buffers an action may be given, so that no routine reads or writes past one.
//
// Derived from the operand table of Opcode.cpp and the regions of ModelSpec: an operand called
// `stash` must be a stash of the action's stage with as many bytes as the stage keeps for a
// microbatch. Made once for a rank, then asked for every operand of every action.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/ModelSpec/EngineRegions.h"
#include "runtime/ModelSpec/StageShare.h"
#include "runtime/Plan/Plan.h"

namespace vime::plan {

inline constexpr std::size_t kMostOperands = 13;

struct OperandRule {
  enum class Presence : std::uint8_t { Required, Optional, Absent };
  Presence presence = Presence::Required;
  std::uint64_t ownKinds = 0;   // bit per BufferKind: of the action's stage, or of none
  std::uint64_t otherKinds = 0; // of another stage: an output may be the next stage's input
  std::uint32_t slots = 1;      // at least
  std::uint64_t bytes = 0;      // of a slot, at least
  std::uint64_t extent = 0;     // of all slots, at least

  bool accepts(const Buffer &buffer, std::uint16_t stage) const {
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(buffer.kind);
    const bool own = buffer.stage == stage || buffer.stage == kNoStage;
    return (bit & (own ? ownKinds : otherKinds)) != 0 && buffer.count >= slots &&
           buffer.bytes >= bytes && buffer.extent() >= extent;
  }
};

using OperandRuleList = std::array<OperandRule, kMostOperands>;

class OperandRules {
public:
  /// Common part, layout, lanes and stage table of the rank have been checked.
  OperandRules(const Plan &plan, std::uint32_t rank);

  /// `lane` and `stage` are in range and the lane is of the signature's kind.
  const OperandRuleList &of(const Signature &signature, std::uint8_t lane,
                            std::uint16_t stage) const;

private:
  OperandRuleList stageRules(const Signature &signature, std::uint32_t stage) const;
  bool countsLosses() const;
  OperandRule stageRule(const Signature &signature, const OperandSignature &operand,
                        std::uint32_t stage) const;
  OperandRuleList laneRules(const Lane &lane) const;
  OperandRuleList groupRules(const Group &group) const;
  std::uint64_t bytesOf(BufferKind kind, Opcode opcode, std::uint32_t stage) const;
  std::uint64_t workspaceOf(Opcode opcode, std::uint32_t stage) const;
  bool isAbsent(const Signature &signature, const OperandSignature &operand,
                std::uint32_t stage) const;
  bool isShared(std::uint32_t stage) const { return regions[stage].weightShareBytes != 0; }

  const Plan &plan;
  std::uint32_t rank;
  std::uint64_t tokens, mostStages;      // of a rank
  std::vector<StageSpec> specs;          // per entry of the stage table
  std::vector<ParameterRegions> regions; // likewise
  std::vector<bool> isTrained;           // likewise
  EngineRegions engine;                  // of a rank that generates
  std::vector<OperandRuleList> byStage;  // signature · stages + stage
  std::vector<OperandRuleList> byLane;   // of transfers and collectives
};

} // namespace vime::plan
