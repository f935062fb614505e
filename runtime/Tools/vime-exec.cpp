// vime-exec: runs a plan: all ranks of it on this machine, or the one that a launcher started it
// as.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/Base/Counted.h"
#include "runtime/CommandLine/Arguments.h"
#include "runtime/CommandLine/Completion.h"
#include "runtime/CommandLine/ManPage.h"
#include "runtime/CommandLine/UsageError.h"
#include "runtime/Exec/CheckRun.h"
#include "runtime/Exec/CheckpointCheck.h"
#include "runtime/Exec/InterruptSignals.h"
#include "runtime/Exec/LocalRun.h"
#include "runtime/Exec/ProcessRun.h"
#include "runtime/Exec/RankModel.h"
#include "runtime/Exec/RankProcess.h"
#include "runtime/Plan/PlanFile.h"
#include "runtime/Tools/Progress.h"
#include "runtime/Tools/StandardStreams.h"
#include "runtime/Tools/TransportOption.h"

namespace vime {
namespace {

constexpr const char *kExamples = R"(
examples:
  vime-exec plan.bin                                ranks are threads of this process
  vime-exec plan.bin --transport gloo               one process per rank
  vime-exec plan.bin --base examples/text-1f1b      where the job's relative paths start
  vime-exec plan.bin --json > run.json              losses and times of every step
  vime-exec plan.bin --progress jsonl 2> log.jsonl  the same while it goes on, a JSON object a line
  vime-exec plan.bin --resume                       goes on from the newest checkpoint
  vime-exec plan.bin --check                        could this machine run it?
  torchrun --no-python --nproc-per-node 4 vime-exec plan.bin
                                                    one rank each, on any number of machines

exit codes: 0 ok, 1 input invalid, 2 usage, 3 file, 4 plan not acceptable here, 5 a rank failed,
6 a rank waited too long for a peer, 70 internal error, 130 interrupted
)";

struct Arguments {
  std::string plan;
  std::string transport = "local";
  std::string base = ".";
  std::string isa = "auto";
  std::string progress = "auto";
  std::string completion;
  std::string records;
  std::string traceTo, traceSteps = "1:3";
  std::string resume; // what stands behind `--resume=`, or kNewest
  bool resumeIfAny = false;
  std::string replay;
  std::string interface;
  bool givesTransport = false;
  bool json = false, quiet = false, check = false, man = false;
};

/// Of ranks that have nothing to show.
class SilentObserver final : public RunObserver {
  void stepFinished(const StepRecord &, std::span<const plan::RankStats>) override {}
  void exported() override {}
  void saved(std::uint64_t) override {}
};

constexpr const char *kNewest = "newest";

/// `error: …`, and what follows in the message as notes of it. With `--json` an object too.
int fail(const Status &status, const Arguments &arguments) {
  if (arguments.json) {
    using nlohmann::ordered_json;
    const ordered_json failure{{"error", status.message()}, {"code", status.exitCode()}};
    // A file name need not be UTF-8; JSON must be.
    show(stdout, failure.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  }
  std::string text = status.message();
  for (std::size_t line = text.find('\n'); line != std::string::npos;
       line = text.find('\n', line + 1))
    text.insert(line + 1, "  = ");
  show(stderr, fmt::format("error: {}\n", text));
  return status.exitCode();
}

/// The exit code of a run whose result is `text`.
int finish(const std::string &text, const Arguments &arguments) {
  const Status status = writeResult(text);
  return status.ok() ? 0 : fail(status, arguments);
}

/// `10:12`.
std::optional<std::pair<std::uint32_t, std::uint32_t>> readSteps(std::string_view text) {
  std::uint32_t first = 0, last = 0;
  const char *const end = text.data() + text.size();
  const auto [colon, wrong] = std::from_chars(text.data(), end, first);
  if (wrong != std::errc() || colon == end || *colon != ':')
    return std::nullopt;
  const auto [behind, alsoWrong] = std::from_chars(colon + 1, end, last);
  if (alsoWrong != std::errc() || behind != end || last < first)
    return std::nullopt;
  return std::pair(first, last);
}

trace::TraceWish traceOf(const Arguments &arguments) {
  const auto [first, last] = *readSteps(arguments.traceSteps);
  return {.folder = arguments.traceTo, .first = first, .last = last};
}

/// The folder must be there before the first rank has something to write.
Status makeFolder(const std::string &folder) {
  std::error_code error;
  if (!folder.empty())
    std::filesystem::create_directories(folder, error);
  return error ? Status(StatusCode::File,
                        "cannot make the folder `" + folder + "`: " + error.message())
               : Status();
}

void addOptions(CLI::App &app, Arguments &arguments) {
  app.add_option("plan", arguments.plan, "plan to run, written by `vimec`")->type_name("PLAN.bin");
  CLI::Option *transport =
      app.add_option("--transport", arguments.transport,
                     "how ranks exchange messages (default: local); rendezvous[:merged|:SEED] is "
                     "the strict one of tests")
          ->check(objectionToTransport)
          ->type_name("local|gloo|rendezvous");
  app.add_option("--base", arguments.base,
                 "folder that the job's relative paths refer to (default: this one)")
      ->type_name("DIR");
  takesWord(app.add_option("--isa", arguments.isa,
                           "instructions of the kernels (default: auto); the bits are the same"),
            {"auto", "avx2", "avx512"});
  CLI::Option *resume =
      app.add_flag("--resume{newest}", arguments.resume,
                   "go on from the newest whole checkpoint of the plan's `checkpoint.dir`; or "
                   "`--resume=PATH`: of another directory, or from that one checkpoint")
          ->type_name("[PATH]");
  app.add_flag("--resume-if-any", arguments.resumeIfAny,
               "the same, but begin from the first step when there is no checkpoint")
      ->excludes(resume);
  app.add_option("--replay", arguments.replay,
                 "train on the rounds that another run has left there (`rollout.dump`), and "
                 "generate none: another layout, order or algorithm on the same samples")
      ->type_name("DIR");
  app.add_option("--interface", arguments.interface,
                 "network interface by which other machines reach this one; without it the one "
                 "that leads to `MASTER_ADDR`")
      ->type_name("NAME");
  app.add_option("--records", arguments.records,
                 "folder for the ranks' flight records, which stay there; without it they are "
                 "temporary and stay after a failure only")
      ->type_name("DIR");
  CLI::Option *trace =
      app.add_option("--trace", arguments.traceTo,
                     "folder for a trace of each rank: when every action was posted, began and "
                     "ended; `vimec view PLAN.bin --measured DIR -o run.html` draws it")
          ->type_name("DIR");
  app.add_option("--trace-steps", arguments.traceSteps,
                 "first and last step to trace, counted from 0 (default: 1:3)")
      ->check([](const std::string &text) {
        return readSteps(text) ? std::string()
                               : "takes the first and the last step, not `" + text +
                                     "`\nwrite `--trace-steps 10:12`";
      })
      ->needs(trace)
      ->type_name("FIRST:LAST");
  CLI::Option *json = app.add_flag("--json", arguments.json,
                                   "print the summary, or the error, as JSON to standard output");
  CLI::Option *progress =
      takesWord(app.add_option("--progress", arguments.progress,
                               "what standard error shows of a run: plain lines, jsonl: every step "
                               "as a JSON object, none; auto (default): plain, or one line that is "
                               "redrawn on a terminal"),
                {Progress::kWords.begin(), Progress::kWords.end()});
  CLI::Option *quiet =
      app.add_flag("--quiet", arguments.quiet, "show neither progress nor a summary");
  app.add_flag("--check", arguments.check, "only check whether the plan can run here")
      ->excludes(json)
      ->excludes(transport)
      ->excludes(progress);
  quiet->excludes(progress);
  takesWord(app.add_option("--completion", arguments.completion,
                           "print what a shell needs to complete vime-exec"),
            completionShells());
  app.add_flag("--man", arguments.man, "print the manual page of vime-exec");
  for (CLI::Option *option : app.get_options())
    if (option->get_items_expected_max() == 0 && option != resume)
      option->disable_flag_override();
}

/// What is asked of the tool itself; an exit code if it was.
std::optional<int> describe(const CLI::App &app, const Arguments &arguments) {
  if (arguments.man)
    return finish(manPage(app, {VIME_VERSION, {"vimec(1)"}}), arguments);
  if (!arguments.completion.empty())
    return finish(completionScript(app, arguments.completion, {}), arguments);
  if (arguments.plan.empty())
    return fail(Status(StatusCode::Usage, "no plan given\nhelp: run `vime-exec --help`"),
                arguments);
  return std::nullopt;
}

/// An exit code when there is nothing to run.
std::optional<int> parse(int count, char **values, Arguments &arguments) {
  CLI::App app("run a compiled plan: start all its ranks on this machine and train", "vime-exec");
  app.footer(kExamples);
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", "vime-exec " VIME_VERSION, "print the version");
  addOptions(app, arguments);
  try {
    app.parse(count, values);
  } catch (const CLI::Success &asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError &error) {
    arguments.json = std::any_of(values, values + count, [](const char *value) {
      return std::string_view(value) == "--json";
    });
    const UsageError problem = usageError(app, error);
    return fail(Status(StatusCode::Usage, problem.message + "\nhelp: " + problem.help), arguments);
  }
  arguments.givesTransport = app.count("--transport") > 0;
  return describe(app, arguments);
}

ResumeWish wishOf(const Arguments &arguments) {
  using enum ResumeWish::Kind;
  if (arguments.resumeIfAny)
    return {.kind = IfAny};
  if (arguments.resume.empty())
    return {};
  return {.kind = Yes, .from = arguments.resume == kNewest ? "" : arguments.resume};
}

/// Chooses the checkpoint, and says so.
Status choose(const plan::Plan &plan, const Arguments &arguments, ResumeWish &wish) {
  const StatusOr<std::optional<Choice>> choice = chooseResume(plan, arguments.base, wish);
  if (!choice.ok())
    return choice.status();
  if (!*choice)
    return Status();
  for (const std::string &skipped : (*choice)->skipped)
    show(stderr, fmt::format("note: skipped a checkpoint: {}\n", skipped));
  wish.chosen = (*choice)->checkpoint.path();
  if (!arguments.quiet)
    show(stderr, fmt::format("resuming `{}` behind step {}\n", wish.chosen,
                             (*choice)->checkpoint.manifest().progress.steps));
  return Status();
}

int check(const plan::Plan &plan, const Arguments &arguments) {
  RunOptions options{.base = arguments.base, .isa = parseIsa(arguments.isa)};
  options.resume = wishOf(arguments);
  Status status = choose(plan, arguments, options.resume);
  if (status.ok())
    status = checkRun(plan, options);
  if (!status.ok())
    return fail(status, arguments);
  if (arguments.quiet)
    return 0;
  return finish(fmt::format("`{}` can run here: {}, {}\n", arguments.plan,
                            counted(plan.mesh.ranks(), "rank"), counted(plan.run.steps, "step")),
                arguments);
}

Progress progressOf(const plan::Plan &plan, const std::string &transport,
                    const Arguments &arguments) {
  return Progress(plan, transport, pathFrom(arguments.base, plan.run.exportTo),
                  Progress::styleFor(arguments.quiet ? "none" : arguments.progress, stderr),
                  stderr);
}

/// The exit code of a run that was watched by `progress`.
int conclude(const Status &status, Progress &progress, const Arguments &arguments) {
  progress.close();
  if (!status.ok())
    return fail(status, arguments);
  if (arguments.json)
    return finish(jsonOf(progress.result()), arguments);
  return arguments.quiet ? 0 : finish(textOf(progress.result()), arguments);
}

int run(const plan::Plan &plan, const Arguments &arguments, char **values) {
  const InterruptSignals signals;
  RunOptions options{.base = arguments.base,
                     .isa = parseIsa(arguments.isa),
                     .interrupts = signals.descriptor(),
                     .rendezvous = parseRendezvous(arguments.transport),
                     .plan = arguments.plan,
                     .records = arguments.records,
                     .abandon = [&](const Status &status) { std::_Exit(fail(status, arguments)); },
                     .resume = wishOf(arguments),
                     .replay = arguments.replay,
                     .trace = traceOf(arguments)};
  if (Status status = makeFolder(options.trace.folder); !status.ok())
    return fail(status, arguments);
  if (Status status = choose(plan, arguments, options.resume); !status.ok())
    return fail(status, arguments);
  Progress progress = progressOf(plan, arguments.transport, arguments);
  const Status status = arguments.transport == "gloo"
                            ? runProcesses(plan, values, options, progress)
                            : runLocal(plan, plan::planId(plan), options, progress);
  return conclude(status, progress, arguments);
}

/// One rank that another program started. Rank 0 shows the run, the others only what goes wrong.
int runLaunched(const RankProcess &self, Arguments arguments) {
  arguments.json = arguments.json && self.launch.rank == 0; // one object for the run
  if (arguments.givesTransport && arguments.transport != "gloo")
    return fail(Status(StatusCode::Usage,
                       fmt::format("rank {}: ranks that {} starts meet over gloo, not over {}",
                                   self.launch.rank, self.launch.by, arguments.transport)),
                arguments);
  RunOptions options{.base = arguments.base,
                     .isa = parseIsa(arguments.isa),
                     .interface = arguments.interface,
                     .records = arguments.records,
                     .abandon = [&](const Status &status) { std::_Exit(fail(status, arguments)); },
                     .resume = wishOf(arguments),
                     .replay = arguments.replay,
                     .trace = traceOf(arguments)};
  if (Status status = makeFolder(options.trace.folder); !status.ok())
    return fail(status, arguments);
  StatusOr<plan::Plan> whole = Status(StatusCode::Internal, "only rank 0 shows the run");
  Status ready;
  if (self.launch.rank == 0) {
    whole = plan::readPlan(arguments.plan);
    ready = whole.ok() ? choose(*whole, arguments, options.resume) : whole.status();
  }
  if (!whole.ok()) {
    SilentObserver nobody;
    const Status status = runRank(self, arguments.plan, options, nobody, ready).status;
    return status.ok() ? 0 : fail(status, arguments);
  }
  Progress progress = progressOf(*whole, "gloo", arguments);
  return conclude(runRank(self, arguments.plan, options, progress, ready).status, progress,
                  arguments);
}

int runHere(const Arguments &arguments, char **values) {
  if (!arguments.interface.empty())
    return fail(Status(StatusCode::Usage,
                       "`--interface` is for a rank that a launcher starts: all ranks start here"),
                arguments);
  const StatusOr<plan::Plan> plan = plan::readPlan(arguments.plan);
  if (!plan.ok())
    return fail(plan.status(), arguments);
  if (Status status = checkCheckpoints(*plan, arguments.base); !status.ok())
    return fail(status, arguments);
  return arguments.check ? check(*plan, arguments) : run(*plan, arguments, values);
}

int mainOf(int count, char **values) {
  Arguments arguments;
  if (const std::optional<int> code = parse(count, values, arguments))
    return *code;
  const StatusOr<std::optional<RankProcess>> self = rankOfThisProcess();
  if (arguments.check || (self.ok() && !*self))
    return runHere(arguments, values);
  if (!self.ok())
    return fail(self.status(), arguments);
  if ((*self)->reports >= 0)
    return runReportingRank(**self, arguments.plan,
                            {.base = arguments.base,
                             .isa = parseIsa(arguments.isa),
                             .resume = wishOf(arguments),
                             .replay = arguments.replay,
                             .trace = traceOf(arguments)});
  return runLaunched(**self, arguments);
}

} // namespace
} // namespace vime

int main(int count, char **values) {
  vime::prepareStandardStreams();
  try {
    return vime::mainOf(count, values);
  } catch (const std::exception &error) { // of the standard library: memory, threads
    std::fprintf(stderr, "error: internal error: %s\n", error.what());
    return vime::Status(vime::StatusCode::Internal, "").exitCode();
  }
}
