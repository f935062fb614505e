#include <algorithm>
#include <optional>

#include "compiler/Driver/Costs.h"
#include "compiler/Driver/Difference.h"
#include "compiler/Frontend/OrderFile.h"
#include "schedules/Notation.h"
#include "schedules/UnitTime.h"

namespace vime {
namespace {

std::optional<OrderTable> tableIn(const std::string &path, Findings &findings, SourceCache &sources,
                                  Status &failure) {
  const StatusOr<std::string> text = readTableFile(path);
  if (!text.ok()) {
    failure = text.status();
    return std::nullopt;
  }
  sources.add(path, *text);
  return judgedTable(*text, path, findings);
}

Rows rowsOf(const OrderTable &table) {
  return {
      table.rows.size(), [&table](std::size_t rank) { return table.rows[rank].size(); },
      [&table](std::size_t rank, std::size_t place) { return toText(table.rows[rank][place]); }};
}

Difference differenceOf(const OrderTable &one, const OrderTable &other, UnitCosts costs) {
  const UnitTimes left = simulate(one.schedule(), costs), right = simulate(other.schedule(), costs);
  const auto peak = [](const UnitTimes &times) {
    return static_cast<double>(*std::max_element(times.peakLive.begin(), times.peakLive.end()));
  };
  Difference difference{{},
                        {{"makespan", static_cast<double>(left.makespan),
                          static_cast<double>(right.makespan), "units"},
                         {"bubble", 100 * left.bubble, 100 * right.bubble, "%"},
                         {"most activations alive", peak(left), peak(right), ""}},
                        {}};
  difference.divergences = divergencesBetween(rowsOf(one), rowsOf(other));
  return difference;
}

} // namespace

StatusOr<Difference> differenceOfOrders(const DiffArguments &arguments, Findings &findings,
                                        SourceCache &sources) {
  Status failure;
  const auto one = tableIn(arguments.one, findings, sources, failure);
  const auto other = tableIn(arguments.other, findings, sources, failure);
  if (!failure.ok())
    return failure;
  return one && other
             ? differenceOf(*one, *other, readCosts(arguments.costs.costs).value_or(UnitCosts{}))
             : Difference{};
}

} // namespace vime
