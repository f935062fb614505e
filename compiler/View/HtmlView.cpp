// The page: Viewer/page.html with its style, its script and the data put in. Bars are numbers of
// variable length, one bar behind the other, in base64: small, and quick to read.
#include "compiler/View/HtmlView.h"

#include <algorithm>
#include <numeric>

#include <nlohmann/json.hpp>

#include "compiler/View/ViewerFiles.h"

namespace vime {
namespace {

using Json = nlohmann::ordered_json;

std::string base64(const std::string &bytes) {
  constexpr const char *kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t present = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t byte = 0; byte < 3; ++byte)
      group = group << 8 | (byte < present ? static_cast<unsigned char>(bytes[at + byte]) : 0u);
    for (std::size_t digit = 0; digit < 4; ++digit)
      text += digit <= present ? kDigits[group >> (18 - 6 * digit) & 63] : '=';
  }
  return text;
}

/// Whole numbers below 2^31 or so, seven bits a byte, the sign in the lowest one.
class Numbers {
public:
  void add(std::int64_t value) {
    auto left = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
    for (; left >= 128; left >>= 7)
      bytes += static_cast<char>((left & 127) | 128);
    bytes += static_cast<char>(left);
  }
  std::string text() const { return base64(bytes); }

private:
  std::string bytes;
};

/// Nanoseconds of one step of the page's clock: what all times are multiples of, but at least so
/// much that the last one fits into 31 bits.
std::int64_t tickOf(const Timeline &timeline) {
  std::int64_t last = 1, common = 0;
  for (const TimelineRow &row : timeline.rows)
    for (const Bar &bar : row.bars) {
      last = std::max({last, bar.end, -bar.posted});
      for (const std::int64_t time : {bar.posted, bar.ready, bar.begin, bar.end})
        common = std::gcd(common, time);
    }
  return std::max({common, last / 1'000'000'000 + 1, std::int64_t{1}});
}

/// As Viewer/data.js reads them: each time from the one before, places from the bar before.
std::string barsText(const Timeline &timeline, std::int64_t tick) {
  Numbers numbers;
  std::int64_t number = 0;
  for (const TimelineRow &row : timeline.rows) {
    Bar last;
    std::int64_t before = 0;
    for (const Bar &bar : row.bars) {
      const std::int64_t posted = bar.posted / tick, ready = bar.ready / tick,
                         begin = bar.begin / tick, end = bar.end / tick;
      numbers.add(bar.kind * static_cast<int>(kDrawnLanes) + static_cast<int>(bar.lane));
      numbers.add(posted - before);
      numbers.add(ready - posted);
      numbers.add(begin - ready);
      numbers.add(end - begin);
      numbers.add(bar.slack < 0 ? -1 : bar.slack / tick);
      numbers.add(bar.stage - last.stage);
      numbers.add(bar.microbatch - last.microbatch);
      numbers.add(static_cast<std::int64_t>(bar.action) - last.action);
      numbers.add(static_cast<std::int64_t>(bar.behind.size()));
      for (const std::uint32_t other : bar.behind)
        numbers.add(number - other);
      before = posted;
      last = bar;
      ++number;
    }
  }
  return numbers.text();
}

std::string memoryText(const TimelineRow &row, std::int64_t tick) {
  Numbers numbers;
  std::int64_t time = 0, kib = 0;
  for (const MemoryPoint &point : row.memory) {
    const std::int64_t here = point.time / tick;
    const auto alive = static_cast<std::int64_t>((point.bytes + 1023) / 1024);
    numbers.add(here - time);
    numbers.add(alive - kib);
    time = here;
    kib = alive;
  }
  return numbers.text();
}

Json timelineJson(const Timeline &timeline) {
  const std::int64_t tick = tickOf(timeline);
  const auto ticks = [tick](std::int64_t time) {
    return static_cast<double>(time) / static_cast<double>(tick);
  };
  Json rows = Json::array(), kinds = Json::array(), problems = Json::array();
  for (const TimelineRow &row : timeline.rows)
    rows.push_back({{"rank", row.rank},
                    {"stages", row.stages},
                    {"bars", row.bars.size()},
                    {"busy", ticks(row.busy)},
                    {"idle",
                     {{"warmUp", ticks(row.idle.warmUp)},
                      {"dependence", ticks(row.idle.dependence)},
                      {"communication", ticks(row.idle.communication)},
                      {"imbalance", ticks(row.idle.imbalance)},
                      {"coolDown", ticks(row.idle.coolDown)},
                      {"otherRole", ticks(row.idle.otherRole)}}},
                    {"engine", row.isEngine},
                    {"memory", memoryText(row, tick)},
                    {"peakAt", row.peak},
                    {"arena", row.arena},
                    {"limit", row.limit}});
  for (const BarKind &kind : timeline.kinds)
    kinds.push_back({{"name", kind.name}, {"letter", kind.letter}, {"origin", kind.origin}});
  for (const TimelineProblem &problem : timeline.problems)
    problems.push_back({{"text", problem.text}, {"bars", problem.bars}});
  return {{"title", timeline.title},
          {"schedule", timeline.schedule},
          {"costs", timeline.costs},
          {"unit", timeline.unit},
          {"perUnit", timeline.perUnit / static_cast<double>(tick)},
          {"microbatches", timeline.microbatches},
          {"period", ticks(timeline.period)},
          {"bubble", timeline.bubble},
          {"trains", ticks(timeline.trainsFrom)},
          {"plan", timeline.planId},
          {"version", timeline.version},
          {"kinds", kinds},
          {"rows", rows},
          {"path", timeline.path},
          {"problems", problems},
          {"bars", barsText(timeline, tick)}};
}

void replace(std::string &text, std::string_view place, std::string_view value) {
  if (const std::size_t at = text.find(place); at != std::string::npos)
    text.replace(at, place.size(), value);
}

/// Text of a job or a table never becomes part of the page: `<` is written so that no tag can end
/// the data.
std::string harmless(const std::string &json) {
  std::string text;
  text.reserve(json.size());
  for (const char letter : json)
    if (letter == '<')
      text += "\\u003c";
    else
      text += letter;
  return text;
}

} // namespace

std::string htmlView(std::span<const Timeline> timelines) {
  Json all = Json::array();
  for (const Timeline &timeline : timelines)
    all.push_back(timelineJson(timeline));
  std::string page(viewer::page());
  replace(page, "/*STYLE*/", viewer::style());
  replace(page, "/*SCRIPT*/", viewer::script());
  replace(page, "/*DATA*/", harmless(all.dump(-1, ' ', true, Json::error_handler_t::replace)));
  return page;
}

} // namespace vime
