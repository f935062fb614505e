// The table of orders. A new order is a file with its rule and an entry here.
#include "schedules/Registry.h"
#include "schedules/Orders.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace vime {

namespace {

std::string takesAny(ScheduleShape) { return {}; }

// A remainder would leave one round short: its steady part would miss microbatches.
std::string refusesUnevenRounds(ScheduleShape shape) {
  const int rounds = interleavedRounds(shape);
  if (shape.microbatches % rounds == 0)
    return {};
  return "`interleaved` cannot run " + std::to_string(shape.microbatches) + " microbatches on " +
         std::to_string(shape.ranks) + " ranks: they make " + std::to_string(rounds) +
         " rounds, which would not be of one size";
}

constexpr std::array kOrders{
    Order{.name = "gpipe",
          .summary = "all forwards, then all backwards",
          .placement = "linear",
          .chunks = {.least = 1, .most = 1, .usual = 1},
          .build = gpipe,
          .refusal = takesAny,
          .needs = "1 chunk",
          .bubble = "(p-1)(F+B)",
          .peak = "m microbatches",
          .source = "Huang et al. 2019"},
    Order{.name = "1f1b",
          .summary = "one forward, one backward: as fast as gpipe with less memory",
          .placement = "linear",
          .chunks = {.least = 1, .most = 1, .usual = 1},
          .build = oneFOneB,
          .refusal = takesAny,
          .needs = "1 chunk",
          .bubble = "(p-1)(F+B)",
          .peak = "min(p, m) microbatches",
          .source = "Narayanan et al. 2021"},
    Order{.name = "interleaved",
          .summary = "1f1b over several stages per rank: a shorter bubble for more transfers",
          .placement = "loop",
          .chunks = {.least = 1, .most = kMaxChunks, .usual = 2},
          .build = interleaved,
          .refusal = refusesUnevenRounds,
          .needs = "microbatches a multiple of max(1, microbatches div ranks)",
          .bubble = "(p-1)(F+B)/v if p divides m",
          .peak = "(2(p-1) + (v-1)n + 1)/v microbatches, n per round",
          .source = "Narayanan et al. 2021"},
    Order{.name = "zb-h1",
          .summary = "1f1b with weight gradients in the slots where it drains",
          .placement = "linear",
          .chunks = {.least = 1, .most = 1, .usual = 1},
          .build = zeroBubbleH1,
          .refusal = takesAny,
          .needs = "1 chunk",
          .bubble = "(p-1)(F+I-W) if m >= p",
          .peak = "min(p, m) microbatches",
          .source = "Qi et al. 2023"},
    Order{.name = "zb-v",
          .summary =
              "two stages per rank, down the ranks and back: the bubble of one short forward",
          .placement = "vee",
          .chunks = {.least = 2, .most = 2, .usual = 2},
          .build = zeroBubbleV,
          .refusal = takesAny,
          .needs = "2 chunks",
          .bubble = "(p-1)F/2 if F = I = W and m >= 2p-1",
          .peak = "min(p, m) microbatches",
          .source = "Qi et al. 2024"},
};

std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

// Levenshtein's distance, one row at a time.
std::size_t editDistance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t column = 0; column <= to.size(); ++column)
    row[column] = column;
  for (std::size_t line = 1; line <= from.size(); ++line) {
    std::size_t diagonal = row[0];
    row[0] = line;
    for (std::size_t column = 1; column <= to.size(); ++column) {
      const std::size_t replaced = diagonal + (from[line - 1] != to[column - 1]);
      diagonal = row[column];
      row[column] = std::min({replaced, row[column] + 1, row[column - 1] + 1});
    }
  }
  return row.back();
}

} // namespace

std::span<const Order> allOrders() { return kOrders; }

std::vector<std::string_view> orderNames() {
  std::vector<std::string_view> names;
  for (const Order &order : kOrders)
    names.push_back(order.name);
  return names;
}

const Order *findOrder(std::string_view name) {
  const auto found = std::find_if(kOrders.begin(), kOrders.end(),
                                  [&](const Order &order) { return order.name == name; });
  return found == kOrders.end() ? nullptr : &*found;
}

std::optional<std::string_view> nearestOrderName(std::string_view name) {
  constexpr std::size_t kLongestName = 40; // longer than any name that could be meant
  const std::string wanted = plain(name.substr(0, kLongestName));
  if (wanted.empty())
    return std::nullopt;
  std::optional<std::string_view> nearest;
  std::size_t allowed = std::max<std::size_t>(1, wanted.size() / 2) + 1;
  for (const Order &order : kOrders) {
    const std::size_t distance = editDistance(wanted, plain(order.name));
    if (distance < allowed) {
      allowed = distance;
      nearest = order.name;
    }
  }
  return nearest;
}

ScheduleShape shapeFor(const Order &order, int ranks, int microbatches, std::optional<int> chunks) {
  return {
      .ranks = ranks, .microbatches = microbatches, .chunks = chunks.value_or(order.chunks.usual)};
}

} // namespace vime
