#include "runtime/Policy/GroupAdvantage.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "runtime/Policy/ExactSum.h"
#include "runtime/Policy/Sequences.h"

namespace vime {
namespace {

constexpr double kDeviationFloor = 1e-6;

using Places = std::vector<std::size_t>;

std::map<std::uint32_t, Places> placesOf(std::span<const std::uint32_t> groups) {
  std::map<std::uint32_t, Places> places;
  for (std::size_t place = 0; place < groups.size(); ++place)
    places[groups[place]].push_back(place);
  return places;
}

bool allEqual(const Places &places, std::span<const double> rewards) {
  return std::all_of(places.begin(), places.end(),
                     [&](std::size_t place) { return rewards[place] == rewards[places.front()]; });
}

double sumOf(const Places &places, std::span<const double> rewards) {
  ExactSum sum;
  for (const std::size_t place : places)
    sum.add(rewards[place]);
  return sum.value();
}

/// Of a sample, that is, over n - 1.
double deviationOf(const Places &places, std::span<const double> rewards, double mean) {
  ExactSum squares;
  for (const std::size_t place : places)
    squares.add((rewards[place] - mean) * (rewards[place] - mean));
  return std::sqrt(squares.value() / static_cast<double>(places.size() - 1));
}

void compare(GroupBaseline baseline, const Places &places, std::span<const double> rewards,
             std::span<double> advantages) {
  const auto count = static_cast<double>(places.size());
  const double sum = sumOf(places, rewards), mean = sum / count;
  const double scale = baseline == GroupBaseline::MeanAndDeviation
                           ? deviationOf(places, rewards, mean) + kDeviationFloor
                           : 1;
  for (const std::size_t place : places)
    advantages[place] = baseline == GroupBaseline::LeaveOneOut
                            ? rewards[place] - (sum - rewards[place]) / (count - 1)
                            : (rewards[place] - mean) / scale;
}

} // namespace

Status groupAdvantages(GroupBaseline baseline, std::span<const std::uint32_t> groups,
                       std::span<const double> rewards, std::span<double> advantages) {
  if (Status counted = checkCount("rewards", rewards.size(), groups.size()); !counted.ok())
    return counted;
  if (Status counted = checkCount("advantages", advantages.size(), groups.size()); !counted.ok())
    return counted;
  for (std::size_t place = 0; place < rewards.size(); ++place)
    if (!std::isfinite(rewards[place]))
      return {StatusCode::InvalidInput,
              fmt::format("reward {} of group {} is not finite", place, groups[place])};
  const auto placesByGroup = placesOf(groups);
  for (const auto &[group, places] : placesByGroup)
    if (places.size() == 1)
      return {StatusCode::InvalidInput,
              fmt::format("group {} has one reward, and nothing to compare it with", group)};
  for (const auto &[group, places] : placesByGroup)
    if (allEqual(places, rewards)) // a rounded mean would differ from them
      for (const std::size_t place : places)
        advantages[place] = 0;
    else
      compare(baseline, places, rewards, advantages);
  return {};
}

std::vector<std::uint32_t> groupsWithoutVariance(std::span<const std::uint32_t> groups,
                                                 std::span<const double> rewards) {
  std::vector<std::uint32_t> found;
  for (const auto &[group, places] : placesOf(groups))
    if (allEqual(places, rewards))
      found.push_back(group);
  return found;
}

} // namespace vime
