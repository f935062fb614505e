// The verbs of vimec as the command line knows them. What a verb takes lives as long as its app.
#include <charconv>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "compiler/Driver/CommandLine.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Costs.h"
#include "compiler/Frontend/Settings.h"
#include "compiler/Machine/Profiles.h"
#include "compiler/Reference/CodePage.h"
#include "compiler/Reference/FieldWords.h"
#include "compiler/Reference/JobSchema.h"
#include "runtime/CommandLine/Arguments.h"
#include "runtime/CommandLine/Completion.h"
#include "runtime/CommandLine/ManPage.h"
#include "schedules/Registry.h"

namespace vime {
namespace {

constexpr const char *kJob = "job to read; -: standard input";

void takesSettings(CLI::App &app, std::vector<std::string> &settings) {
  app.add_option("--set", settings,
                 "a value instead of the job's, `run.steps=4`; may be given several times")
      ->type_name("FIELD=VALUE")
      ->allow_extra_args(false)
      ->check([](const std::string &text) {
        return isSetting(text)
                   ? std::string()
                   : "takes a field and its value, not `" + text + "`\nwrite `--set run.steps=4`";
      });
}

void addCheck(CLI::App &app, Invocation &invocation) {
  auto job = std::make_shared<JobArguments>();
  CLI::App *verb = app.add_subcommand(
      "check", "judge a job, and whether its plan stays under the limit it states");
  verb->add_option("job", job->file, kJob)->required()->type_name("JOB.yaml");
  takesSettings(*verb, job->settings);
  takesJson(*verb, invocation);
  verb->callback([=, &invocation] {
    invocation.run = [=, &invocation] { return runCheck(*job, invocation.output); };
  });
}

void takesMeasured(CLI::App &verb, CLI::Option *costs, std::string &folder) {
  CLI::Option *measured =
      verb.add_option("--measured", folder,
                      "folder that `vime-exec --trace` wrote: what was measured beside what is "
                      "expected, at the costs that were there or, with it, on `--machine`");
  takesName(measured, "DIR")->excludes(costs);
}

void addExplain(CLI::App &app, Invocation &invocation) {
  auto explain = std::make_shared<ExplainArguments>();
  CLI::App *verb = app.add_subcommand(
      "explain", "say what a field or a code means, where each value of a job comes from, why a "
                 "step of a plan takes as long as it does and what makes it shorter, or how a run "
                 "failed");
  verb->footer("\nexamples:\n"
               "  vimec explain pipeline.schedule J0012\n"
               "  vimec explain plan.bin --machine cpu --json\n"
               "\nWith `--json` one subject at a time.\n");
  verb->add_option("subject", explain->subjects,
                   "a field such as pipeline.schedule, a code such as J0012, a job, a plan, or the "
                   "folder or files of a run's flight records")
      ->required()
      ->type_name("FIELD|CODE|JOB.yaml|PLAN.bin|RECORDS");
  takesSettings(*verb, explain->settings);
  takesName(verb->add_option("--job", explain->job,
                             "job of the plan, where what the plan carries of it is not enough"),
            "JOB.yaml");
  takesMeasured(*verb, takesCostChoice(*verb, explain->costs), explain->measured);
  verb->get_option("--measured")
      ->description("folder that `vime-exec --trace` wrote: costs of the plan as they were there")
      ->excludes("--machine");
  takesName(verb->add_option("--plan", explain->plan,
                             "plan of the flight records, where it is no longer where they say"),
            "PLAN.bin");
  takesJson(*verb, invocation);
  verb->callback([=, &invocation] {
    invocation.run = [=, &invocation] { return runExplain(*explain, invocation.output); };
  });
}

void addVerify(CLI::App &app, Invocation &invocation) {
  auto plan = std::make_shared<std::string>();
  CLI::App *verb =
      app.add_subcommand("verify", "prove a plan safe or an order legal, or show why it is not");
  verb->add_option("plan", *plan,
                   "plan to judge, or the table of an order; -: a table from standard input")
      ->required()
      ->type_name("PLAN.bin|TABLE.csv");
  takesJson(*verb, invocation);
  verb->callback([=, &invocation] {
    invocation.run = [=, &invocation] { return runVerify(*plan, invocation.output); };
  });
}

void addShow(CLI::App &app, Invocation &invocation) {
  auto show = std::make_shared<ShowArguments>();
  CLI::App *verb = app.add_subcommand("show", "print a plan");
  verb->add_option("plan", show->plan, "plan to print")->required()->type_name("PLAN.bin");
  CLI::Option *format =
      takesWord(verb->add_option("--format", show->format,
                                 "summary (default), text: all of it, grid or csv: the order"),
                {"summary", "text", "grid", "csv"});
  invocation.textFormats.push_back(format);
  verb->add_flag("--memory", show->memory,
                 "every part of each rank's memory, and the action at which most is alive")
      ->disable_flag_override()
      ->excludes(format);
  takesJson(*verb, invocation);
  verb->callback([=, &invocation] {
    invocation.run = [=, &invocation] { return runShow(*show, invocation.output); };
  });
}

void addSimulate(CLI::App &app, Invocation &invocation) {
  auto simulate = std::make_shared<SimulateArguments>();
  CLI::App *verb = app.add_subcommand(
      "simulate", "say how long a step of a plan takes, where its ranks idle, and why");
  verb->add_option("plan", simulate->plan, "plan to simulate")->required()->type_name("PLAN.bin");
  takesMeasured(*verb, takesCostChoice(*verb, simulate->costs), simulate->measured);
  takesName(verb->add_option("--lengths", simulate->lengths,
                             "of a plan with rounds: how long responses are, `uniform:1-24`, "
                             "tokens and how often, `4:10,8:20`, or what a run wrote for "
                             "`rollout.dump`; rounds are drawn from it"),
            "LENGTHS");
  CLI::Option *json = takesJson(*verb, invocation);
  verb->add_flag("--actions", simulate->actions,
                 "in the JSON: times and slack of every action, and memory of each rank over time")
      ->disable_flag_override()
      ->needs(json);
  verb->callback([=, &invocation] {
    invocation.run = [=, &invocation] { return runSimulate(*simulate, invocation.output); };
  });
}

void addView(CLI::App &app, Invocation &invocation) {
  auto view = std::make_shared<ViewArguments>();
  CLI::App *verb = app.add_subcommand(
      "view", "draw jobs, plans, orders and traces: a page that needs no network, a drawing, a "
              "trace");
  verb->add_option("input", view->inputs,
                   "plan, job, table of an order, or trace that this verb wrote; several are drawn "
                   "one above the other, with what differs: of a plan and its trace what was "
                   "expected and what was")
      ->required()
      ->type_name("PLAN.bin|JOB.yaml|TABLE.csv|TRACE.json");
  verb->add_option("-o,--output", view->picture, "picture to write; -: to standard output")
      ->required()
      ->type_name("PICTURE");
  takesWord(verb->add_option("--format", view->format,
                             "html: a page; svg: a drawing; chrome: a trace for Perfetto; grid: "
                             "text (default: by the ending of the picture's name, .html .svg .json "
                             ".txt)"),
            {"html", "svg", "chrome", "grid"});
  takesMeasured(*verb, takesCostChoice(*verb, view->costs), view->measured);
  takesSettings(*verb, view->settings);
  takesJson(*verb, invocation);
  verb->callback([=, &invocation] {
    invocation.run = [=, &invocation] { return runView(*view, invocation.output); };
  });
}

void addDiff(CLI::App &app, Invocation &invocation) {
  auto diff = std::make_shared<DiffArguments>();
  CLI::App *verb = app.add_subcommand(
      "diff", "say what is different between two jobs, two plans, two orders or two traces");
  constexpr const char *kType = "JOB.yaml|PLAN.bin|TABLE.csv|TRACE.json";
  verb->add_option("one", diff->one, "what was")->required()->type_name(kType);
  verb->add_option("other", diff->other, "what is now")->required()->type_name(kType);
  takesCostChoice(*verb, diff->costs);
  takesJson(*verb, invocation);
  verb->callback([=, &invocation] {
    invocation.run = [=, &invocation] { return runDiff(*diff, invocation.output); };
  });
}

void addMachines(CLI::App &app, Invocation &invocation) {
  auto machine = std::make_shared<std::string>();
  CLI::App *verb = app.add_subcommand(
      "machines", "list the machines whose figures are known, or print one to copy and edit");
  verb->footer("\nexamples:\n"
               "  vimec machines h100-80g > mine.yaml\n"
               "  vimec simulate plan.bin --machine mine.yaml\n");
  verb->add_option("machine", *machine, "one of them, or a file to judge and print")
      ->type_name("MACHINE|FILE.yaml");
  takesJson(*verb, invocation);
  verb->callback([=, &invocation] {
    invocation.run = [=, &invocation] { return runMachines(*machine, invocation.output); };
  });
}

void addCalibrate(CLI::App &app, Invocation &invocation) {
  auto calibrate = std::make_shared<CalibrateArguments>();
  CLI::App *verb = app.add_subcommand(
      "calibrate", "run some steps of a job here and write a machine that knows what its model "
                   "costs, under any order, split and number of ranks and microbatches");
  verb->footer("\nexamples:\n"
               "  vimec calibrate job.yaml -o here.yaml --transport gloo\n"
               "  vimec job.yaml -o plan.bin --set pipeline.schedule=zb-h1\n"
               "  vimec simulate plan.bin --machine here.yaml\n"
               "\nThe job runs without its checkpoints, evaluations and export, and leaves nothing "
               "behind.\n");
  verb->add_option("job", calibrate->job.file, kJob)->required()->type_name("JOB.yaml");
  verb->add_option("-o,--output", calibrate->machine, "machine to write; -: to standard output")
      ->required()
      ->type_name("MACHINE.yaml");
  takesSettings(*verb, calibrate->job.settings);
  takesWord(verb->add_option("--transport", calibrate->transport,
                             "how ranks exchange messages (default: local): local: they are "
                             "threads, gloo: processes"),
            {"local", "gloo"});
  takesCount(verb->add_option("--steps", calibrate->steps, "steps to measure (default: 20)"));
  takesJson(*verb, invocation);
  verb->callback([=, &invocation] {
    invocation.run = [=, &invocation] { return runCalibrate(*calibrate, invocation.output); };
  });
}

void addAssemble(CLI::App &app, Invocation &invocation) {
  auto assemble = std::make_shared<AssembleArguments>();
  CLI::App *verb =
      app.add_subcommand("assemble", "make a plan of what `vimec show --format=text` prints");
  verb->add_option("text", assemble->text, "text of a plan; -: standard input")
      ->required()
      ->type_name("PLAN.txt");
  verb->add_option("-o,--output", assemble->plan, "plan to write; -: to standard output")
      ->required()
      ->type_name("PLAN.bin");
  verb->add_flag("--unproved", assemble->unproved,
                 "write it without proof; `vimec verify` says what is wrong with it")
      ->disable_flag_override();
  takesJson(*verb, invocation);
  verb->callback([=, &invocation] {
    invocation.run = [=, &invocation] { return runAssemble(*assemble, invocation.output); };
  });
}

/// What only some orders have a use for.
void takesShape(CLI::App &verb, OrderArguments &order) {
  takesCount(verb.add_option("--group", order.group,
                             "microbatches in a row on one chunk, of orders that take groups"));
  takesCount(
      verb.add_option("--memory", order.memory,
                      "most activations, each of a stage and a microbatch, alive on a rank"));
  takesCount(verb.add_option("--slices", order.slices,
                             "parts that the sequence of a microbatch is cut into"));
  verb.add_flag("--overlap", order.overlap, "pair forwards with backwards that may overlap them")
      ->disable_flag_override();
}

void addOrder(CLI::App &app, Invocation &invocation) {
  auto order = std::make_shared<OrderArguments>();
  CLI::App *verb = app.add_subcommand("order", "print a pipeline order without a job");
  verb->footer("\norders:\n" + orderTable());
  verb->add_option("name", order->name, "one of the orders below, or a table, ending in .csv")
      ->required()
      ->type_name("ORDER|TABLE.csv");
  takesCount(verb->add_option("--ranks", order->ranks, "ranks of the pipeline; not of a table"));
  takesCount(verb->add_option("--microbatches", order->microbatches,
                              "microbatches of a step; not of a table"));
  takesCount(verb->add_option("--chunks", order->chunks,
                              "stages per rank (default: what the order needs)"));
  takesShape(*verb, *order);
  takesCosts(verb->add_option("--costs", order->costs,
                              "what tasks cost on the clock, and for orders that are made for "
                              "costs (default: 1,1,1)"));
  takesWord(verb->add_option("--merge-backwards", order->mergeBackwards,
                             "input gradients and weight gradients that are neighbours as one "
                             "task: none (default), all, or auto: where nobody waits for it, at "
                             "these costs"),
            {"auto", "all", "none"});
  invocation.textFormats.push_back(
      takesWord(verb->add_option("--format", order->format,
                                 "grid (default): the picture on the clock of these costs; rows, "
                                 "csv: PyTorch's notation, aligned or as it is"),
                {"grid", "rows", "csv"}));
  takesWord(verb->add_option("--with", order->with,
                             "with --format=csv, what PyTorch's lowering adds before it runs an "
                             "order: transfers; shards: these, parameters gathered and dropped by "
                             "a window of three stages, and gradients reduced"),
            {"transfers", "shards"});
  takesJson(*verb, invocation);
  verb->callback([=, &invocation] {
    invocation.run = [=, &invocation] { return runOrder(*order, invocation.output); };
  });
}

void addImport(CLI::App &app, Invocation &invocation) {
  auto import = std::make_shared<ImportArguments>();
  CLI::App *verb = app.add_subcommand(
      "import", "judge an order in another notation and write it in PyTorch's of today; or write a "
                "launch line of vime or slime as a job");
  verb->add_option("table", import->table,
                   "table of PyTorch, today's or of 2.5, or of the zero-bubble family (F3.1 B W BW "
                   "[F7.0&BW3.1] {SF3.1}), or a script with the flags of a run; -: standard input")
      ->required()
      ->type_name("TABLE");
  verb->add_option("-o,--output", import->csv,
                   "file to write, an order or a job (default: -, standard output)")
      ->type_name("FILE");
  takesWord(
      verb->add_option("--placement", import->placement,
                       "which stages the chunks of a rank are (default: those under which the "
                       "order finishes soonest)"),
      {"loop", "vee"});
  takesJson(*verb, invocation);
  verb->callback([=, &invocation] {
    invocation.run = [=, &invocation] { return runImport(*import, invocation.output); };
  });
}

void addSchedules(CLI::App &app, Invocation &invocation) {
  auto schedules = std::make_shared<SchedulesArguments>();
  CLI::App *verb = app.add_subcommand(
      "schedules", "list the pipeline orders, or compare them for given numbers at equal work");
  takesCount(verb->add_option("--ranks", schedules->ranks, "ranks of the pipeline: compare"));
  takesCount(verb->add_option("--microbatches", schedules->microbatches, "microbatches of a step"));
  takesCount(verb->add_option("--chunks", schedules->chunks,
                              "stages per rank of the orders that leave a choice"));
  takesCount(verb->add_option("--memory", schedules->memory,
                              "most activations alive on a rank, each a microbatch of its whole "
                              "share"));
  takesCosts(verb->add_option("--costs", schedules->costs,
                              "what a rank's whole share of a microbatch costs (default: 1,1,1)"));
  CLI::Option *pairs =
      verb->add_option("--pairs", schedules->pairs,
                       "run overlapped pairs together, in this share of the time of their tasks, "
                       "such as 0.83 (default: one task behind the other)")
          ->type_name("SHARE")
          ->check([](const std::string &text) {
            double share = 0;
            const auto [end, error] =
                std::from_chars(text.data(), text.data() + text.size(), share);
            return error == std::errc() && end == text.data() + text.size() && share >= 0.5 &&
                           share <= 2
                       ? std::string()
                       : "takes a share from 0.5 to 2, not `" + text + "`\nwrite `--pairs 0.83`";
          });
  verb->add_flag("--slots", schedules->slots,
                 "compare instead what slots for received messages are worth")
      ->disable_flag_override()
      ->excludes(pairs);
  takesJson(*verb, invocation);
  verb->callback([=, &invocation] {
    invocation.run = [=, &invocation] { return runSchedules(*schedules, invocation.output); };
  });
}

/// Every field as a job writes it; sections and what is not there yet are no values.
std::vector<std::string> fieldPaths(std::string_view behind = "") {
  std::vector<std::string> paths;
  for (const FieldSpec &field : fieldTable())
    if (!field.isLater() && field.type != FieldType::Section)
      paths.push_back(shownPath(field) + std::string(behind));
  return paths;
}

std::vector<std::string> machineNames() {
  std::vector<std::string> names;
  for (const MachineProfile &profile : machineProfiles())
    names.emplace_back(profile.name);
  return names;
}

void addMan(CLI::App &app, Invocation &invocation) {
  auto page = std::make_shared<std::string>("vimec");
  CLI::App *verb = app.add_subcommand("man", "print a manual page");
  takesWord(verb->add_option("page", *page, "vimec (default), job: the fields of job.yaml"),
            {"vimec", "job"});
  verb->callback([=, &app, &invocation] {
    invocation.run = [=, &app] {
      std::cout << (*page == "job"
                        ? jobManPage(compilerVersion())
                        : manPage(app, {compilerVersion(), {"vime-job(5)", "vime-exec(1)"}}));
      return 0;
    };
  });
}

void addSchema(CLI::App &app, Invocation &invocation) {
  auto format = std::make_shared<std::string>("json");
  CLI::App *verb = app.add_subcommand("schema", "print what a job may say");
  takesWord(verb->add_option("--format", *format,
                             "json (default): JSON Schema, as editors read it; markdown: a table"),
            {"json", "markdown"});
  verb->callback([=, &invocation] {
    invocation.run = [=] {
      std::cout << (*format == "json" ? jobSchema() + '\n' : jobReference());
      return 0;
    };
  });
}

void addCompletion(CLI::App &app, Invocation &invocation) {
  auto shell = std::make_shared<std::string>();
  CLI::App *verb = app.add_subcommand("completion", "print what a shell needs to complete vimec");
  takesWord(verb->add_option("shell", *shell, "the shell"), completionShells())->required();
  verb->callback([=, &app, &invocation] {
    invocation.run = [=, &app] {
      const auto orders = orderNames();
      std::cout << completionScript(app, *shell,
                                    {{"FIELD", fieldPaths()},
                                     {"FIELD=VALUE", fieldPaths("=")},
                                     {"CODE", allCodes()},
                                     {"ORDER", {orders.begin(), orders.end()}},
                                     {"MACHINE", machineNames()}});
      return 0;
    };
  });
}

int compile(const CompileArguments &arguments, const OutputOptions &output) {
  if (arguments.job.file.empty())
    return reportFailure(Status(StatusCode::Usage, "no job given"), output, "run `vimec --help`");
  if (arguments.plan.empty() && arguments.stopAfter.empty())
    return reportFailure(Status(StatusCode::Usage, "no output given"), output, "add `-o plan.bin`");
  return runCompile(arguments, output);
}

} // namespace

void addCompile(CLI::App &app, Invocation &invocation) {
  auto arguments = std::make_shared<CompileArguments>();
  app.add_option("job", arguments->job.file,
                 "job to compile; -: standard input; a file named like a verb is written ./check")
      ->type_name("JOB.yaml");
  app.add_option("-o,--output", arguments->plan, "plan to write; -: to standard output")
      ->type_name("PLAN.bin");
  takesSettings(app, arguments->job.settings);
  invocation.textFormats.push_back(
      takesWord(app.add_option("--stop-after", arguments->stopAfter,
                               "print the IR after this phase and stop"),
                {"job", "order", "comm", "memory", "plan"}));
  app.add_option("--dump-phases", arguments->dumpPhases,
                 "write the IR after every phase to this directory")
      ->type_name("DIR");
  app.add_flag("--timing", arguments->timing, "print the seconds of each part")
      ->disable_flag_override();
  takesJson(app, invocation);
  invocation.run = [=, &invocation] { return compile(*arguments, invocation.output); };
}

void addVerbs(CLI::App &app, Invocation &invocation) {
  for (const auto add : {addCheck, addExplain, addVerify, addShow, addSimulate, addView, addDiff,
                         addMachines, addCalibrate, addAssemble, addOrder, addImport, addSchedules,
                         addSchema, addMan, addCompletion})
    add(app, invocation);
}

} // namespace vime
