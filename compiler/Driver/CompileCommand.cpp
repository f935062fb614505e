#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>
#include <unistd.h>

#include "compiler/Driver/Commands.h"
#include "compiler/Driver/JobMachine.h"
#include "compiler/Driver/JobText.h"
#include "compiler/Driver/OrderNotes.h"
#include "compiler/Driver/RoundNotes.h"
#include "compiler/Driver/TextNotes.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Frontend/Rules.h"
#include "compiler/Phases/Phases.h"
#include "compiler/Verify/Verify.h"
#include "compiler/View/Summary.h"
#include "runtime/Base/Counted.h"
#include "runtime/Plan/Describe.h"
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
    actions += plan::programOf(plan, rank)->actions.size();
    const auto &arena = plan::layoutOf(plan, rank)->arena;
    if (arena[0] + arena[1] > peak) {
      peak = arena[0] + arena[1];
      peakRank = rank;
    }
  }
  const plan::Predictions &expected = plan.predictions;
  const std::string step =
      expected.costs.empty()
          ? fmt::format("bubble {:.1f}% (unit cost)", 100 * expected.bubble)
          : fmt::format("{:.4g} s a step, bubble {:.1f}% ({})", expected.stepSeconds,
                        100 * expected.expectedBubble, expected.costs);
  return fmt::format("{}: {}, {}, {}, {}, peak {} on rank {}", file,
                     counted(plan.mesh.ranks(), "rank"), plan.schedule, counted(actions, "action"),
                     step, bytesInWords(peak), peakRank);
}

// How to run the plan from here. Relative paths of the job count from its folder.
std::string runLine(const CompileArguments &arguments, const Job &job) {
  std::string line = "vime-exec " + shellWord(arguments.plan);
  const std::string folder = std::filesystem::path(job.file).parent_path().string();
  return folder.empty() ? line : line + " --base " + shellWord(folder);
}

std::vector<std::string_view> provedLabels() {
  std::vector<std::string_view> labels;
  for (const ProvedRule &proved : provedRules())
    labels.push_back(nameOf(proved.rule));
  return labels;
}

Status writeOutput(const plan::Plan &plan, const std::string &path) {
  return path == "-" ? writeText("-", plan::serializePlan(plan)) : plan::writePlan(plan, path);
}

// What was written, and what to do with it.
void tellSuccess(const Compiled &compiled, const CompileArguments &arguments, const Job &job,
                 const OutputOptions &output) {
  if (output.json) {
    std::cout << summaryJson(*compiled.plan, provedLabels()) << "\n";
    return;
  }
  if (arguments.plan == "-")
    std::cerr << successLine(*compiled.plan, "standard output") << "\n";
  else
    std::cerr << fmt::format("{}\n  proved: {}\n  run: {}\n",
                             successLine(*compiled.plan, arguments.plan),
                             fmt::join(provedLabels(), " "), runLine(arguments, job));
  for (const std::string &note : notesOn(job))
    std::cerr << "  note: " << note << "\n";
  for (const std::string &note : notesOnText(job))
    std::cerr << "  note: " << note << "\n";
  for (const std::string &note : notesOnRounds(job))
    std::cerr << "  note: " << note << "\n";
}

int writeResult(const Compiled &compiled, const CompileArguments &arguments, const Job &job,
                const OutputOptions &output) {
  const Status written =
      arguments.stopAfter.empty()
          ? writeOutput(*compiled.plan, arguments.plan)
          : writeText(arguments.plan.empty() ? "-" : arguments.plan, compiled.stoppedText);
  if (!written.ok())
    return reportFailure(written, output);
  if (arguments.stopAfter.empty())
    tellSuccess(compiled, arguments, job, output);
  return 0;
}

// What cannot be done with the output, before anything is compiled.
Status checkOutput(const CompileArguments &arguments, const Job &job, const OutputOptions &output) {
  if (const std::string input = replacedBy(
          arguments.plan, {arguments.job.file, pathFromJob(job.file, job.data.text.value)});
      !input.empty())
    return Status(StatusCode::Usage,
                  "the output would replace `" + input + "`, which it is made from");
  if (arguments.plan != "-" || !arguments.stopAfter.empty())
    return Status();
  if (output.json)
    return Status(StatusCode::Usage, "the plan and `--json` both go to standard output");
  if (isatty(STDOUT_FILENO) != 0)
    return Status(StatusCode::Usage, "a plan is no text for a terminal");
  return Status();
}

} // namespace

int runCompile(const CompileArguments &arguments, const OutputOptions &output) {
  Stopwatch watch(arguments.timing);
  const StatusOr<std::string> text = readFile(arguments.job.file);
  if (!text.ok())
    return reportFailure(text.status(), output);
  SourceCache sources;
  sources.add(arguments.job.file, *text);
  Findings findings;
  const std::optional<Job> job =
      readJob(*text, arguments.job.file, findings, arguments.job.settings, &sources);
  if (!job)
    return reportFindings(findings, sources, output);
  const std::optional<TextFacts> facts = readTextFacts(*job, findings);
  if (!facts)
    return reportFindings(findings, sources, output);
  const std::optional<Machine> machine = readJobMachine(*job, findings, sources);
  if (findings.any())
    return reportFindings(findings, sources, output);
  if (const Status status = checkOutput(arguments, *job, output); !status.ok())
    return reportFailure(status, output, "name another file behind `-o`");
  watch.lap("job");

  Compiled compiled;
  const CompileOptions options{.stopAfter = arguments.stopAfter,
                               .dumpDirectory = arguments.dumpPhases,
                               .text = *facts,
                               .version = compilerVersion(),
                               .machine = machine};
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
  const int code = writeResult(compiled, arguments, *job, output);
  watch.lap("write");
  return code;
}

} // namespace vime
