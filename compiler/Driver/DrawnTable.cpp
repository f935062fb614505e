#include <filesystem>

#include <fmt/format.h>

#include "compiler/Driver/Costs.h"
#include "compiler/Driver/Drawn.h"
#include "compiler/Frontend/OrderFile.h"
#include "compiler/Verify/VerifyOrder.h"
#include "compiler/View/OrderTimeline.h"
#include "schedules/Notation.h"

namespace vime {

void addProblems(const Findings &findings, std::size_t from, Timeline &timeline) {
  for (std::size_t index = from; index < findings.size(); ++index) {
    const Finding &finding = findings.all()[index];
    timeline.problems.push_back(
        {fmt::format("{}: {}{}", codeOf(finding.rule, finding.number), finding.message,
                     finding.span.line == 0 ? ""
                                            : fmt::format(" ({}:{}:{})", finding.span.file,
                                                          finding.span.line, finding.span.column)),
         {}});
  }
}

namespace {

/// The bar of the cell at that place, if it is drawn.
void pointAt(const SourceSpan &span, const OrderTable &table, const Timeline &timeline,
             TimelineProblem &problem) {
  if (span.line < 1 || span.line > static_cast<int>(table.rows.size()))
    return;
  const auto rank = static_cast<std::size_t>(span.line - 1);
  std::uint32_t number = 0;
  for (std::size_t row = 0; row < rank; ++row)
    number += static_cast<std::uint32_t>(timeline.rows[row].bars.size());
  for (const TableEntry &entry : table.rows[rank])
    for (std::size_t place = 0; place < timeline.rows[rank].bars.size(); ++place) {
      const Bar &bar = timeline.rows[rank].bars[place];
      if (entry.place.column == span.column && isTask(entry.kind) &&
          bar.kind == static_cast<std::uint16_t>(entry.kind) && bar.stage == entry.stage &&
          bar.microbatch == entry.microbatch)
        problem.bars.push_back(number + static_cast<std::uint32_t>(place));
    }
}

} // namespace

StatusOr<Drawn> drawnTable(const std::string &path, const ViewArguments &arguments,
                           Findings &findings, SourceCache &sources) {
  const StatusOr<std::string> text = readTableFile(path);
  if (!text.ok())
    return text.status();
  sources.add(path, *text);
  const auto read = readTable(*text);
  if (std::holds_alternative<std::vector<TableProblem>>(read)) {
    judgedTable(*text, path, findings); // every cell that cannot be read
    return Status(StatusCode::InvalidInput, "`" + path + "` cannot be read, so nothing is drawn");
  }
  const OrderTable &table = std::get<OrderTable>(read);
  const std::size_t before = findings.size();
  verifyOrder(table, path, findings);
  const Schedule order = table.schedule();
  const UnitCosts costs = readCosts(arguments.costs.costs).value_or(UnitCosts{});
  Drawn drawn{timelineOf(order, std::filesystem::path(path).filename().string(), costs),
              toTimeline(order, costs),
              {}};
  const std::size_t first = drawn.timeline.problems.size(); // behind that of standing still
  addProblems(findings, before, drawn.timeline);
  for (std::size_t index = before; index < findings.size(); ++index)
    pointAt(findings.all()[index].span, table, drawn.timeline,
            drawn.timeline.problems[first + index - before]);
  return drawn;
}

} // namespace vime
