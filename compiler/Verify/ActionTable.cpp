// Building the table: entries rank by rank, then lanes, then who meets whom.
#include "compiler/Verify/ActionTable.h"

#include <algorithm>
#include <tuple>

#include "runtime/ModelSpec/Copies.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Loops.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/Slices.h"

namespace vime::verify {

using namespace plan;

namespace {

/// Appends the entries of a program and cuts them into pieces and segments.
class Unrolling {
public:
  Unrolling(const Plan &plan, const Choice &choice, RankView &rank, std::vector<Entry> &entries)
      : plan(plan), choice(choice), rank(rank), entries(entries) {}

  void run() {
    const Case *before = nullptr;
    for (const Stretch &stretch :
         stretchesOf(*rank.program, tripsOf(plan, *rank.program, choice))) {
      const bool isAbsent = stretch.within && drainsOnlyIfRun(plan, *stretch.within) &&
                            !runs(plan, *stretch.within, choice);
      if (!isAbsent && stretch.within != before) {
        drain();
        before = stretch.within;
      }
      const std::uint32_t segment = segmentOf(stretch.steps);
      const std::int64_t hidden = this->hidden(stretch); // also behind a loop that does not run
      if (stretch.within && !runs(plan, *stretch.within, choice))
        continue;
      const bool isShortened = stretch.loop != stretch.steps && behindLoop != 0;
      rank.pieces.push_back(
          {stretch.start, stretch.period, stretch.first, hidden, segment, isShortened});
      for (std::uint32_t iteration = 0; iteration < stretch.trips; ++iteration)
        append(stretch, iteration);
    }
  }

private:
  /// Behind a loop, up to the next one: what that one leaves out.
  std::int64_t hidden(const Stretch &stretch) {
    if (stretch.loop == stretch.steps)
      return behindLoop;
    behindLoop = 0;
    for (const ShortenedLoop &shortened : choice.shortened)
      if (stretch.loop->id == shortened.loop)
        behindLoop = shortened.hidden;
    return 0;
  }

  /// An edge of a case. Where its body begins with it, nothing is said: the first time round, what
  /// stands before it is outside.
  void drain() {
    const bool begins = rank.segments.empty() || rank.segments.back().first == size();
    if (!begins && (rank.quiet.empty() || rank.quiet.back() != size() - 1))
      rank.quiet.push_back(size() - 1);
  }

  /// The one that is open, or a new one: the body of a loop over steps, or what stands outside.
  std::uint32_t segmentOf(const Loop *steps) {
    if (rank.segments.empty() || steps != open) {
      if (!steps && open && open->until != 0)
        rank.drained.push_back(size());
      open = steps;
      behindLoop = 0;
      rank.segments.push_back({size(), size()});
      if (steps) {
        Segment &body = rank.segments.back();
        body.loop = steps->id;
        body.trips = steps->trips;
        body.start = steps->start;
        body.period = steps->period;
      }
    }
    return static_cast<std::uint32_t>(rank.segments.size() - 1);
  }

  void append(const Stretch &stretch, std::uint32_t iteration) {
    const auto piece = static_cast<std::uint32_t>(rank.pieces.size() - 1) % kMaxPieces;
    for (std::uint32_t action = stretch.begin; action < stretch.end; ++action)
      entries.push_back({action, iteration % kMaxTrips, piece});
    rank.segments.back().end = size();
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(entries.size()); }

  const Plan &plan;
  const Choice &choice;
  RankView &rank;
  std::vector<Entry> &entries;
  const Loop *open = nullptr;
  std::int64_t behindLoop = 0; // hidden by the latest loop over microbatches
};

bool sameLoops(const RankView &one, const RankView &other) {
  return std::equal(one.segments.begin(), one.segments.end(), other.segments.begin(),
                    other.segments.end(),
                    [](const Segment &mine, const Segment &its) { return mine.loop == its.loop; });
}

/// One end of a channel.
struct End {
  std::uint32_t source, destination;
  Flow flow;
  bool receives;
  std::uint32_t lane;
  auto channel() const { return std::tuple(source, destination, flow); }
  auto order() const { return std::tuple(source, destination, flow, receives, lane); }
};

} // namespace

ActionTable::ActionTable(const Plan &plan, const Choice &choice)
    : source(plan), chosen(choice), stepMicrobatches((valuesOf(plan, Decision::Microbatches).empty()
                                                          ? plan.data.microbatches
                                                          : choice.of(Decision::Microbatches)) -
                                                     choice.hidden) {
  const std::uint32_t ranks = representatives(plan.mesh);
  rankViews.reserve(ranks);
  std::size_t actions = 0;
  for (const std::uint32_t program : plan.programOf)
    actions += plan.programs[program].actions.size();
  entries.reserve(actions);
  addStages();
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    addRank(rank);
  byLane.resize(entries.size());
  for (const RankView &rank : rankViews) {
    sortByLane(rank);
    agree = agree && sameLoops(rankViews.front(), rank);
  }
  findChannels();
  findGroups();
}

void ActionTable::addStages() {
  for (std::uint32_t model = 0; model < source.models.size(); ++model) {
    const std::vector<StageRange> &stages = source.models[model].stages;
    const std::uint32_t depth = std::max(depthOf(stages), 1u), copies = copiesOf(stages);
    const auto first = static_cast<std::uint32_t>(stageViews.size());
    firstStage.push_back(first);
    for (std::uint32_t stage = 0; stage < stages.size(); ++stage)
      stageViews.push_back({.model = model,
                            .stage = stage,
                            .isFirst = stage % depth == 0,
                            .isLast = (stage + 1) % depth == 0,
                            .copy = stage / depth,
                            .copies = copies,
                            .original = first + stage % depth});
  }
}

void ActionTable::addRank(std::uint32_t rank) {
  RankView &view = rankViews.emplace_back();
  view.rank = rank;
  view.program = programOf(source, rank);
  view.layout = layoutOf(source, rank);
  view.first = static_cast<std::uint32_t>(entries.size());
  Unrolling(source, chosen, view, entries).run();
  view.end = static_cast<std::uint32_t>(entries.size());
  for (const LocalStage &local : view.program->stages)
    view.stages.push_back(firstStage[local.model] + local.stage);
  for (const LocalStage &local : view.program->stages) {
    const Model &model = source.models[local.model];
    const StageSpec spec = stageSpec(model.config, model.stages[local.stage], capsOf(source.data));
    view.boundaryBytes = std::max<std::uint64_t>(
        view.boundaryBytes, std::uint64_t{source.data.tokens} * spec.boundaryBytesPerToken);
  }
  addSlots(view);
  view.firstLane = static_cast<std::uint32_t>(laneViews.size());
  for (std::uint32_t lane = 0; lane < view.program->lanes.size(); ++lane)
    laneViews.push_back({.rank = rank, .lane = lane});
}

void ActionTable::addSlots(RankView &rank) const {
  const std::uint32_t most =
      std::max(source.data.microbatches - chosen.hidden, evaluationMicrobatches());
  for (const Buffer &buffer : rank.layout->buffers) {
    const std::uint32_t perSlot = microbatchesPerSlot(source.data, buffer.kind);
    const std::uint32_t used = std::min(buffer.count, (most + perSlot - 1) / perSlot);
    rank.slots.push_back({rank.slotCount, used});
    rank.slotCount += used;
  }
}

void ActionTable::sortByLane(const RankView &rank) {
  std::array<std::uint32_t, Wait::kMaxLanes> cursor{};
  for (std::uint32_t entry = rank.first; entry < rank.end; ++entry)
    ++cursor[action(rank, entry).lane];
  std::uint32_t next = rank.first;
  for (std::uint32_t lane = 0; lane < rank.program->lanes.size(); ++lane) {
    LaneView &view = laneViews[rank.firstLane + lane];
    view.first = next;
    view.end = next += cursor[lane];
    cursor[lane] = view.first;
  }
  for (std::uint32_t entry = rank.first; entry < rank.end; ++entry)
    byLane[cursor[action(rank, entry).lane]++] = entry;
}

bool ActionTable::sameSegments(const LaneView &one, const LaneView &other) const {
  const auto mine = dispatched(one), its = dispatched(other);
  return agree && std::equal(mine.begin(), mine.end(), its.begin(), its.end(),
                             [&](std::uint32_t entry, std::uint32_t met) {
                               return segment(rankViews[one.rank], entry) ==
                                      segment(rankViews[other.rank], met);
                             });
}

void ActionTable::findChannels() {
  std::vector<End> ends;
  for (std::uint32_t index = 0; index < laneViews.size(); ++index) {
    const Lane &lane = laneOf(laneViews[index]);
    if (lane.kind != LaneKind::Send && lane.kind != LaneKind::Receive)
      continue;
    const std::uint32_t own = laneViews[index].rank,
                        peer = resolvePeer(source.mesh, own, lane.peer);
    const bool receives = lane.kind == LaneKind::Receive;
    ends.push_back({receives ? peer : own, receives ? own : peer, lane.flow, receives, index});
  }
  std::sort(ends.begin(), ends.end(),
            [](const End &one, const End &other) { return one.order() < other.order(); });
  for (std::size_t index = 0; index < ends.size(); ++index) {
    const End &end = ends[index];
    if (index == 0 || ends[index - 1].channel() != end.channel())
      channelViews.push_back({end.source, end.destination, end.flow, {}, {}, false});
    Channel &channel = channelViews.back();
    (end.receives ? channel.receiveLanes : channel.sendLanes).push_back(end.lane);
    laneViews[end.lane].stream = static_cast<std::uint32_t>(channelViews.size() - 1);
  }
  for (Channel &channel : channelViews) {
    if (channel.sendLanes.size() != 1 || channel.receiveLanes.size() != 1)
      continue;
    LaneView &send = laneViews[channel.sendLanes[0]], &receive = laneViews[channel.receiveLanes[0]];
    send.partner = channel.receiveLanes[0];
    receive.partner = channel.sendLanes[0];
    channel.matched = sameSegments(send, receive);
  }
}

namespace {

bool isFirstMember(const Plan &plan, const Group &group, std::uint32_t rank) {
  if (!group.members.empty())
    return rank == group.members.front();
  return !plan.mesh.isEngine(rank) && memberIndex(plan.mesh, rank, group) == 0;
}

} // namespace

void ActionTable::findGroups() {
  for (std::uint32_t group = 0; group < source.groups.size(); ++group)
    for (const RankView &rank : rankViews)
      if (isFirstMember(source, source.groups[group], rank.rank))
        groupViews.push_back(viewOf(group, rank.rank));
  for (std::uint32_t index = 0; index < groupViews.size(); ++index)
    findMembers(index);
}

GroupView ActionTable::viewOf(std::uint32_t group, std::uint32_t first) const {
  const Group &of = source.groups[group];
  GroupView view{.group = group, .root = of.root};
  for (std::uint32_t index = 0; index < memberCount(source.mesh, of); ++index) {
    const std::uint32_t rank = memberRank(source.mesh, first, of, index);
    if (rank >= rankViews.size())
      break; // like those before it
    view.members.push_back(rank);
  }
  view.lanes.assign(view.members.size(), kNone);
  return view;
}

void ActionTable::findMembers(std::uint32_t index) {
  GroupView &view = groupViews[index];
  view.matched = true;
  for (std::size_t member = 0; member < view.members.size(); ++member) {
    const RankView &rank = rankViews[view.members[member]];
    for (std::uint32_t lane = 0; lane < rank.program->lanes.size(); ++lane)
      if (const Lane &fields = rank.program->lanes[lane];
          fields.kind == LaneKind::Group && fields.group == view.group) {
        view.matched = view.matched && view.lanes[member] == kNone;
        view.lanes[member] = rank.firstLane + lane;
        laneViews[rank.firstLane + lane].stream = index;
      }
  }
  const std::uint32_t root = view.lanes[view.root];
  for (const std::uint32_t lane : view.lanes) {
    view.matched = view.matched && lane != kNone && root != kNone &&
                   sameSegments(laneViews[root], laneViews[lane]);
    if (lane != kNone)
      laneViews[lane].partner = root;
  }
}

const RankView &ActionTable::rankOf(std::uint32_t entry) const {
  return *(std::upper_bound(
               rankViews.begin(), rankViews.end(), entry,
               [](std::uint32_t wanted, const RankView &rank) { return wanted < rank.first; }) -
           1);
}

} // namespace vime::verify
