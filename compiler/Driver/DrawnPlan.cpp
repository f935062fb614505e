#include <fmt/format.h>

#include "compiler/Analysis/Slack.h"
#include "compiler/Analysis/StepReport.h"
#include "compiler/Driver/Drawn.h"
#include "compiler/Driver/InputKind.h"
#include "compiler/Driver/PlanOfJob.h"
#include "compiler/Verify/Verify.h"
#include "compiler/View/PlanText.h"
#include "compiler/View/PlanTimeline.h"
#include "compiler/View/TimelineDurations.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

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

StatusOr<plan::Plan> planIn(const std::string &path, const ViewArguments &arguments,
                            Findings &findings, SourceCache &sources) {
  return kindOf(path) == InputKind::Job ? planOfJob({path, arguments.settings}, findings, sources)
                                        : plan::readPlan(path);
}

/// As the basis says, or else as it was in the trace of this plan, if there is one.
StatusOr<PlanCosts> costsFor(const plan::Plan &plan, const CostBasis &basis,
                             std::span<const Timeline> traces) {
  if (basis.costs.empty() && !basis.machine)
    for (const Timeline &trace : traces)
      if (trace.planId == plan::toHex(plan::planId(plan)))
        return PlanCosts{.durations = durationsOf(trace, plan),
                         .origin = "medians of the step that was traced",
                         .unit = trace.unit,
                         .perUnit = trace.perUnit};
  return costsOf(plan, basis);
}

} // namespace

StatusOr<Drawn> drawnPlan(const std::string &path, const ViewArguments &arguments,
                          const CostBasis &basis, std::span<const Timeline> traces,
                          Findings &findings, SourceCache &sources) {
  const StatusOr<plan::Plan> plan = planIn(path, arguments, findings, sources);
  if (!plan.ok())
    return plan.status();
  const std::size_t before = findings.size();
  verifyPlan(*plan, findings, path);
  for (std::size_t index = before; index < findings.size(); ++index)
    if (findings.all()[index].rule == Rule::S3)
      return Status(StatusCode::InvalidInput,
                    "`" + path + "` names what is not there, so that nothing of it can be drawn");
  const StatusOr<verify::Choice> choice = choiceIn(arguments.measured, *plan);
  if (!choice.ok())
    return choice.status();
  const verify::ActionTable table(*plan, *choice);
  std::optional<Measured> measured;
  if (!arguments.measured.empty()) {
    StatusOr<Measured> found = measuredIn(arguments.measured, *plan, table);
    if (!found.ok())
      return found.status();
    measured = std::move(*found);
  }
  StatusOr<PlanCosts> assumed =
      measured && !basis.machine ? measured->costs : costsFor(*plan, basis, traces);
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

} // namespace vime
