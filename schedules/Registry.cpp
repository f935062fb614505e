// The table of orders: what the files of Orders/ say of themselves, in the sequence of Orders.def.
#include "schedules/Registry.h"
#include "schedules/Orders/Orders.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace vime {

namespace {

std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

// Letters to take out and put in, one row at a time; one that is another now is both. So names that
// continue a known one stay nearer to it than to others that end alike.
std::size_t editDistance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t column = 0; column <= to.size(); ++column)
    row[column] = column;
  for (std::size_t line = 1; line <= from.size(); ++line) {
    std::size_t diagonal = row[0];
    row[0] = line;
    for (std::size_t column = 1; column <= to.size(); ++column) {
      const std::size_t replaced = diagonal + 2 * (from[line - 1] != to[column - 1]);
      diagonal = row[column];
      row[column] = std::min({replaced, row[column] + 1, row[column - 1] + 1});
    }
  }
  return row.back();
}

} // namespace

std::span<const Order> allOrders() {
  static const std::array kOrders{
#define VIME_ORDER(name) orders::name,
#include "schedules/Orders/Orders.def"
#undef VIME_ORDER
  };
  return kOrders;
}

std::vector<std::string_view> orderNames() {
  std::vector<std::string_view> names;
  for (const Order &order : allOrders())
    names.push_back(order.name);
  return names;
}

const Order *findOrder(std::string_view name) {
  const auto all = allOrders();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Order &order) { return order.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::optional<std::string_view> nearestOrderName(std::string_view name) {
  constexpr std::size_t kLongestName = 40; // longer than any name that could be meant
  const std::string wanted = plain(name.substr(0, kLongestName));
  if (wanted.empty())
    return std::nullopt;
  std::optional<std::string_view> nearest;
  std::size_t allowed = std::max<std::size_t>(1, wanted.size() / 2) + 1;
  for (const Order &order : allOrders()) {
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
