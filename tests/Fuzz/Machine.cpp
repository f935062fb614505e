// Fuzz target `machine`: the file of a machine, and what a small plan costs on it.
#include <algorithm>

#include "compiler/Analysis/Simulate.h"
#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Machine/MachineCosts.h"
#include "compiler/Machine/PrintMachine.h"
#include "compiler/Machine/Profiles.h"
#include "compiler/Machine/ReadMachine.h"
#include "tests/Fuzz/Target.h"
#include "tests/lowering/Lowered.h"

namespace vime::fuzz {
namespace {

constexpr const char *kFile = "machine.yaml";

std::optional<Machine> machineIn(std::string_view text) {
  SourceCache sources;
  sources.add(kFile, std::string(text));
  Findings findings;
  const std::optional<Machine> machine = readMachine(text, kFile, findings);
  must(machine.has_value() != findings.any(), "a machine is legal or something is wrong with it");
  (void)renderText(findings, sources);
  return machine;
}

/// Figures are printed with few digits, so what is printed is compared, not what was read.
void isReadBack(const Machine &machine) {
  const std::string once = printMachine(machine);
  const std::optional<Machine> again = machineIn(once);
  must(again.has_value(), "what is printed is a machine");
  must(printMachine(*again) == once, "what is printed is read back");
  (void)machineJson(machine);
}

void hasCosts(const Machine &machine) {
  static const plan::Plan plan = lowered({.schedule = "zb-h1", .ranks = 2, .saves = 2});
  static const verify::ActionTable table(plan, steadyStepOf(plan));
  const StatusOr<MachineCosts> costs = costsOn(machine, plan);
  if (!costs.ok())
    return;
  for (const CostRow &row : costs->rows)
    must(row.nanoseconds >= 0 && !row.origin.empty(), "a cost is a time with an origin");
  must(simulate(table, costs->durations).period >= 0, "a step takes a time");
}

} // namespace

void eat(std::string_view bytes) {
  const std::optional<Machine> machine = machineIn(bytes);
  if (!machine)
    return;
  isReadBack(*machine);
  hasCosts(*machine);
}

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  for (const MachineProfile &profile : machineProfiles())
    texts.emplace_back(profile.text);
  texts.push_back(
      "kind: machine\nversion: 1\nname: here\nnode: {latency: {value: 3 us, source: here}}\n"
      "measured:\n  source: a run\n  model: {family: llama, dtype: float32, kernels: native, "
      "recompute: none, hidden: 16, heads: 2, kv_heads: 2, head_width: 8, ffn: 24, vocab: 256}\n"
      "  microbatch: {tokens: 16, samples: 2, sequence: 8, slices: 1}\n"
      "  layer:\n    forward: {value: 3 us, spread: 0.1}\n    backward: {value: 7 us, spread: "
      "0.1}\n");
  return texts;
}

} // namespace vime::fuzz
