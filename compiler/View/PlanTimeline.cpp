#include "compiler/View/PlanTimeline.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/Verify/LiveSet.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {

using namespace plan;
using verify::ActionTable;
using verify::kNone;
using verify::RankView;

namespace {

/// As labels write a task; other actions have no letter.
std::string letterOf(Opcode opcode) {
  switch (opcode) {
  case Opcode::Forward:
  case Opcode::Evaluate:
  case Opcode::Infer:
    return "F";
  case Opcode::Backward:
    return "B";
  case Opcode::BackwardInput:
    return "I";
  case Opcode::BackwardWeight:
    return "W";
  default:
    return "";
  }
}

DrawnLane drawnOn(LaneKind kind) {
  switch (kind) {
  case LaneKind::Send:
    return DrawnLane::Send;
  case LaneKind::Receive:
    return DrawnLane::Receive;
  case LaneKind::Group:
    return DrawnLane::Collective;
  case LaneKind::Host:
  case LaneKind::Io:
    return DrawnLane::Host;
  default:
    return DrawnLane::Compute;
  }
}

class PlanTimeline {
public:
  PlanTimeline(const Plan &plan, const ActionTable &table, const Simulated &run,
               const StepReport &report)
      : plan(plan), table(table), run(run), report(report), barOf(table.size(), kNone) {}

  Timeline make(const ShownCosts &costs) {
    timeline.title = plan.run.name;
    timeline.schedule = plan.schedule;
    timeline.costs = costs.origin;
    timeline.unit = costs.unit;
    timeline.perUnit = costs.perUnit;
    timeline.microbatches = plan.data.microbatches;
    timeline.period = report.period;
    timeline.bubble = report.bubble;
    if (plan.mesh.engines != 0)
      timeline.trainsFrom = run.stepEnd - run.period + report.rollout.all() - run.stepBegin;
    timeline.planId = toHex(planId(plan));
    timeline.version = plan.compiler;
    addKinds();
    chooseBars();
    for (std::size_t rank = 0; rank < table.ranks().size(); ++rank)
      addRow(rank);
    for (const PathPart &part : report.path)
      if (barOf[part.entry] != kNone)
        timeline.path.push_back(barOf[part.entry]);
    return std::move(timeline);
  }

private:
  void addKinds() {
    for (const Signature &signature : signatures()) {
      std::string origin;
      for (const Origin &one : plan.origins)
        if (one.opcode == code(signature.opcode))
          origin = fmt::format("{} (line {})", one.key, one.line);
      timeline.kinds.push_back(
          {std::string(signature.name), letterOf(signature.opcode), std::move(origin)});
    }
  }

  std::uint16_t kindOf(const Action &action) const {
    return static_cast<std::uint16_t>(findSignature(action.opcode) - signatures().data());
  }

  /// Numbers them over all rows, so that each can name others.
  void chooseBars() {
    std::uint32_t next = 0;
    for (const RankView &rank : table.ranks())
      for (std::uint32_t entry = rank.first; entry < rank.end; ++entry)
        if (isDrawn(rank, entry))
          barOf[entry] = next++;
  }

  bool isDrawn(const RankView &rank, std::uint32_t entry) const {
    const verify::Segment &segment = rank.segments[table.segment(rank, entry)];
    const bool inStep = segment.isLoop() || rank.segments.size() == 1;
    const ActionTimes &times = run.times[entry];
    const LaneKind kind = rank.program->lanes[table.action(rank, entry).lane].kind;
    return inStep && (times.end > times.begin || kind == LaneKind::Send ||
                      kind == LaneKind::Receive || kind == LaneKind::Group);
  }

  /// Those that it trains, or generates with: not of a reference.
  std::vector<std::uint32_t> stagesOf(const RankView &rank) const {
    std::vector<std::uint32_t> stages = rank.stages;
    std::erase_if(stages, [&](std::uint32_t stage) { return table.stages()[stage].model != 0; });
    return stages;
  }

  void addRow(std::size_t index) {
    const RankView &rank = table.ranks()[index];
    const RankReport &facts = report.ranks[index];
    TimelineRow row{.rank = rank.rank,
                    .isEngine = facts.isEngine,
                    .stages = stagesOf(rank),
                    .busy = facts.busy,
                    .idle = facts.idle,
                    .arena = rank.layout->arena[static_cast<std::size_t>(Tier::Device)],
                    .limit = plan.limits.memoryBytes};
    std::vector<std::vector<std::uint32_t>> lanes(rank.program->lanes.size());
    for (std::uint32_t entry = rank.first; entry < rank.end; ++entry) {
      if (barOf[entry] != kNone)
        row.bars.push_back(barAt(rank, entry, lanes));
      lanes[table.action(rank, entry).lane].push_back(entry);
    }
    addMemory(rank, row);
    timeline.rows.push_back(std::move(row));
  }

  Bar barAt(const RankView &rank, std::uint32_t entry,
            const std::vector<std::vector<std::uint32_t>> &lanes) const {
    const Action &action = table.action(rank, entry);
    const Signature &signature = *findSignature(action.opcode);
    const ActionTimes &times = run.times[entry];
    const bool isTask = signature.family == Family::Compute;
    Bar bar{.posted = times.posted - run.stepBegin,
            .ready = times.ready - run.stepBegin,
            .begin = times.begin - run.stepBegin,
            .end = times.end - run.stepBegin,
            .lane = drawnOn(rank.program->lanes[action.lane].kind),
            .kind = kindOf(action),
            .action = table[entry].action,
            .slack = report.slack.empty() ? -1 : report.slack[entry]};
    if (signature.perStage)
      bar.stage = static_cast<std::int32_t>(rank.stages[action.stage]);
    if (isTask || (signature.perMicrobatch && signature.family == Family::Transfer &&
                   rank.program->lanes[action.lane].message.perToken != 0))
      bar.microbatch = static_cast<std::int32_t>(table.microbatch(rank, entry));
    if (times.peer != kNone && barOf[times.peer] != kNone)
      bar.peer = static_cast<std::int32_t>(barOf[times.peer]);
    for (const std::uint32_t held : {times.begunBehind, times.readyBehind, times.postedBehind})
      addBehind(bar, entry, held);
    for (const Wait wait : action.waits) {
      if (wait.empty())
        break;
      const auto &lane = lanes[static_cast<std::size_t>(wait.lane())];
      const auto distance = static_cast<std::size_t>(wait.distance());
      if (distance <= lane.size())
        addBehind(bar, entry, lane[lane.size() - distance]);
    }
    return bar;
  }

  void addBehind(Bar &bar, std::uint32_t entry, std::uint32_t other) const {
    if (other == kNone || other == entry || barOf[other] == kNone)
      return;
    if (std::find(bar.behind.begin(), bar.behind.end(), barOf[other]) == bar.behind.end())
      bar.behind.push_back(barOf[other]);
  }

  /// What an action needs is there from when it was posted.
  void addMemory(const RankView &rank, TimelineRow &row) const {
    const std::vector<std::uint64_t> alive = verify::aliveBytesOf(table, rank, Tier::Device);
    std::uint64_t most = 0;
    std::uint32_t peak = kNone;
    for (std::uint32_t entry = rank.first; entry < rank.end; ++entry) {
      if (!rank.segments[table.segment(rank, entry)].isLoop() && rank.segments.size() != 1)
        continue;
      const std::int64_t time = run.times[entry].posted - run.stepBegin;
      const std::uint64_t bytes = alive[entry - rank.first];
      if (bytes > most) {
        most = bytes;
        peak = entry;
      }
      if (!row.memory.empty() && row.memory.back().time == time)
        row.memory.back().bytes = std::max(row.memory.back().bytes, bytes);
      else if (row.memory.empty() || row.memory.back().bytes != bytes)
        row.memory.push_back({time, bytes});
    }
    if (peak != kNone)
      row.peak = describe(plan, rank.rank, table[peak].action, table[peak].iteration);
  }

  const Plan &plan;
  const ActionTable &table;
  const Simulated &run;
  const StepReport &report;
  std::vector<std::uint32_t> barOf; // by entry
  Timeline timeline;
};

} // namespace

Timeline timelineOf(const Plan &plan, const ActionTable &table, const Simulated &run,
                    const StepReport &report, const ShownCosts &costs) {
  return PlanTimeline(plan, table, run, report).make(costs);
}

} // namespace vime
