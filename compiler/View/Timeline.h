// Timeline: what a picture of a run shows: bars on the lanes of each rank, what each of them came
// behind, idle time, memory, and what is wrong. Made from a simulated plan, or from an order; drawn
// as a page, as SVG, or as a trace.
//
//   const Timeline timeline = timelineOf(plan, table, run, reportOf(table, run), costs);
//   timeline.rows[2].bars[17].label    // "2F5"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/Analysis/StepReport.h"

namespace vime {

/// Lanes as they are drawn, from top to bottom.
enum class DrawnLane : std::uint8_t { Compute, Send, Receive, Collective, Host };
constexpr std::size_t kDrawnLanes = 5;

/// One action, or task of an order. Times in nanoseconds from the start of the step.
struct Bar {
  std::int64_t posted = 0, ready = 0, begin = 0, end = 0;
  DrawnLane lane = DrawnLane::Compute;
  std::uint16_t kind = 0;       // in Timeline::kinds
  std::int32_t stage = -1;      // of the model; -1: of no stage
  std::int32_t microbatch = -1; // -1: of no microbatch
  std::uint32_t action = 0;     // index in the rank's program, or place in the order's row
  std::int32_t peer = -1;       // of a transfer: the bar of its other end
  std::int64_t slack = -1;      // how much later it could end (Slack.h); -1: not known
  /// Bars that it had to come behind, by their number over all rows; those that held it last first.
  std::vector<std::uint32_t> behind;
};

struct MemoryPoint {
  std::int64_t time;
  std::uint64_t bytes; // alive from then on
};

struct TimelineRow {
  std::uint32_t rank = 0;
  bool isEngine = false;
  std::vector<std::uint32_t> stages;
  std::vector<Bar> bars; // as dispatched
  std::int64_t busy = 0;
  IdleTime idle;
  std::vector<MemoryPoint> memory;    // of the device; empty where it is not known
  std::string peak;                   // the action at which most of it is alive, in words
  std::uint64_t arena = 0, limit = 0; // bytes; limit 0: none
};

/// What is wrong, and the bars that it is about.
struct TimelineProblem {
  std::string text;
  std::vector<std::uint32_t> bars;
};

/// A kind of bar: what it is, how labels write it ("F"), and the key of the job that asks for it.
struct BarKind {
  std::string name, letter, origin;
};

struct Timeline {
  std::string title; // name of the job, or of the file
  std::string schedule;
  std::string costs;    // where durations come from
  std::string unit;     // "ms", "units"
  double perUnit = 1e6; // nanoseconds
  std::uint32_t microbatches = 0;
  std::int64_t period = 0;
  double bubble = 0;
  std::int64_t trainsFrom = 0; // behind the rollout of a step that begins a round
  std::vector<BarKind> kinds;
  std::vector<TimelineRow> rows;
  std::vector<std::uint32_t> path; // bars of the critical path, in time
  std::vector<TimelineProblem> problems;
  std::string planId, version;
};

} // namespace vime
