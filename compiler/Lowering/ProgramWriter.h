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

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime {

/// Members whose dispatcher waits for a call.
enum class Waiting : std::uint8_t { Nobody, AllButRoot, Everybody };

/// Of an action: its microbatch, and by how much it advances with the loop around it or in front of
/// it.
struct MovingMicrobatch {
  std::uint32_t index = 0;
  std::uint8_t step = 0;
};

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
                plan::BufferKind content, MovingMicrobatch microbatch = {});
  /// The group's operation on `member` and all who are in the group with it. Until the memory phase
  /// names a buffer, `immediate` says in which slot weights are unsharded.
  void collective(plan::Opcode opcode, std::uint32_t group, std::uint32_t member,
                  Waiting waiting = Waiting::Nobody, std::uint32_t stage = 0,
                  std::uint16_t immediate = 0);
  /// The same on all members, in ascending order, each for a stage of its own.
  void collective(plan::Opcode opcode, std::uint32_t group, const std::vector<End> &members,
                  Waiting waiting, std::uint16_t immediate = 0);
  /// An action on the rank's lane of the kind that the opcode asks for.
  void local(std::uint32_t rank, plan::Opcode opcode, std::uint32_t stage = 0,
             MovingMicrobatch microbatch = {}, std::uint16_t immediate = 0, std::uint8_t flags = 0);
  /// The latest action of the rank runs only where this entry of the condition table holds.
  void guard(std::uint32_t rank, std::uint8_t condition);

  void beginLoop(std::uint32_t id, std::uint32_t trips, std::uint8_t until = 0);
  void endLoop();

  /// A pass counts its own time, from here on; `notBefore` says the earliest of the next actions.
  void beginPass();
  void notBefore(std::int64_t time) { earliest = passStart + time; }
  void endPass() { earliest = kAnyTime; }
  /// Of a pass: what is appended until `endTrips`, to every rank something, is the first trip. Its
  /// times begin at `start` and end before `start + period`. The pass goes on as behind `shown`
  /// trips.
  struct Trips {
    std::uint32_t loop;    // its global id
    std::uint32_t trips;   // of a whole step
    std::uint32_t perTrip; // plan::Loop::perTrip
    std::uint32_t shown;
    std::int64_t start, period;
  };
  void beginTrips(const Trips &loop);
  void endTrips(const Trips &loop);
  /// What is appended until `endCase` runs only where the condition holds.
  void beginCase(std::uint8_t condition);
  void endCase();

  /// Keeps of equal programs of both replicas one; nothing can be appended afterwards.
  void shareEqualPrograms();

private:
  std::uint8_t laneOf(std::uint32_t rank, const plan::Lane &lane);
  std::uint8_t groupLaneOf(std::uint32_t rank, std::uint32_t group);
  std::vector<std::uint32_t> membersOf(std::uint32_t group, std::uint32_t member) const;
  plan::Action &append(std::uint32_t rank, plan::Opcode opcode, std::uint8_t lane,
                       std::uint32_t stage, MovingMicrobatch microbatch, std::uint16_t immediate,
                       std::int32_t time);
  plan::Peer peerOf(std::uint32_t from, std::uint32_t to, plan::Flow flow) const;

  plan::Plan &plan;
  const std::uint32_t ranks;
  static constexpr std::int64_t kAnyTime = std::numeric_limits<std::int32_t>::min();
  std::int32_t after(std::int32_t before) const {
    return static_cast<std::int32_t>(std::max<std::int64_t>(before + 1, earliest));
  }
  std::int32_t latestOfAll() const { return *std::max_element(latest.begin(), latest.end()); }

  std::vector<std::int32_t> latest; // by rank: time of its last action in this segment; -1: none
  std::int64_t segmentStart = 0;    // of those outside of loops, from the start of the program
  std::int64_t origin = 0;          // of present times, in the iteration of the loop over steps
  std::size_t outermost = 0;        // index of the open loop over steps, in each program
  std::int64_t passStart = 0;       // of the pass, in present times
  std::int64_t earliest = kAnyTime;
  struct KnownLane {
    plan::LaneKind kind;
    plan::Flow flow;
    std::uint32_t peer; // or group
    std::uint8_t lane;
  };
  std::vector<std::vector<KnownLane>> known; // by rank; few entries each
};

} // namespace vime
