#include "compiler/View/ReadChromeTrace.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace vime {
namespace {

using Json = nlohmann::json;

/// What a trace must not say; told with the name of the file.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::int64_t nanoseconds(const Json &microseconds) {
  const double value = microseconds.get<double>() * 1e3;
  if (!(std::abs(value) < 9e15))
    throw Wrong("a time is out of range");
  return std::llround(value);
}

template <typename Number>
Number numberIn(const Json &json, const char *key, std::int64_t least, std::int64_t most) {
  const auto value = json.at(key).get<std::int64_t>();
  if (!json.at(key).is_number_integer() || value < least || value > most)
    throw Wrong(fmt::format("`{}` is out of range", key));
  return static_cast<Number>(value);
}

/// Not below 0.
std::int64_t durationIn(const Json &json, const char *key) {
  const std::int64_t duration = nanoseconds(json.at(key));
  if (duration < 0)
    throw Wrong(fmt::format("`{}` is out of range", key));
  return duration;
}

double realIn(const Json &json, const char *key, double least, double most) {
  const double value = json.at(key).get<double>();
  if (!(value >= least && value <= most))
    throw Wrong(fmt::format("`{}` is out of range", key));
  return value;
}

constexpr std::int64_t kMost32 = 0x7FFFFFFF, kMost64 = std::int64_t{1} << 53;

/// Numbers of bars, or of stages.
std::vector<std::uint32_t> numbersIn(const Json &list, const char *key) {
  std::vector<std::uint32_t> numbers;
  for (const Json &number : list) {
    if (!number.is_number_unsigned() || number.get<std::uint64_t>() > kMost32)
      throw Wrong(fmt::format("`{}` names what cannot be", key));
    numbers.push_back(number.get<std::uint32_t>());
  }
  return numbers;
}

/// Takes in one event after the other, as they are read, and none of them twice: a trace has many.
class TraceReader {
public:
  bool take(int depth, Json::parse_event_t event, const Json &parsed) {
    if (event == Json::parse_event_t::key && depth == 1)
      section = parsed.get<std::string>();
    if (event != Json::parse_event_t::object_end)
      return true;
    if (depth == 1 && section == "otherData") {
      takeAbout(parsed);
      return false;
    }
    if (depth == 2 && section == "traceEvents") {
      takeEvent(parsed);
      return false;
    }
    return true;
  }

  Timeline finish() {
    if (timeline.kinds.empty() || timeline.rows.empty())
      throw Wrong("what was drawn is not said in it");
    for (const TimelineRow &row : timeline.rows)
      for (const Bar &bar : row.bars) {
        check(bar.behind);
        if (bar.peer >= 0)
          check({static_cast<std::uint32_t>(bar.peer)});
      }
    check(timeline.path);
    for (const TimelineProblem &problem : timeline.problems)
      check(problem.bars);
    return std::move(timeline);
  }

private:
  void check(const std::vector<std::uint32_t> &bars) const {
    for (const std::uint32_t bar : bars)
      if (bar >= count)
        throw Wrong(fmt::format("it names bar {} of {}", bar, count));
  }

  void takeAbout(const Json &about) {
    if (about.value("format", "") != "vime-trace")
      throw Wrong("vime has not written it");
    if (about.at("format_version").get<int>() != 2)
      throw Wrong("it was written by another version of vime");
    timeline.title = about.at("title");
    timeline.schedule = about.at("schedule");
    timeline.planId = about.at("plan");
    timeline.version = about.at("version");
    timeline.costs = about.at("costs");
    timeline.unit = about.at("unit");
    timeline.perUnit = realIn(about, "per_unit", 1, 1e12);
    timeline.microbatches = numberIn<std::uint32_t>(about, "microbatches", 0, kMost32);
    timeline.period = numberIn<std::int64_t>(about, "period", 0, kMost64);
    timeline.bubble = realIn(about, "bubble", 0, 1);
    for (const Json &kind : about.at("kinds"))
      timeline.kinds.push_back({kind.at(0), kind.at(1), kind.at(2)});
    for (const Json &row : about.at("rows")) {
      timeline.rows.push_back(rowOf(row));
      if (timeline.rows.size() > 1 && timeline.rows.back().rank <= (timeline.rows.end() - 2)->rank)
        throw Wrong("its ranks do not ascend");
    }
    timeline.path = numbersIn(about.at("path"), "path");
    for (const Json &problem : about.at("problems"))
      timeline.problems.push_back({problem.at(0), numbersIn(problem.at(1), "problems")});
  }

  static TimelineRow rowOf(const Json &json) {
    TimelineRow row{.rank = numberIn<std::uint32_t>(json, "rank", 0, kMost32),
                    .stages = numbersIn(json.at("stages"), "stages"),
                    .busy = numberIn<std::int64_t>(json, "busy", 0, kMost64),
                    .arena = json.at("arena").get<std::uint64_t>(),
                    .limit = json.at("limit").get<std::uint64_t>()};
    auto idle = json.at("idle").get<std::vector<std::int64_t>>();
    if (idle.size() == 5) // the sixth is that of rounds
      idle.push_back(0);
    if (idle.size() != 6)
      throw Wrong("its idle times are not those of causes");
    row.idle = {idle[0], idle[1], idle[2], idle[3], idle[4], idle[5]};
    row.isEngine = json.value("engine", false);
    return row;
  }

  /// Bars of a rank stand together, in the sequence of the rows.
  void takeEvent(const Json &event) {
    const std::string phase = event.at("ph");
    if (phase == "X") {
      TimelineRow &row = rowOfRank(event);
      row.bars.push_back(barOf(event));
      ++count;
    } else if (phase == "C") {
      rowOfRank(event).memory.push_back(
          {nanoseconds(event.at("ts")), event.at("args").at("device").get<std::uint64_t>()});
    }
  }

  TimelineRow &rowOfRank(const Json &event) {
    const auto rank = numberIn<std::uint32_t>(event, "pid", 0, kMost32);
    while (place < timeline.rows.size() && timeline.rows[place].rank != rank)
      ++place;
    if (place == timeline.rows.size())
      throw Wrong(fmt::format("events of rank {} are not where they belong", rank));
    return timeline.rows[place];
  }

  std::uint16_t kindNamed(const std::string &name) {
    for (std::size_t kind = 0; kind < timeline.kinds.size(); ++kind)
      if (timeline.kinds[kind].name == name)
        return static_cast<std::uint16_t>(kind);
    throw Wrong(fmt::format("it has no kind `{}`", name));
  }

  Bar barOf(const Json &event) {
    const Json &arguments = event.at("args");
    Bar bar;
    bar.begin = nanoseconds(event.at("ts"));
    bar.end = bar.begin + durationIn(event, "dur");
    bar.ready = bar.begin - durationIn(arguments, "wait_for_link");
    bar.posted = bar.ready - durationIn(arguments, "wait_for_peer");
    bar.lane = numberIn<DrawnLane>(event, "tid", 0, kDrawnLanes - 1);
    bar.kind = kindNamed(event.at("cat"));
    bar.stage = numberIn<std::int32_t>(arguments, "stage", -1, kMost32);
    bar.microbatch = numberIn<std::int32_t>(arguments, "microbatch", -1, kMost32);
    bar.action = numberIn<std::uint32_t>(arguments, "action", 0, kMost32);
    bar.peer = numberIn<std::int32_t>(arguments, "peer", -1, kMost32);
    bar.behind = numbersIn(arguments.at("behind"), "behind");
    return bar;
  }

  Timeline timeline;
  std::string section;
  std::size_t place = 0;   // of the row whose events are read
  std::uint32_t count = 0; // of bars
};

} // namespace

StatusOr<Timeline> readChromeTrace(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Status(StatusCode::File, "cannot read `" + path + "`: " + std::strerror(errno));
  const auto wrong = [&path](const std::string &why) {
    return Status(StatusCode::InvalidInput,
                  "`" + path + "` is no trace that can be drawn: " + why +
                      "\nhelp: `vimec view plan.bin --measured DIR -o trace.json` writes one");
  };
  TraceReader reader;
  try {
    const Json rest = Json::parse(file, [&](int depth, Json::parse_event_t event, Json &parsed) {
      return reader.take(depth, event, parsed);
    });
    return reader.finish();
  } catch (const Wrong &what) {
    return wrong(what.what());
  } catch (const Json::exception &) {
    return wrong("it is damaged, or vime has not written it");
  }
}

} // namespace vime
