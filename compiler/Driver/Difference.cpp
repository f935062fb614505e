#include "compiler/Driver/Difference.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Diagnostics/Amounts.h"

namespace vime {

using Json = nlohmann::ordered_json;

std::vector<Divergence> divergencesBetween(const Rows &one, const Rows &other) {
  const auto at = [](const Rows &rows, std::size_t rank, std::size_t place) {
    return rank >= rows.ranks           ? std::string("no such rank")
           : place >= rows.length(rank) ? std::string("nothing more")
                                        : rows.say(rank, place);
  };
  const auto isEnd = [](const Rows &rows, std::size_t rank, std::size_t place) {
    return rank >= rows.ranks || place >= rows.length(rank);
  };
  std::vector<Divergence> found;
  for (std::size_t rank = 0; rank < std::max(one.ranks, other.ranks); ++rank)
    for (std::size_t place = 0;; ++place) {
      const std::string left = at(one, rank, place), right = at(other, rank, place);
      if (left != right)
        found.push_back({static_cast<std::uint32_t>(rank), place, left, right});
      if (left != right || isEnd(one, rank, place))
        break;
    }
  return found;
}

namespace {

std::string shown(double value, const std::string &unit) {
  if (unit == "bytes")
    return bytesInWords(static_cast<std::uint64_t>(value));
  std::string text = fmt::format("{:.{}f}", value, value < 1 ? 4 : 2);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.'))
    text.pop_back();
  return unit.empty() ? text : unit == "%" ? text + "%" : text + " " + unit;
}

std::string changeOf(const Measure &measure) {
  if (measure.one == measure.other)
    return "the same";
  if (measure.unit == "%")
    return fmt::format("{:+.1f} points", measure.other - measure.one);
  return measure.one == 0 ? "" : fmt::format("{:+.1f}%", 100 * (measure.other / measure.one - 1));
}

std::string quotedOrNone(const std::string &value) { return value.empty() ? "not there" : value; }

constexpr std::size_t kMostRanks = 8;

} // namespace

std::string textOf(const Difference &difference) {
  if (!difference.any())
    return "no difference\n";
  std::string text;
  std::size_t widest = 0;
  for (const Change &change : difference.changes)
    widest = std::max(widest, change.path.size());
  for (const Change &change : difference.changes)
    text += fmt::format("{:<10}  {:<{}}  {} → {}\n", nameOf(change.kind), change.path, widest,
                        quotedOrNone(change.one), quotedOrNone(change.other));
  for (const Measure &measure : difference.measures)
    text += fmt::format("{:<24}{:>14}{:>14}  {}\n", measure.name, shown(measure.one, measure.unit),
                        shown(measure.other, measure.unit), changeOf(measure));
  for (std::size_t index = 0; index < difference.divergences.size(); ++index) {
    const Divergence &found = difference.divergences[index];
    if (index == kMostRanks) {
      text += fmt::format("… and {} more ranks\n", difference.divergences.size() - kMostRanks);
      break;
    }
    text += fmt::format("rank {} differs first at {}: {} | {}\n", found.rank, found.place,
                        found.one.empty() ? "idle" : found.one,
                        found.other.empty() ? "idle" : found.other);
  }
  return text;
}

std::string jsonOf(const Difference &difference, InputKind kind) {
  Json changes = Json::array(), measures = Json::array(), ranks = Json::array();
  for (const Change &change : difference.changes)
    changes.push_back({{"class", nameOf(change.kind)},
                       {"path", change.path},
                       {"one", change.one},
                       {"other", change.other}});
  for (const Measure &measure : difference.measures)
    measures.push_back({{"name", measure.name},
                        {"one", measure.one},
                        {"other", measure.other},
                        {"unit", measure.unit}});
  for (const Divergence &found : difference.divergences)
    ranks.push_back(
        {{"rank", found.rank}, {"place", found.place}, {"one", found.one}, {"other", found.other}});
  const Json json{{"format", "vime-difference"},   {"format_version", 1}, {"of", nameOf(kind)},
                  {"different", difference.any()}, {"changes", changes},  {"measures", measures},
                  {"first_divergences", ranks}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace vime
