#include "compiler/Driver/CommandLine.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "compiler/Driver/Commands.h"
#include "runtime/CommandLine/UsageError.h"

namespace vime {
namespace {

const char *const kExamples = R"(
examples:
  vimec job.yaml -o plan.bin                    compile, prove, write; run it with `vime-exec plan.bin`
  vimec check job.yaml                          say what is wrong with a job, all of it
  vimec job.yaml -o plan.bin --set run.steps=4  with another value than the file's
  vimec explain pipeline.schedule               a field, a code such as J0012, or the values of job.yaml
  vimec explain /tmp/vime-records-4WvVdQ        which rank of a failed run was first, and why
  vimec simulate plan.bin --machine h100-80g    how long a step takes there; `vimec machines` lists machines
  vimec calibrate job.yaml -o here.yaml         measure this one, for `--machine here.yaml`
  vimec explain plan.bin                        why a step takes as long as it does, and what makes it shorter
  vimec order interleaved --ranks 4 --microbatches 8 --chunks 2
  vimec schedules --ranks 8 --microbatches 32 --costs 10,12,8
  vimec show plan.bin --format=grid
  vimec verify plan.bin
  vimec verify order.csv                        judge an order in PyTorch's notation
  vimec job.yaml --stop-after=comm              print the IR after a phase (job, order, comm, memory, plan)

exit codes: 0 ok, 1 input invalid, 2 usage, 3 file, 4 plan not acceptable, 70 internal error
)";

Status usage(std::string message) { return Status(StatusCode::Usage, std::move(message)); }

/// An option of compiling beside a verb would be ignored.
Status optionBesideVerb(const CLI::App &app) {
  for (const CLI::App *verb :
       app.get_subcommands([](const CLI::App *verb) { return verb->parsed(); }))
    for (const CLI::Option *option : app.get_options())
      if (option->count() > 0 && option->get_name() != "--json")
        return usage("`" + option->get_name() + "` is for compiling a job, not for `" +
                     verb->get_name() + "`");
  return Status();
}

/// What CLI11 cannot say.
Status contradiction(const CLI::App &app, const Invocation &invocation) {
  if (invocation.output.json)
    for (const CLI::Option *format : invocation.textFormats)
      if (format->count() > 0)
        return usage("`--json` and `" + format->get_name() + "` exclude each other");
  return optionBesideVerb(app);
}

} // namespace

CLI::Option *takesJson(CLI::App &app, Invocation &invocation) {
  return app.add_flag("--json", invocation.output.json, "print results and errors as JSON")
      ->disable_flag_override();
}

int runCommandLine(int count, char **values) {
  CLI::App app{"compile a declared training job into one verified program per rank", "vimec"};
  app.set_version_flag("--version", "vimec " + compilerVersion(), "print the version");
  app.set_help_flag("-h,--help", "print this help");
  app.get_formatter()->label("SUBCOMMAND", "VERB");
  app.require_subcommand(0, 1);
  Invocation invocation;
  addCompile(app, invocation);
  addVerbs(app, invocation);
  for (CLI::App *verb : app.get_subcommands({}))
    verb->group("Verbs");
  app.footer(kExamples); // behind the verbs, which would inherit it
  try {
    app.parse(count, values);
  } catch (const CLI::Success &asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError &error) {
    // A flag that stands behind what is wrong has not been read.
    invocation.output.json = std::any_of(values, values + count, [](const char *value) {
      return std::string_view(value) == "--json";
    });
    const UsageError problem = usageError(app, error);
    return reportFailure(usage(problem.message), invocation.output, problem.help);
  }
  if (const Status status = contradiction(app, invocation); !status.ok())
    return reportFailure(status, invocation.output, "leave one of them out, or run `vimec --help`");
  return invocation.run();
}

} // namespace vime
