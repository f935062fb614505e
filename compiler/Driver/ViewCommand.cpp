// vimec view: plans, jobs, orders and traces as pictures. What is wrong with one is told, and drawn
// as far as it comes.
#include <algorithm>
#include <filesystem>

#include "compiler/Driver/Drawn.h"
#include "compiler/Driver/InputKind.h"
#include "compiler/View/ChromeTrace.h"
#include "compiler/View/HtmlView.h"
#include "compiler/View/ReadChromeTrace.h"
#include "compiler/View/SvgView.h"

namespace vime {
namespace {

/// By the ending of the name, where nobody said it; empty: that says nothing.
std::string formatOf(const ViewArguments &arguments) {
  if (!arguments.format.empty())
    return arguments.format;
  const std::string ending = std::filesystem::path(arguments.picture).extension().string();
  return ending == ".svg"                                          ? "svg"
         : ending == ".json"                                       ? "chrome"
         : ending == ".txt"                                        ? "grid"
         : ending.empty() || ending == ".html" || ending == ".htm" ? "html"
                                                                   : "";
}

StatusOr<std::string> gridOf(const std::vector<Drawn> &drawn) {
  std::string text;
  for (const Drawn &one : drawn) {
    if (one.grid.empty())
      return Status(StatusCode::Usage, "a grid is of a job, a plan or an order, not of a trace");
    text += (drawn.size() > 1 ? one.timeline.title + "\n" : "") + one.grid;
  }
  return text;
}

StatusOr<std::string> pictureOf(const std::vector<Drawn> &drawn, const std::string &format) {
  if (format == "grid")
    return gridOf(drawn);
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

Status checkArguments(const ViewArguments &arguments, const std::string &format) {
  if (const std::string input = replacedBy(arguments.picture, arguments.inputs); !input.empty())
    return Status(StatusCode::Usage,
                  "the picture would replace `" + input + "`, which it is made from");
  if (format.empty())
    return Status(StatusCode::Usage,
                  "the name `" + arguments.picture +
                      "` does not say what to draw\nhelp: let it end in .html, .svg, .json or "
                      ".txt, or add `--format`");
  if (format == "chrome" && arguments.inputs.size() > 1)
    return Status(StatusCode::Usage,
                  "a trace is of one plan\nhelp: write one file for each, and open them side by "
                  "side");
  const auto isOf = [&arguments](InputKind kind) {
    return std::any_of(arguments.inputs.begin(), arguments.inputs.end(),
                       [kind](const std::string &input) { return kindOf(input) == kind; });
  };
  if (!arguments.measured.empty() &&
      (arguments.inputs.size() > 1 || isOf(InputKind::Table) || isOf(InputKind::Trace)))
    return Status(StatusCode::Usage, "traces are of one plan");
  if (!arguments.costs.machine.empty() && isOf(InputKind::Table))
    return Status(StatusCode::Usage, std::string(kMachineOfTable) + "\nhelp: " + kCostsOfTable);
  const bool hasCosts = !arguments.costs.costs.empty() || !arguments.costs.machine.empty();
  if (hasCosts && !isOf(InputKind::Plan) && !isOf(InputKind::Job) && !isOf(InputKind::Table))
    return Status(StatusCode::Usage, "a trace has costs of its own");
  if (!arguments.settings.empty() && !isOf(InputKind::Job))
    return Status(StatusCode::Usage, "`--set` is for jobs, and none is to be drawn");
  return Status();
}

/// All inputs in their sequence; traces are read first, since plans may be drawn by them.
Status drawAll(const ViewArguments &arguments, const CostBasis &basis, Findings &findings,
               SourceCache &sources, std::vector<Drawn> &drawn) {
  std::vector<Timeline> traces;
  for (const std::string &input : arguments.inputs)
    if (kindOf(input) == InputKind::Trace) {
      StatusOr<Timeline> trace = readChromeTrace(input);
      if (!trace.ok())
        return trace.status();
      traces.push_back(std::move(*trace));
    }
  auto nextTrace = traces.begin();
  for (const std::string &input : arguments.inputs) {
    const InputKind kind = kindOf(input);
    if (kind == InputKind::Trace) {
      drawn.push_back({*nextTrace++, {}, {}});
      continue;
    }
    StatusOr<Drawn> one = kind == InputKind::Table
                              ? drawnTable(input, arguments, findings, sources)
                              : drawnPlan(input, arguments, basis, traces, findings, sources);
    if (!one.ok())
      return one.status();
    drawn.push_back(std::move(*one));
  }
  return Status();
}

} // namespace

int runView(const ViewArguments &arguments, const OutputOptions &output) {
  const std::string format = formatOf(arguments);
  if (const Status status = checkArguments(arguments, format); !status.ok())
    return reportFailure(status, output);
  int code = 0;
  const std::optional<CostBasis> basis = readCostBasis(arguments.costs, output, code);
  if (!basis)
    return code;
  SourceCache sources;
  Findings findings;
  std::vector<Drawn> drawn;
  if (const Status status = drawAll(arguments, *basis, findings, sources, drawn); !status.ok())
    return findings.any() ? reportFindings(findings, sources, output)
                          : reportFailure(status, output);
  const StatusOr<std::string> picture = pictureOf(drawn, format);
  if (!picture.ok())
    return reportFailure(picture.status(), output);
  if (const Status written = writeText(arguments.picture, *picture); !written.ok())
    return reportFailure(written, output);
  return findings.any() ? reportFindings(findings, sources, output) : 0;
}

} // namespace vime
