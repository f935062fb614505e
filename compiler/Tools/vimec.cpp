// vimec: compiles a declared training job into one verified program per rank.
#include <string>
#include <vector>

#include <csignal>
#include <iostream>

#include <CLI/CLI.hpp>

#include "compiler/Driver/Commands.h"

namespace {

const char *const kExamples = R"(
examples:
  vimec job.yaml -o plan.bin                    compile, prove, write; run it with `vime-exec plan.bin`
  vimec check job.yaml                          say what is wrong with a job, all of it
  vimec order interleaved --ranks 4 --microbatches 8 --chunks 2
  vimec show plan.bin --format=grid
  vimec verify plan.bin
  vimec job.yaml --stop-after=comm              print the IR after a phase (job, order, comm, memory, plan)

exit codes: 0 ok, 1 input invalid, 2 usage, 3 file, 4 plan not acceptable, 70 internal error
)";

/// What CLI11 cannot say: an option of compiling beside a verb would be ignored.
std::string optionBesideVerb(const CLI::App &app) {
  for (const CLI::App *verb : app.get_subcommands())
    for (const CLI::Option *option : app.get_options())
      if (option->count() > 0 && option->get_name() != "--json")
        return "`" + option->get_name() + "` is for compiling a job, not for `" + verb->get_name() +
               "`";
  return {};
}

int dispatch(int argc, char **argv) {
  using namespace vime;
  CLI::App app{"vimec: compile a declared training job into one verified program per rank",
               "vimec"};
  app.footer(kExamples);
  app.set_version_flag("--version", "vimec " + compilerVersion());
  app.require_subcommand(0, 1);
  OutputOptions output;
  auto takesJson = [&](CLI::App &verb) {
    return verb.add_flag("--json", output.json, "print results and errors as JSON");
  };

  CompileArguments compile;
  app.add_option("job", compile.job, "job.yaml (a file named like a verb is written ./check)");
  app.add_option("-o,--output", compile.plan, "plan to write");
  CLI::Option *stopAfter =
      app.add_option("--stop-after", compile.stopAfter, "print the IR after this phase and stop")
          ->check(CLI::IsMember({"job", "order", "comm", "memory", "plan"}));
  app.add_option("--dump-phases", compile.dumpPhases,
                 "write the IR after every phase to this directory");
  app.add_flag("--timing", compile.timing, "print the seconds of each part");
  CLI::Option *json = takesJson(app)->excludes(stopAfter); // the IR is text

  std::string checkJob;
  CLI::App *check = app.add_subcommand("check", "judge a job without compiling it");
  check->add_option("job", checkJob, "job.yaml, or - for standard input")->required();
  takesJson(*check);

  std::string verifyPlan;
  CLI::App *verify = app.add_subcommand("verify", "prove a plan safe, or show why it is not");
  verify->add_option("plan", verifyPlan, "plan.bin")->required();
  takesJson(*verify);

  ShowArguments show;
  CLI::App *shows = app.add_subcommand("show", "print a plan");
  shows->add_option("plan", show.plan, "plan.bin")->required();
  CLI::Option *showFormat =
      shows->add_option("--format", show.format, "summary (default), text, grid or csv")
          ->check(CLI::IsMember({"summary", "text", "grid", "csv"}));
  takesJson(*shows)->excludes(showFormat);

  OrderArguments order;
  CLI::App *orders = app.add_subcommand("order", "print a pipeline order without a job");
  orders->footer("\norders:\n" + orderTable());
  orders->add_option("name", order.name, "one of the orders below")->required();
  orders->add_option("--ranks", order.ranks, "ranks of the pipeline")->required();
  orders->add_option("--microbatches", order.microbatches, "microbatches of a step")->required();
  orders->add_option("--chunks", order.chunks, "stages per rank (default: what the order needs)");
  CLI::Option *orderFormat =
      orders
          ->add_option("--format", order.format,
                       "grid (default): the picture on the clock of unit costs; rows, csv: "
                       "PyTorch's notation, aligned or as it is")
          ->check(CLI::IsMember({"grid", "rows", "csv"}));
  takesJson(*orders)->excludes(orderFormat);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(StatusCode::Usage);
  }
  // `--json` in front of a verb is as good as behind it, but excludes the same.
  const bool hasFormat = showFormat->count() > 0 || orderFormat->count() > 0;
  if (json->count() > 0 && hasFormat)
    return reportFailure(Status(StatusCode::Usage, "--json excludes --format"), {});
  if (const std::string wrong = optionBesideVerb(app); !wrong.empty())
    return reportFailure(Status(StatusCode::Usage, wrong), output, "run `vimec --help`");
  if (*check)
    return runCheck(checkJob, output);
  if (*verify)
    return runVerify(verifyPlan, output);
  if (*shows)
    return runShow(show, output);
  if (*orders)
    return runOrder(order, output);
  if (compile.job.empty())
    return reportFailure(Status(StatusCode::Usage, "no job given"), output, "run `vimec --help`");
  if (compile.plan.empty() && compile.stopAfter.empty())
    return reportFailure(Status(StatusCode::Usage, "no output given"), output, "add `-o plan.bin`");
  return runCompile(compile, output);
}

} // namespace

int main(int argc, char **argv) {
  using namespace vime;
  // A file that may grow no further is an error of the write, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    const int code = dispatch(argc, argv);
    if (!std::cout.flush() && code == 0)
      return reportFailure(Status(StatusCode::File, "cannot write to standard output"), {});
    return code;
  } catch (const std::exception &error) {
    return reportFailure(
        Status(StatusCode::Internal, std::string("internal error: ") + error.what()), {});
  }
}
