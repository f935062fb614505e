// Colours are Okabe and Ito's, which all eyes tell apart; the later chunks of a rank are lighter,
// and weight gradients have a dotted foot, so that a black and white print says the same.
#include "compiler/View/SvgView.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace vime {
namespace {

constexpr double kLeft = 56, kRowHeight = 24, kRowGap = 6, kTop = 8, kTitle = 20, kAxis = 34;
constexpr double kLetterWidth = 6.4;

struct Colour {
  int red, green, blue;
};

/// Weights come, and responses are generated.
const Colour *colourOfRollout(const std::string &name) {
  static const std::map<std::string, Colour> kColours = {{"generate", {240, 228, 66}},
                                                         {"broadcast_weights", {51, 34, 136}}};
  const auto found = kColours.find(name);
  return found == kColours.end() ? nullptr : &found->second;
}

Colour colourOf(const std::string &letter) {
  static const std::map<std::string, Colour> kColours = {
      {"F", {0, 114, 178}}, {"B", {230, 159, 0}}, {"I", {213, 94, 0}}, {"W", {0, 158, 115}}};
  const auto found = kColours.find(letter);
  return found == kColours.end() ? Colour{204, 121, 167} : found->second;
}

Colour lighter(Colour colour, double share) {
  const auto mix = [&](int part) {
    return static_cast<int>(std::lround(part + (255 - part) * share));
  };
  return {mix(colour.red), mix(colour.green), mix(colour.blue)};
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char letter : text)
    switch (letter) {
    case '&':
      safe += "&amp;";
      break;
    case '<':
      safe += "&lt;";
      break;
    default:
      safe += letter;
    }
  return safe;
}

class Drawing {
public:
  Drawing(std::span<const Timeline> timelines, int width) : timelines(timelines), width(width) {
    for (const Timeline &timeline : timelines) {
      last = std::max(last, timeline.period);
      for (const TimelineRow &row : timeline.rows)
        for (const Bar &bar : row.bars)
          if (bar.lane == DrawnLane::Compute)
            last = std::max(last, bar.end);
    }
    scale = (width - kLeft - 10) / static_cast<double>(last);
  }

  std::string draw() {
    double y = kTop;
    for (const Timeline &timeline : timelines)
      y = drawTimeline(timeline, y);
    drawAxis(y);
    const double height = y + kAxis;
    return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:g}\" "
                       "viewBox=\"0 0 {0} {1:g}\" font-family=\"Helvetica, Arial, DejaVu Sans, "
                       "sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
                       "fill=\"#fff\"/>\n{2}</svg>\n",
                       width, height, body);
  }

private:
  double at(std::int64_t time) const { return kLeft + static_cast<double>(time) * scale; }

  double drawTimeline(const Timeline &timeline, double y) {
    std::string title = timeline.title;
    if (!timeline.schedule.empty())
      title += ", " + timeline.schedule;
    title += fmt::format(": {:g} {}, bubble {:.1f} %",
                         static_cast<double>(timeline.period) / timeline.perUnit, timeline.unit,
                         100 * timeline.bubble);
    text(kLeft, y + 12, title, "start", "#1b1f24", " font-weight=\"600\"");
    y += kTitle;
    const bool hasChunks =
        std::any_of(timeline.rows.begin(), timeline.rows.end(),
                    [](const TimelineRow &row) { return !row.isEngine && row.stages.size() > 1; });
    for (const TimelineRow &row : timeline.rows) {
      text(kLeft - 8, y + kRowHeight / 2 + 4,
           fmt::format("{} {}", row.isEngine ? "engine" : "rank", row.rank), "end", "#1b1f24");
      rectangle(kLeft, y + kRowHeight / 2 - .5, static_cast<double>(last) * scale, 1, "#d5dae1");
      for (const Bar &bar : row.bars)
        if (bar.lane == DrawnLane::Compute ||
            (row.isEngine && colourOfRollout(nameOf(timeline, bar))))
          drawBar(timeline, row, bar, y, hasChunks);
      y += kRowHeight + kRowGap;
    }
    for (const TimelineProblem &problem : timeline.problems) {
      text(kLeft, y + 12, problem.text, "start", "#c1121f");
      y += kTitle;
    }
    return y + kRowGap;
  }

  static const std::string &nameOf(const Timeline &timeline, const Bar &bar) {
    return timeline.kinds[bar.kind].name;
  }

  void drawBar(const Timeline &timeline, const TimelineRow &row, const Bar &bar, double y,
               bool hasChunks) {
    const BarKind &kind = timeline.kinds[bar.kind];
    const auto stage =
        std::find(row.stages.begin(), row.stages.end(), static_cast<std::uint32_t>(bar.stage));
    const auto chunk = stage == row.stages.end() ? 0 : stage - row.stages.begin();
    const Colour *rollout = colourOfRollout(kind.name);
    const Colour colour =
        rollout ? *rollout
                : lighter(colourOf(kind.letter), std::min(.28 * static_cast<double>(chunk), .7));
    const double wide = static_cast<double>(bar.end - bar.begin) * scale;
    const double drawn = std::max(wide - (wide > 3 ? .8 : 0), .4);
    rectangle(at(bar.begin), y, drawn, kRowHeight,
              fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue));
    const bool isDark = .299 * colour.red + .587 * colour.green + .114 * colour.blue <= 150;
    const char *ink = isDark ? "#ffffff" : "#111111";
    if (kind.letter == "W" && wide > 4)
      body += fmt::format("<line x1=\"{0:.2f}\" y1=\"{2:.2f}\" x2=\"{1:.2f}\" y2=\"{2:.2f}\" "
                          "stroke=\"{3}\" stroke-width=\"1.5\" stroke-dasharray=\"2 2\"/>\n",
                          at(bar.begin), at(bar.begin) + drawn, y + kRowHeight - 2, ink);
    if (kind.letter.empty() && !rollout)
      return;
    const std::string label = rollout ? kind.name == "generate" ? "generate" : "sync"
                              : hasChunks
                                  ? fmt::format("{}{}{}", bar.stage, kind.letter, bar.microbatch)
                                  : fmt::format("{}{}", kind.letter, bar.microbatch);
    if (wide > kLetterWidth * static_cast<double>(label.size()) + 2)
      text(at(bar.begin) + drawn / 2, y + kRowHeight / 2 + 4, label, "middle", ink);
  }

  void drawAxis(double y) {
    const Timeline &first = timelines.front();
    const double span = static_cast<double>(last) / first.perUnit;
    const double rough = span / std::max(1., (width - kLeft) / 90);
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double step = power;
    for (const double times : {1., 2., 5., 10.})
      if (power * times >= rough) {
        step = power * times;
        break;
      }
    for (double value = 0; value <= span * (1 + 1e-9); value += step) {
      const double x = kLeft + value * first.perUnit * scale;
      rectangle(x - .25, y - 2, .5, 5, "#5b6470");
      text(x, y + 15, fmt::format("{:g}", value), "middle", "#5b6470");
    }
    text(width - 10., y + 29, first.unit, "end", "#5b6470");
  }

  void rectangle(double x, double y, double wide, double high, std::string_view fill) {
    body += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
                        "fill=\"{}\"/>\n",
                        x, y, wide, high, fill);
  }
  void text(double x, double y, std::string_view words, std::string_view anchor,
            std::string_view fill, std::string_view more = "") {
    body +=
        fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\" fill=\"{}\"{}>{}</text>\n",
                    x, y, anchor, fill, more, escaped(words));
  }

  std::span<const Timeline> timelines;
  const int width;
  std::int64_t last = 1;
  double scale = 1; // pixels of a nanosecond
  std::string body;
};

} // namespace

std::string svgView(std::span<const Timeline> timelines, int width) {
  return Drawing(timelines, width).draw();
}

} // namespace vime
