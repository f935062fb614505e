// ProgramWriter: appends actions to the programs of all ranks and stamps them with the logical
// clock.
//
// The caller names things once, in an order in which they may happen; a transfer or collective is
// appended to all its members in one call and gets one time. Time of a new action: one step above
// the latest of its members, so that every rank's dispatch order ascends and both ends of a
// transfer agree, whatever the caller does.
//
// Written are the ranks that stand for all (runtime/Plan/Mesh.h): the leading replica and one
// other.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime {

/// Members whose dispatcher waits for a call.
enum class Waiting : std::uint8_t { Nobody, AllButRoot, Everybody };

class ProgramWriter {
public:
  /// The plan's mesh is known.
  explicit ProgramWriter(plan::Plan &plan);

  /// One end of a transfer: the rank, and the stage there that makes or takes the message (0 where
  /// none does).
  struct End {
    std::uint32_t rank;
    std::uint32_t chunk = 0;
  };
  /// A send and its receive, on lanes made at first use. Until the memory phase names a buffer,
  /// `stage` says whose and `immediate` which: `content` tells the messages of a data or metrics
  /// channel apart.
  void transfer(End source, End destination, plan::Flow flow, plan::Message message,
                plan::BufferKind content, std::uint32_t microbatch = 0);
  /// The group's operation on `member` and all who are in the group with it.
  void collective(plan::Opcode opcode, std::uint32_t group, std::uint32_t member,
                  Waiting waiting = Waiting::Nobody, std::uint32_t stage = 0);
  /// An action on the rank's lane of the kind that the opcode asks for.
  void local(std::uint32_t rank, plan::Opcode opcode, std::uint32_t stage = 0,
             std::uint32_t microbatch = 0, std::uint16_t immediate = 0, std::uint8_t flags = 0);
  /// The latest action of the rank runs only where this entry of the condition table holds.
  void guard(std::uint32_t rank, std::uint8_t condition);

  void beginLoop(std::uint32_t id, std::uint32_t trips, std::uint8_t until = 0);
  void endLoop();
  /// What is appended until `endCase`, to every rank something, runs only where the condition
  /// holds.
  void beginCase(std::uint8_t condition);
  void endCase();

  /// Keeps of equal programs of both replicas one; nothing can be appended afterwards.
  void shareEqualPrograms();

private:
  std::uint8_t laneOf(std::uint32_t rank, const plan::Lane &lane);
  std::uint8_t groupLaneOf(std::uint32_t rank, std::uint32_t group);
  std::vector<std::uint32_t> membersOf(std::uint32_t group, std::uint32_t member) const;
  plan::Action &append(std::uint32_t rank, plan::Opcode opcode, std::uint8_t lane,
                       std::uint32_t stage, std::uint32_t microbatch, std::uint16_t immediate,
                       std::int32_t time);
  plan::Peer peerOf(std::uint32_t from, std::uint32_t to, plan::Flow flow) const;

  plan::Plan &plan;
  const std::uint32_t ranks;
  std::vector<std::int32_t> latest; // by rank: time of its last action in this segment; -1: none
  std::int64_t segmentStart = 0;
  struct KnownLane {
    plan::LaneKind kind;
    plan::Flow flow;
    std::uint32_t peer; // or group
    std::uint8_t lane;
  };
  std::vector<std::vector<KnownLane>> known; // by rank; few entries each
};

} // namespace vime
