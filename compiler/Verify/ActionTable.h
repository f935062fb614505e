// ActionTable: a plan as flat arrays over its ranks, built once: what the judges read.
//
//   for (const RankView &rank : table.ranks())
//     for (std::uint32_t entry = rank.first; entry < rank.end; ++entry)
//       table.action(rank, entry).opcode
//
// An entry is one action of one rank, in dispatch order; the entries of all ranks stand behind each
// other. A loop over steps stays a loop: its body stands here once and is a segment with its trips.
// A loop over microbatches, in that body or outside, runs at most once per microbatch, so it is
// unrolled here and no judge needs to know that it was one; of a long one so many trips stand here
// as show what all do (LongLoops.h). Of cases only those stand here that the
// choice takes; no judge needs to know that there were others.
//
// Of several replicas the leading one and the next stand for all (execution-model.md, Replicas):
// the table has their ranks and no others, under their own numbers.
//
// A message never crosses the edge of an iteration of a loop over steps (C1), so the k-th send of a
// channel meets the k-th receive of the same segment and iteration, and entries can be matched by
// counting.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/Verify/Choices.h"
#include "runtime/Plan/Plan.h"

namespace vime::verify {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

struct Entry {
  std::uint32_t action;         // index in the rank's program
  std::uint32_t iteration : 20; // of an unrolled loop
  std::uint32_t piece : 12;     // index in RankView::pieces
};
constexpr std::uint32_t kMaxTrips = 1u << 20, kMaxPieces = 1u << 12;

/// Entries with one clock: time = start + iteration * period + base, in the first step.
struct Piece {
  std::int64_t start = 0;
  std::int64_t period = 0;
  std::uint32_t first = 0;   // trips of the loop in front, by which microbatches advance
  std::int64_t hidden = 0;   // time of the trips of that loop that do not stand here (LongLoops.h)
  std::uint32_t segment = 0; // index in RankView::segments
  bool isShortened = false;  // a loop of which not all trips stand here
};

/// The body of a loop over steps, or all that stands between two of them.
struct Segment {
  std::uint32_t first = 0, end = 0; // entries
  std::uint32_t loop = kNone;       // its global id
  std::uint64_t trips = 1;
  std::int64_t start = 0, period = 0;
  bool isLoop() const { return loop != kNone; }
};

/// The slots of a buffer that microbatches can use, in the rank's own numbering of slots.
struct SlotRange {
  std::uint32_t first = 0, count = 0;
};

struct RankView {
  std::uint32_t rank = 0;
  const plan::Program *program = nullptr;
  const plan::Layout *layout = nullptr;
  std::uint32_t first = 0, end = 0; // entries
  std::uint32_t firstLane = 0;      // of its lanes in ActionTable::lanes()
  std::vector<Piece> pieces;
  std::vector<Segment> segments;
  std::vector<std::uint32_t> stages;  // of the plan, for each local stage
  std::vector<std::uint32_t> quiet;   // entries behind which all lanes are drained, ascending
  std::vector<std::uint32_t> drained; // entries in front of which they are: behind a loop that ends
                                      // on a condition
  std::vector<SlotRange> slots;       // of each buffer
  std::uint64_t boundaryBytes = 0;    // most that passes between stages of a microbatch
  std::uint32_t slotCount = 0;
};

struct LaneView {
  std::uint32_t rank = 0, lane = 0;
  std::uint32_t first = 0, end = 0; // its entries in ActionTable::dispatched()
  std::uint32_t stream = kNone;     // index of its channel, or in ActionTable::groups()
  std::uint32_t partner = kNone;    // the lane at the other end; of a group the root's
};

struct Channel {
  std::uint32_t source = 0, destination = 0;
  plan::Flow flow = plan::Flow::Forward;
  std::vector<std::uint32_t> sendLanes, receiveLanes; // one of each, or C1 refuses it
  bool matched = false; // one lane at each end, as many sends as receives in every segment
};

/// A group of the plan at one coordinate along the axes that it does not run along.
struct GroupView {
  std::uint32_t group = 0;            // index in Plan::groups
  std::uint32_t root = 0;             // index in `members`
  std::vector<std::uint32_t> members; // ranks of the table, ascending
  std::vector<std::uint32_t>
      lanes;            // of each member; kNone if it has none, the last one if it has several
  bool matched = false; // every member has one lane and as many calls in every segment
};

/// A stage of any of the plan's models.
struct StageView {
  std::uint32_t model = 0, stage = 0;   // index in Plan::models and in its stages
  bool isFirst = false, isLast = false; // of its copy of the model
  std::uint32_t copy = 0, copies = 1;   // of the model; a microbatch passes through one of them
  std::uint32_t original = 0;           // its like in the first copy, in ActionTable::stages()
  bool runs(std::uint32_t microbatch) const { return microbatch % copies == copy; }
};

class ActionTable {
public:
  /// The plan must have passed `verifyIndicesInRange` and outlive the table.
  explicit ActionTable(const plan::Plan &plan, const Choice &choice = {});

  const plan::Plan &plan() const { return source; }
  const Choice &choice() const { return chosen; }
  /// Of a step.
  std::uint32_t microbatches() const { return stepMicrobatches; }
  /// Those that an action can be of.
  std::uint32_t microbatchesOf(plan::Opcode opcode) const {
    return plan::isEvaluation(opcode) ? evaluationMicrobatches() : stepMicrobatches;
  }
  std::uint32_t evaluationMicrobatches() const {
    return source.evaluation.microbatches - chosen.hiddenEvaluated;
  }
  std::span<const RankView> ranks() const { return rankViews; }
  std::span<const LaneView> lanes() const { return laneViews; }
  std::span<const Channel> channels() const { return channelViews; }
  std::span<const GroupView> groups() const { return groupViews; }
  /// Replicas in the table, and the ranks of one.
  std::uint32_t replicas() const {
    return (static_cast<std::uint32_t>(rankViews.size()) - source.mesh.engines) /
           source.mesh.pipeline;
  }
  std::span<const RankView> replica(std::uint32_t index) const {
    return ranks().subspan(std::size_t{index} * source.mesh.pipeline, source.mesh.pipeline);
  }
  std::span<const StageView> stages() const { return stageViews; }
  /// All ranks run the same loops over steps, so that their segments stand for each other.
  bool segmentsAgree() const { return agree; }

  std::size_t size() const { return entries.size(); }
  const Entry &operator[](std::uint32_t entry) const { return entries[entry]; }
  const plan::Action &action(const RankView &rank, std::uint32_t entry) const {
    return rank.program->actions[entries[entry].action];
  }
  std::uint32_t microbatch(const RankView &rank, std::uint32_t entry) const {
    const plan::Action &action = this->action(rank, entry);
    const std::uint32_t first = rank.pieces[entries[entry].piece].first;
    return action.microbatch + std::uint32_t{action.step} * (first + entries[entry].iteration);
  }
  /// In the first iteration of its segment.
  std::int64_t time(const RankView &rank, std::uint32_t entry) const {
    const Piece &piece = rank.pieces[entries[entry].piece];
    return piece.start + entries[entry].iteration * piece.period + action(rank, entry).time;
  }
  std::uint32_t segment(const RankView &rank, std::uint32_t entry) const {
    return rank.pieces[entries[entry].piece].segment;
  }
  /// Entries lane by lane, on each in dispatch order.
  std::span<const std::uint32_t> dispatched() const { return byLane; }
  std::span<const std::uint32_t> dispatched(const LaneView &lane) const {
    return std::span(byLane).subspan(lane.first, lane.end - lane.first);
  }
  const LaneView &lane(const RankView &rank, std::uint32_t lane) const {
    return laneViews[rank.firstLane + lane];
  }
  const plan::Lane &laneOf(const LaneView &lane) const {
    return rankViews[lane.rank].program->lanes[lane.lane];
  }
  const RankView &rankOf(std::uint32_t entry) const;

private:
  void addStages();
  void addRank(std::uint32_t rank);
  void addSlots(RankView &rank) const;
  void sortByLane(const RankView &rank);
  void findChannels();
  void findGroups();
  GroupView viewOf(std::uint32_t group, std::uint32_t first) const;
  void findMembers(std::uint32_t index);
  bool sameSegments(const LaneView &one, const LaneView &other) const;

  const plan::Plan &source;
  const Choice chosen;
  const std::uint32_t stepMicrobatches;
  std::vector<Entry> entries;
  std::vector<std::uint32_t> byLane;
  std::vector<RankView> rankViews;
  std::vector<LaneView> laneViews;
  std::vector<Channel> channelViews;
  std::vector<GroupView> groupViews;
  std::vector<StageView> stageViews;
  std::vector<std::uint32_t> firstStage; // of each model in stageViews
  bool agree = true;
};

} // namespace vime::verify
