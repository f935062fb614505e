// vimec view: plans and orders as pictures. What is wrong with one is told, and drawn as far as it
// comes.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "compiler/Analysis/Slack.h"
#include "compiler/Analysis/StepReport.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Costs.h"
#include "compiler/Driver/PlanCosts.h"
#include "compiler/Frontend/OrderFile.h"
#include "compiler/Verify/Verify.h"
#include "compiler/Verify/VerifyOrder.h"
#include "compiler/View/ChromeTrace.h"
#include "compiler/View/HtmlView.h"
#include "compiler/View/OrderTimeline.h"
#include "compiler/View/PlanText.h"
#include "compiler/View/PlanTimeline.h"
#include "compiler/View/SvgView.h"
#include "runtime/Plan/PlanFile.h"
#include "schedules/Notation.h"

namespace vime {
namespace {

struct Drawn {
  Timeline timeline;
  std::string grid;
  std::optional<Timeline> measured;
};

/// What the judges say, below the picture.
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

/// The bars of the actions that the finding names.
void pointAt(const Finding &finding, const Timeline &timeline, TimelineProblem &problem) {
  for (const Note &note : finding.notes) {
    if (!note.action)
      continue;
    std::uint32_t number = 0;
    for (const TimelineRow &row : timeline.rows)
      for (const Bar &bar : row.bars) {
        if (row.rank == note.action->rank && bar.action == note.action->action)
          problem.bars.push_back(number);
        ++number;
      }
  }
}

StatusOr<Drawn> drawnPlan(const std::string &path, const ViewArguments &arguments,
                          const CostBasis &basis, Findings &findings) {
  const StatusOr<plan::Plan> plan = plan::readPlan(path);
  if (!plan.ok())
    return plan.status();
  const std::size_t before = findings.size();
  verifyPlan(*plan, findings, path);
  for (std::size_t index = before; index < findings.size(); ++index)
    if (findings.all()[index].rule == Rule::S3)
      return Status(StatusCode::InvalidInput,
                    "`" + path + "` names what is not there, so that nothing of it can be drawn");
  const verify::ActionTable table(*plan, steadyStepOf(*plan));
  std::optional<Measured> measured;
  if (!arguments.measured.empty()) {
    StatusOr<Measured> found = measuredIn(arguments.measured, *plan, table);
    if (!found.ok())
      return found.status();
    measured = std::move(*found);
  }
  StatusOr<PlanCosts> assumed =
      measured && !basis.machine ? measured->costs : costsOf(*plan, basis);
  if (!assumed.ok())
    return assumed.status();
  const PlanCosts &costs = *assumed;
  const Simulated run = simulate(table, costs.durations);
  StepReport report = reportOf(table, run);
  report.slack = slackOf(table, costs.durations, run);
  Drawn drawn{timelineOf(*plan, table, run, report, {costs.origin, costs.unit, costs.perUnit}),
              planGrid(*plan),
              {}};
  if (measured) {
    drawn.timeline.title += ", expected";
    drawn.measured = timelineOf(*plan, table, measured->run, reportOf(table, measured->run),
                                {fmt::format("step {} of {}", measured->step, arguments.measured),
                                 costs.unit, costs.perUnit});
    drawn.measured->title += ", measured";
  }
  addProblems(findings, before, drawn.timeline);
  for (std::size_t index = before; index < findings.size(); ++index)
    pointAt(findings.all()[index], drawn.timeline, drawn.timeline.problems[index - before]);
  return drawn;
}

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

/// By the ending of the name, where nobody said it.
std::string formatOf(const ViewArguments &arguments) {
  if (!arguments.format.empty())
    return arguments.format;
  const std::string ending = std::filesystem::path(arguments.picture).extension().string();
  return ending == ".svg"    ? "svg"
         : ending == ".json" ? "chrome"
         : ending == ".txt"  ? "grid"
                             : "html";
}

std::string pictureOf(const std::vector<Drawn> &drawn, const std::string &format) {
  if (format == "grid") {
    std::string text;
    for (const Drawn &one : drawn)
      text += (drawn.size() > 1 ? one.timeline.title + "\n" : "") + one.grid;
    return text;
  }
  std::vector<Timeline> timelines;
  for (const Drawn &one : drawn) {
    timelines.push_back(one.timeline);
    if (one.measured)
      timelines.push_back(*one.measured);
  }
  return format == "svg"      ? svgView(timelines)
         : format == "chrome" ? chromeTrace(timelines.back())
                              : htmlView(timelines);
}

} // namespace

int runView(const ViewArguments &arguments, const OutputOptions &output) {
  const std::string format = formatOf(arguments);
  if (format == "chrome" && arguments.inputs.size() > 1)
    return reportFailure(Status(StatusCode::Usage, "a trace is of one plan"), output,
                         "write one file for each, and open them side by side");
  if (!arguments.measured.empty() &&
      (arguments.inputs.size() > 1 || holdsTable(arguments.inputs[0])))
    return reportFailure(Status(StatusCode::Usage, "traces are of one plan"), output);
  if (!arguments.costs.machine.empty() &&
      std::any_of(arguments.inputs.begin(), arguments.inputs.end(), holdsTable))
    return reportFailure(Status(StatusCode::Usage, kMachineOfTable), output, kCostsOfTable);
  for (const std::string &input : arguments.inputs) {
    std::error_code error;
    if (std::filesystem::equivalent(input, arguments.picture, error))
      return reportFailure(Status(StatusCode::Usage, "the picture would replace `" + input +
                                                         "`, which it is made from"),
                           output);
  }
  int code = 0;
  const std::optional<CostBasis> basis = readCostBasis(arguments.costs, output, code);
  if (!basis)
    return code;
  SourceCache sources;
  Findings findings;
  std::vector<Drawn> drawn;
  for (const std::string &input : arguments.inputs) {
    StatusOr<Drawn> one = holdsTable(input) ? drawnTable(input, arguments, findings, sources)
                                            : drawnPlan(input, arguments, *basis, findings);
    if (!one.ok())
      return findings.any() ? reportFindings(findings, sources, output)
                            : reportFailure(one.status(), output);
    drawn.push_back(std::move(*one));
  }
  if (const Status written = writeText(arguments.picture, pictureOf(drawn, format)); !written.ok())
    return reportFailure(written, output);
  return findings.any() ? reportFindings(findings, sources, output) : 0;
}

} // namespace vime
