// The verbs of vimec: one function each, given what the command line said, returning the exit code.
//
// Each has a file of its own; CommandLine.cpp and Verbs.cpp read the command line and call one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/Driver/Costs.h"
#include "compiler/Driver/Output.h"

namespace vime {

/// A job as the command line names it.
struct JobArguments {
  std::string file;                  // `-`: standard input
  std::vector<std::string> settings; // `run.steps=4`, from `--set`
};

/// vimec JOB.yaml -o PLAN.bin
struct CompileArguments {
  JobArguments job;
  std::string plan;       // where to write, `-`: standard output; empty only with stopAfter
  std::string stopAfter;  // a phase: print its IR instead of writing a plan
  std::string dumpPhases; // a directory
  bool timing = false;    // seconds of each part to stderr
};
int runCompile(const CompileArguments &arguments, const OutputOptions &output);

/// vimec check JOB.yaml
int runCheck(const JobArguments &job, const OutputOptions &output);

/// vimec explain FIELD|CODE|JOB.yaml|PLAN.bin...: each by what it is.
struct ExplainArguments {
  std::vector<std::string> subjects;
  std::vector<std::string> settings; // of jobs among them
  std::string job;                   // of plans; empty: what they carry of it
  CostChoice costs;                  // of plans, as in SimulateArguments
  std::string measured;
  std::string plan; // of flight records; empty: the one that they name
};
int runExplain(const ExplainArguments &arguments, const OutputOptions &output);

/// vimec verify PLAN.bin, or the table of an order: what it is told by the file's name or
/// beginning.
int runVerify(const std::string &path, const OutputOptions &output);
bool holdsTable(const std::string &path);
int runVerifyOrder(const std::string &path, const OutputOptions &output);

/// vimec show PLAN.bin [--format=summary|text|grid|csv] [--memory]
struct ShowArguments {
  std::string plan;
  bool memory = false; // where the bytes go instead
  std::string format = "summary";
};
int runShow(const ShowArguments &arguments, const OutputOptions &output);

/// vimec simulate PLAN.bin [--costs F,I,W[,transfer] | --machine MACHINE] [--measured DIR]
///                [--json [--actions]]
struct SimulateArguments {
  std::string plan;
  CostChoice costs;
  std::string measured; // folder of traces: what they measured, and its costs without a machine
  std::string lengths;  // of prompts and responses (Lengths.h); empty: as long as they may be
  bool actions = false; // in the JSON: every action of the step, and memory over time
};
int runSimulate(const SimulateArguments &arguments, const OutputOptions &output);

/// vimec view JOB.yaml|PLAN.bin|TABLE.csv|TRACE.json... -o PICTURE [--format=html|svg|chrome|grid]
/// [--costs …]
struct ViewArguments {
  std::vector<std::string> inputs; // one above the other
  std::string picture;             // `-`: standard output
  std::string format;              // empty: by the ending of the picture's name
  CostChoice costs;
  std::string measured;              // as in SimulateArguments
  std::vector<std::string> settings; // of jobs among the inputs
};
int runView(const ViewArguments &arguments, const OutputOptions &output);

/// vimec diff ONE OTHER [--costs …]: two jobs, plans, tables of orders or traces
struct DiffArguments {
  std::string one, other;
  CostChoice costs; // of plans
};
int runDiff(const DiffArguments &arguments, const OutputOptions &output);

/// vimec machines [MACHINE|FILE.yaml]: all of them, or one
int runMachines(const std::string &machine, const OutputOptions &output);

/// vimec calibrate JOB.yaml -o MACHINE.yaml [--transport=local|gloo] [--steps N]
struct CalibrateArguments {
  JobArguments job;
  std::string machine; // file to write; `-`: standard output
  std::string transport = "local";
  int steps = 20; // that are measured
};
int runCalibrate(const CalibrateArguments &arguments, const OutputOptions &output);

/// vimec assemble PLAN.txt -o PLAN.bin [--unproved]
struct AssembleArguments {
  std::string text; // `-`: standard input
  std::string plan; // `-`: standard output
  bool unproved = false;
};
int runAssemble(const AssembleArguments &arguments, const OutputOptions &output);

/// vimec order NAME --ranks N --microbatches M [--chunks V …] [--costs F,I,W]
/// [--format=grid|rows|csv] vimec order TABLE.csv [--costs F,I,W] [--format=grid|rows|csv]
struct OrderArguments {
  std::string name;
  std::optional<int> ranks, microbatches, chunks; // a table says them itself
  std::optional<int> group, memory, slices;       // as some orders take them
  bool overlap = false;
  std::string costs;                   // `10,12,8`; empty: unit costs
  std::string mergeBackwards = "none"; // or `auto`, `all`
  std::string format = "grid";
  std::string with; // `transfers` or `shards`, in the table that is printed
};
int runOrder(const OrderArguments &arguments, const OutputOptions &output);

/// vimec import TABLE [-o ORDER.csv] [--placement loop|vee]
/// vimec import LAUNCH [-o job.yaml]
struct ImportArguments {
  std::string table;     // or a launch line; `-`: standard input
  std::string csv = "-"; // or a job; `-`: standard output
  std::string placement; // of chunks, where the table names them; empty: what fits
};
int runImport(const ImportArguments &arguments, const OutputOptions &output);
int runImportLaunch(const std::string &text, const ImportArguments &arguments,
                    const OutputOptions &output);

/// vimec schedules [--ranks N --microbatches M [--chunks V] [--memory K]
///                  [--costs F,I,W[,TRANSFER]] [--pairs SHARE | --slots]]
struct SchedulesArguments {
  std::optional<int> ranks, microbatches, chunks; // none: what orders there are
  std::optional<int> memory;                      // activations of a rank's whole share
  std::string costs;                              // of a rank's whole share; empty: unit costs
  std::optional<double> pairs; // what an overlapped pair takes of the time of its tasks
  bool slots = false;          // what slots of channels are worth instead
};
int runSchedules(const SchedulesArguments &arguments, const OutputOptions &output);

/// A line for each order that `runOrder` knows: name, what it is, what it needs.
std::string orderTable();

/// The version that plans carry.
std::string compilerVersion();

} // namespace vime
