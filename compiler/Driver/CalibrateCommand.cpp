// vimec calibrate: some steps of a job, run here and traced, become a machine.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>

#include <sched.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Driver/ChildProcess.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/PlanCosts.h"
#include "compiler/Driver/PlanOfJob.h"
#include "compiler/Frontend/FieldTable.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Machine/Calibrate.h"
#include "compiler/Machine/FigureText.h"
#include "compiler/Machine/PrintMachine.h"
#include "runtime/Base/Counted.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

namespace fs = std::filesystem;

constexpr int kMostSteps = 100'000;

/// A folder of its own, gone with its content at the end.
class WorkFolder {
public:
  WorkFolder() {
    std::error_code error;
    std::string pattern = fs::temp_directory_path(error) / "vime-calibrate-XXXXXX";
    if (!error && mkdtemp(pattern.data()))
      path = pattern;
  }
  ~WorkFolder() {
    std::error_code error;
    if (!path.empty())
      fs::remove_all(path, error);
  }
  WorkFolder(const WorkFolder &) = delete;
  std::string path; // empty: it could not be made
};

/// What a run would write, or do now and then, is no part of a step; the machine that the job names
/// may be the one that is to be written.
void keepToTraining(Job &job) {
  job.cluster.machine = {};
  job.checkpoint.directory.value.clear();
  job.checkpoint.every.value = 0;
  job.checkpoint.keep.value = 0;
  job.run.exportTo.value.clear();
  job.evaluation = {};
}

std::uint32_t coresHere() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::uint32_t>(CPU_COUNT(&set))
                                                     : 1;
}

/// Whether tasks of the plan would take each other's cores, so that their times are not their own.
Status judgeCores(const plan::Plan &plan, std::uint32_t cores) {
  const ModelFamily family = plan.models[0].config.family;
  if (plan.mesh.ranks() <= cores || family == ModelFamily::Sleep || family == ModelFamily::Null)
    return Status();
  return Status(
      StatusCode::InvalidInput,
      fmt::format("the job has {} and this machine {}: tasks would take longer than on a "
                  "core of their own\nhelp: calibrate it on fewer ranks, by `--set`: what "
                  "is measured holds for any number of them",
                  counted(plan.mesh.ranks(), "rank"), counted(cores, "core")));
}

/// The steps to measure, and one before them. What the job or another setting says of them does not
/// matter.
JobArguments withSteps(JobArguments job, int steps) {
  std::erase_if(job.settings, [](const std::string &setting) {
    return setting.starts_with("run.steps=") || setting.starts_with("run.train-iters=");
  });
  job.settings.push_back(fmt::format("run.steps={}", steps + 1));
  return job;
}

/// A round is more than its steps, and engines wait most of the time. Of standard input the
/// compiler says so: it can be read only once.
Status judgeRounds(const JobArguments &arguments) {
  const StatusOr<std::string> text =
      arguments.file == "-" ? StatusOr<std::string>(std::string()) : readFile(arguments.file);
  if (!text.ok())
    return text.status();
  Findings findings;
  const std::optional<Job> job = readJob(*text, arguments.file, findings, arguments.settings);
  if (!job || !hasRounds(*job))
    return Status();
  return Status(StatusCode::InvalidInput,
                fmt::format("`{}` has rounds, and a machine is measured by steps alone\nhelp: "
                            "measure a job that trains the same model on a text",
                            arguments.file));
}

/// Of the file, as a machine may be named.
std::string nameOfMachine(const std::string &file) {
  std::string name = fs::path(file).stem();
  const FieldSpec spec{.type = FieldType::Name};
  const auto isName = [&] { return std::holds_alternative<Value>(parseValue(spec, name)); };
  for (char &letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '_' && letter != '.')
      letter = '-';
  const bool saysSomething = name.find_first_not_of('-') != name.npos;
  return file != "-" && saysSomething && isName() ? name : "here";
}

/// Before minutes of measuring: what is measured, and whether there is a folder that takes the
/// file.
Status judge(const CalibrateArguments &arguments) {
  if (arguments.steps < 1 || arguments.steps > kMostSteps)
    return Status(StatusCode::Usage,
                  fmt::format("`--steps` is {}, must be at least 1 and at most {}", arguments.steps,
                              kMostSteps));
  const std::string &file = arguments.machine;
  if (const std::string input = replacedBy(file, {arguments.job.file}); !input.empty())
    return Status(StatusCode::Usage,
                  "the machine would replace `" + input + "`, which it is made from");
  std::error_code error;
  if (fs::is_directory(file, error))
    return Status(StatusCode::File, fmt::format("cannot write `{}`: it is a directory", file));
  const std::string folder = fs::path(file).parent_path();
  if (file == "-" || access(file.c_str(), W_OK) == 0 ||
      access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0)
    return Status();
  return Status(StatusCode::File,
                fmt::format("cannot write `{}`: {}\nhelp: name a file in a folder "
                            "that can be written to",
                            file, std::strerror(errno)));
}

/// vime-exec beside this program runs the plan and traces all steps but the first one.
Status runTraced(const std::string &plan, const std::string &traces,
                 const CalibrateArguments &arguments) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const std::string folder = fs::path(arguments.job.file).parent_path();
  const StatusOr<int> code =
      runChild({self.parent_path() / "vime-exec", plan, "--quiet", "--transport",
                arguments.transport, "--base", folder.empty() ? "." : folder, "--trace", traces,
                "--trace-steps", fmt::format("1:{}", arguments.steps)});
  if (!code.ok())
    return code.status();
  if (*code == static_cast<int>(StatusCode::Interrupted))
    return Status(StatusCode::Interrupted, ""); // it has said so itself
  if (*code != 0)
    return Status(static_cast<StatusCode>(*code),
                  fmt::format("the run failed with exit code {}, so nothing was measured", *code));
  return Status();
}

/// Of the traced steps that another traced one precedes.
std::int64_t medianPeriod(const verify::ActionTable &table,
                          const std::vector<trace::RankTrace> &traces, std::uint32_t last) {
  std::vector<std::int64_t> periods;
  for (std::uint32_t step = 2; step <= last; ++step)
    periods.push_back(measuredStep(table, traces, step).period);
  return median(periods);
}

struct Calibrated {
  Machine machine;
  std::int64_t measured = 0, expected = 0; // a step, in nanoseconds
};

StatusOr<Calibrated> calibrate(const plan::Plan &plan, const std::string &folder,
                               const CalibrateArguments &arguments) {
  const verify::ActionTable table(plan, steadyStepOf(plan));
  StatusOr<std::vector<trace::RankTrace>> traces = readTraces(folder, table, plan::planId(plan));
  if (!traces.ok())
    return traces.status();
  const std::optional<std::uint32_t> last = lastStepOf(table, *traces);
  if (!last)
    return Status(StatusCode::InvalidInput,
                  "no whole step was measured\nhelp: take more `--steps`");
  alignClocks(table, *traces);
  Calibrated found{
      .machine =
          calibrated(table, observedTimes(table, *traces),
                     {.name = nameOfMachine(arguments.machine),
                      .source = fmt::format(
                          "{} of `{}`, {} on {} over {}",
                          counted(static_cast<std::size_t>(arguments.steps), "step"), plan.run.name,
                          plan.schedule, counted(plan.mesh.ranks(), "rank"), arguments.transport),
                      .cores = coresHere()}),
      .measured = *last > 1 ? medianPeriod(table, *traces, *last)
                            : measuredStep(table, *traces, *last).period};
  const StatusOr<MachineCosts> costs = costsOn(found.machine, plan);
  if (!costs.ok())
    return costs.status();
  found.expected = simulate(table, costs->durations).period;
  return found;
}

std::string milliseconds(std::int64_t nanoseconds) {
  return printFigure(FigureKind::Seconds, static_cast<double>(nanoseconds) / 1e9);
}

void tell(const Calibrated &found, const CalibrateArguments &arguments,
          const OutputOptions &output) {
  constexpr double kTrue = 0.2;
  const double error =
      static_cast<double>(found.expected) / static_cast<double>(found.measured) - 1;
  if (output.json)
    std::cout
        << nlohmann::ordered_json{{"machine", arguments.machine},
                                  {"steps", arguments.steps},
                                  {"measured_seconds", static_cast<double>(found.measured) / 1e9},
                                  {"expected_seconds", static_cast<double>(found.expected) / 1e9}}
               .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
        << "\n";
  else
    std::cerr << fmt::format("{}: {}\n  a step took {}; from what was written one of {} follows, "
                             "{:+.1f}%\n  use: vimec simulate plan.bin --machine {}\n",
                             arguments.machine, found.machine.measured->source,
                             milliseconds(found.measured), milliseconds(found.expected),
                             100 * error, shellWord(arguments.machine));
  if (std::abs(error) > kTrue)
    std::cerr << fmt::format("warning: what was written does not even foretell the run that it was "
                             "measured on: {} for {}\n  = help: measure while nothing else runs; "
                             "where stages take a few microseconds, what ranks wait for each other "
                             "decides, of which a machine says nothing\n",
                             milliseconds(found.expected), milliseconds(found.measured));
}

} // namespace

int runCalibrate(const CalibrateArguments &arguments, const OutputOptions &output) {
  if (output.json && arguments.machine == "-")
    return reportFailure(
        Status(StatusCode::Usage, "the machine and `--json` both go to standard output"), output,
        "name another file behind `-o`");
  if (const Status fit = judge(arguments); !fit.ok())
    return reportFailure(fit, output);
  if (const Status rounds = judgeRounds(arguments.job); !rounds.ok())
    return reportFailure(rounds, output);
  SourceCache sources;
  Findings findings;
  const StatusOr<plan::Plan> plan =
      planOfJob(withSteps(arguments.job, arguments.steps), findings, sources, keepToTraining);
  if (!plan.ok())
    return findings.any() ? reportFindings(findings, sources, output)
                          : reportFailure(plan.status(), output);
  if (const Status cores = judgeCores(*plan, coresHere()); !cores.ok())
    return reportFailure(cores, output);
  const WorkFolder folder;
  if (folder.path.empty())
    return reportFailure(Status(StatusCode::File, "cannot make a folder to work in"), output,
                         "let TMPDIR name one that can be written to");
  const std::string file = folder.path + "/plan.bin", traces = folder.path + "/traces";
  Status status = plan::writePlan(*plan, file);
  if (status.ok())
    status = runTraced(file, traces, arguments);
  if (status.code() == StatusCode::Interrupted && status.message().empty() && !output.json)
    return status.exitCode();
  if (!status.ok())
    return reportFailure(status, output);
  const StatusOr<Calibrated> found = calibrate(*plan, traces, arguments);
  if (!found.ok())
    return reportFailure(found.status(), output);
  status = writeText(arguments.machine, printMachine(found->machine));
  if (!status.ok())
    return reportFailure(status, output);
  tell(*found, arguments, output);
  return 0;
}

} // namespace vime
