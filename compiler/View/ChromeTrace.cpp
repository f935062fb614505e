#include "compiler/View/ChromeTrace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/View/Quote.h"

namespace vime {
namespace {

constexpr const char *kLaneNames[kDrawnLanes] = {"compute", "send", "receive", "collective",
                                                 "host"};

double microseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

class Trace {
public:
  explicit Trace(const Timeline &timeline) : timeline(timeline) {}

  std::string write() {
    text = "{\"displayTimeUnit\": \"ms\", \"otherData\": " + about() + ",\n\"traceEvents\": [\n";
    for (const TimelineRow &row : timeline.rows)
      writeRow(row);
    if (text.ends_with(",\n"))
      text.resize(text.size() - 2);
    return std::move(text) + "\n]}\n";
  }

private:
  /// What no event says, so that a trace is a whole timeline (ReadChromeTrace.h).
  std::string about() const {
    std::vector<std::string> kinds, rows, problems;
    for (const BarKind &kind : timeline.kinds)
      kinds.push_back(
          fmt::format("[{}, {}, {}]", quote(kind.name), quote(kind.letter), quote(kind.origin)));
    for (const TimelineRow &row : timeline.rows)
      rows.push_back(fmt::format(
          "{{\"rank\": {}, \"stages\": [{}], \"busy\": {}, \"idle\": [{}, {}, {}, {}, {}{}], "
          "\"arena\": {}, \"limit\": {}{}}}",
          row.rank, fmt::join(row.stages, ", "), row.busy, row.idle.warmUp, row.idle.dependence,
          row.idle.communication, row.idle.imbalance, row.idle.coolDown,
          row.idle.otherRole == 0 ? "" : fmt::format(", {}", row.idle.otherRole), row.arena,
          row.limit, row.isEngine ? ", \"engine\": true" : ""));
    for (const TimelineProblem &problem : timeline.problems)
      problems.push_back(
          fmt::format("[{}, [{}]]", quote(problem.text), fmt::join(problem.bars, ", ")));
    return fmt::format(
        "{{\"format\": \"vime-trace\", \"format_version\": 2, \"title\": {}, \"schedule\": {}, "
        "\"plan\": {}, \"version\": {}, \"costs\": {}, \"unit\": {}, \"per_unit\": {}, "
        "\"microbatches\": {}, \"period\": {}, \"bubble\": {},\n\"kinds\": [{}],\n\"rows\": "
        "[{}],\n\"path\": [{}],\n\"problems\": [{}]}}",
        quote(timeline.title), quote(timeline.schedule), quote(timeline.planId),
        quote(timeline.version), quote(timeline.costs), quote(timeline.unit), timeline.perUnit,
        timeline.microbatches, timeline.period, timeline.bubble, fmt::join(kinds, ", "),
        fmt::join(rows, ", "), fmt::join(timeline.path, ", "), fmt::join(problems, ", "));
  }

  void writeRow(const TimelineRow &row) {
    name("process_name", row.rank, 0,
         fmt::format("{} {} | stage{} {}", row.isEngine ? "engine" : "rank", row.rank,
                     row.stages.size() == 1 ? "" : "s", fmt::join(row.stages, ", ")));
    for (std::size_t lane = 0; lane < kDrawnLanes; ++lane)
      name("thread_name", row.rank, lane, kLaneNames[lane]);
    for (const Bar &bar : row.bars) {
      writeBar(row, bar);
      ++number;
    }
    for (const MemoryPoint &point : row.memory)
      text += fmt::format("{{\"ph\": \"C\", \"pid\": {}, \"name\": \"bytes alive\", \"ts\": {}, "
                          "\"args\": {{\"device\": {}}}}},\n",
                          row.rank, microseconds(point.time), point.bytes);
  }

  void name(const char *what, std::uint32_t rank, std::size_t lane, const std::string &value) {
    text += fmt::format("{{\"ph\": \"M\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"args\": "
                        "{{\"name\": {}}}}},\n",
                        what, rank, lane, quote(value));
  }

  std::string labelOf(const Bar &bar) const {
    const BarKind &kind = timeline.kinds[bar.kind];
    if (!kind.letter.empty())
      return fmt::format("{}{}{}", bar.stage, kind.letter, bar.microbatch);
    return bar.microbatch < 0 ? kind.name : fmt::format("{} {}", kind.name, bar.microbatch);
  }

  /// Of a transfer the slice is what is on the wire; how long it waited before stands in its args.
  void writeBar(const TimelineRow &row, const Bar &bar) {
    text += fmt::format(
        "{{\"ph\": \"X\", \"pid\": {}, \"tid\": {}, \"name\": {}, \"cat\": {}, \"ts\": {}, "
        "\"dur\": "
        "{}, \"args\": {{\"action\": {}, \"stage\": {}, \"microbatch\": {}, \"posted\": {}, "
        "\"wait_for_peer\": {}, \"wait_for_link\": {}, \"peer\": {}, \"behind\": [{}]}}}},\n",
        row.rank, static_cast<int>(bar.lane), quote(labelOf(bar)),
        quote(timeline.kinds[bar.kind].name), microseconds(bar.begin),
        microseconds(bar.end - bar.begin), bar.action, bar.stage, bar.microbatch,
        microseconds(bar.posted), microseconds(bar.ready - bar.posted),
        microseconds(bar.begin - bar.ready), bar.peer, fmt::join(bar.behind, ", "));
    if (bar.peer < 0)
      return;
    const bool sends = bar.lane == DrawnLane::Send; // both ends name the message by its send
    text += fmt::format(
        "{{\"ph\": \"{}\", \"id\": {}, \"pid\": {}, \"tid\": {}, \"name\": \"message\", "
        "\"cat\": \"message\", \"ts\": {}{}}},\n",
        sends ? "s" : "f", sends ? number : static_cast<std::uint32_t>(bar.peer), row.rank,
        static_cast<int>(bar.lane), microseconds(sends ? bar.begin : bar.end),
        sends ? "" : ", \"bp\": \"e\"");
  }

  const Timeline &timeline;
  std::uint32_t number = 0; // of the bar, over all rows
  std::string text;
};

} // namespace

std::string chromeTrace(const Timeline &timeline) { return Trace(timeline).write(); }

} // namespace vime
