#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>

#include "compiler/Driver/Commands.h"
#include "compiler/Driver/JobText.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Phases/Phases.h"
#include "compiler/Verify/Verify.h"
#include "compiler/View/Summary.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {

std::string compilerVersion() { return VIME_VERSION; }

namespace {

// Seconds of each part, told when asked.
class Stopwatch {
public:
  explicit Stopwatch(bool tells) : tells(tells) {}
  void lap(std::string_view part) {
    const Clock::time_point now = Clock::now();
    tell(part, std::chrono::duration<double>(now - last).count());
    last = now;
  }
  void tell(std::string_view part, double seconds) const {
    if (tells)
      std::cerr << fmt::format("{:>8} {:7.3f} s\n", part, seconds);
  }

private:
  using Clock = std::chrono::steady_clock;
  const bool tells;
  Clock::time_point last = Clock::now();
};

std::string successLine(const plan::Plan &plan, const std::string &file) {
  std::size_t actions = 0;
  std::uint64_t peak = 0, peakRank = 0;
  for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank) {
    actions += plan.programs[plan.programOf[rank]].actions.size();
    const auto &arena = plan.layouts[plan.layoutOf[rank]].arena;
    if (arena[0] + arena[1] > peak) {
      peak = arena[0] + arena[1];
      peakRank = rank;
    }
  }
  return fmt::format("{}: {} ranks, {}, {} actions, bubble {:.1f}% (unit cost), peak {} on rank {}",
                     file, plan.mesh.ranks(), plan.schedule, actions, 100 * plan.predictions.bubble,
                     bytesInWords(peak), peakRank);
}

std::vector<std::string_view> provedLabels() {
  std::vector<std::string_view> labels;
  for (const ProvedRule &proved : provedRules())
    labels.push_back(nameOf(proved.rule));
  return labels;
}

} // namespace

namespace {

// The file that the plan would replace, if it is one that it is made from.
std::string inputThatIsReplaced(const CompileArguments &arguments, const Job &job) {
  std::error_code error;
  for (const std::string &input : {arguments.job, pathFromJob(job.file, job.data.text.value)})
    if (!arguments.plan.empty() && std::filesystem::equivalent(arguments.plan, input, error))
      return input;
  return {};
}

} // namespace

int runCompile(const CompileArguments &arguments, const OutputOptions &output) {
  Stopwatch watch(arguments.timing);
  const StatusOr<std::string> text = readFile(arguments.job);
  if (!text.ok())
    return reportFailure(text.status(), output);
  SourceCache sources;
  sources.add(arguments.job, *text);
  Findings findings;
  const std::optional<Job> job = readJob(*text, arguments.job, findings);
  if (!job)
    return reportFindings(findings, sources, output);
  const std::optional<TextFacts> facts = readTextFacts(*job, findings);
  if (!facts)
    return reportFindings(findings, sources, output);
  if (const std::string input = inputThatIsReplaced(arguments, *job); !input.empty())
    return reportFailure(Status(StatusCode::Usage,
                                "the output would replace `" + input + "`, which it is made from"),
                         output, "name another file behind `-o`");
  watch.lap("job");

  Compiled compiled;
  const CompileOptions options{.stopAfter = arguments.stopAfter,
                               .dumpDirectory = arguments.dumpPhases,
                               .text = *facts,
                               .version = compilerVersion()};
  const bool compiles = compileJob(*job, options, compiled, findings);
  for (const PartTime &part : compiled.times)
    watch.tell(part.part, part.seconds);
  watch.lap("phases");
  if (!compiled.internalError.empty())
    return reportFailure(Status(StatusCode::Internal, "internal error: " + compiled.internalError),
                         output);
  if (!compiled.fileError.empty())
    return reportFailure(Status(StatusCode::File, compiled.fileError), output);
  if (!compiles)
    return reportFindings(findings, sources, output);
  if (!arguments.stopAfter.empty()) {
    const Status written =
        writeText(arguments.plan.empty() ? "-" : arguments.plan, compiled.stoppedText);
    return written.ok() ? 0 : reportFailure(written, output);
  }
  if (const Status written = plan::writePlan(*compiled.plan, arguments.plan); !written.ok())
    return reportFailure(written, output);
  watch.lap("write");
  if (output.json)
    std::cout << summaryJson(*compiled.plan, provedLabels()) << "\n";
  else
    std::cerr << fmt::format("{}\n  proved: {}\n  run: vime-exec {}\n",
                             successLine(*compiled.plan, arguments.plan),
                             fmt::join(provedLabels(), " "), arguments.plan);
  return 0;
}

} // namespace vime
