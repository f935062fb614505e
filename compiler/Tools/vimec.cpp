// vimec: compiles a declared training job into one verified program per rank.
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

} // namespace

int main(int argc, char **argv) {
  using namespace vime;
  CLI::App app{"vimec: compile a declared training job into one verified program per rank", "vimec"};
  app.footer(kExamples);
  app.set_version_flag("--version", "vimec " + compilerVersion());
  OutputOptions output;
  auto takesJson = [&](CLI::App &verb) { verb.add_flag("--json", output.json, "print results and errors as JSON"); };

  CompileArguments compile;
  app.add_option("job", compile.job, "job.yaml (a file named like a verb is written ./check)");
  app.add_option("-o,--output", compile.plan, "plan to write");
  app.add_option("--stop-after", compile.stopAfter, "print the IR after this phase and stop")
      ->check(CLI::IsMember({"job", "order", "comm", "memory", "plan"}));
  app.add_option("--dump-phases", compile.dumpPhases, "write the IR after every phase to this directory");
  app.add_flag("--timing", compile.timing, "print the seconds of each part");
  takesJson(app);

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
  shows->add_option("--format", show.format, "summary (default), text, grid or csv")
      ->check(CLI::IsMember({"summary", "text", "grid", "csv"}));
  takesJson(*shows);

  OrderArguments order;
  CLI::App *orders = app.add_subcommand("order", "print a pipeline order without a job");
  orders->add_option("name", order.name, "gpipe, 1f1b, interleaved or zb-h1")->required();
  orders->add_option("--ranks", order.ranks, "ranks of the pipeline")->required();
  orders->add_option("--microbatches", order.microbatches, "microbatches of a step")->required();
  orders->add_option("--chunks", order.chunks, "stages per rank (default: what the order needs)");
  orders->add_option("--format", order.format, "timeline (default), grid or csv")
      ->check(CLI::IsMember({"timeline", "grid", "csv"}));
  takesJson(*orders);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(StatusCode::Usage);
  }
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
