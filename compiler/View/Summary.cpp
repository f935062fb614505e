#include "compiler/View/Summary.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/View/Quote.h"
#include "runtime/ModelSpec/Copies.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/Names.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

using namespace plan;

/// A table of more ranks is shortened to its ends.
constexpr std::uint32_t kMostRows = 16;

struct RankFacts {
  std::vector<std::uint32_t> stages;
  std::size_t actions;
  std::uint64_t device, host; // bytes
};

RankFacts factsOf(const Plan &plan, std::uint32_t rank) {
  const Program &program = *programOf(plan, rank);
  const Layout &layout = *layoutOf(plan, rank);
  RankFacts facts{{}, program.actions.size(), layout.arena[0], layout.arena[1]};
  for (const LocalStage &stage : program.stages)
    facts.stages.push_back(stage.stage);
  return facts;
}

std::string amount(std::uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : thing.ends_with('h') ? "es" : "s");
}

std::string modelLine(const Model &model) {
  const ModelConfig &c = model.config;
  std::string line = fmt::format("{}, {}", nameOf(c.family), amount(c.layers, "layer"));
  if (isDecoder(c.family))
    line += fmt::format(" of width {}, {} ({} for keys), {}", c.hidden, amount(c.heads, "head"),
                        c.kvHeads, nameOf(c.type));
  if (c.family == ModelFamily::TorchScript)
    line += fmt::format(" of width {}, {}", c.hidden, nameOf(c.type));
  if (c.kernels != KernelLibrary::Native)
    line += fmt::format(", kernels of {}", nameOf(c.kernels));
  line += fmt::format(", in {}", amount(depthOf(model.stages), "stage"));
  if (const std::uint32_t copies = copiesOf(model.stages); copies > 1)
    line += fmt::format(" and {} copies", copies);
  if (!model.moduleFile.empty())
    line += ", from " + model.moduleFile;
  return model.checkpoint.empty() ? line : line + ", from " + model.checkpoint;
}

void appendTable(const Plan &plan, std::string &text) {
  const std::uint32_t ranks = plan.mesh.ranks();
  const auto row = [&](std::uint32_t rank) {
    const RankFacts facts = factsOf(plan, rank);
    const std::string host =
        facts.host == 0 ? "" : fmt::format("  + {} host", bytesInWords(facts.host));
    text += fmt::format("  {:<6}{:>8}  {:>11}{}  {}\n", rank, facts.actions,
                        bytesInWords(facts.device), host, fmt::join(facts.stages, " "));
  };
  text += fmt::format("  {:<6}{:>8}  {:>11}  {}\n", "rank", "actions", "peak memory", "stages");
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    if (ranks <= kMostRows || rank < kMostRows / 2 || rank >= ranks - kMostRows / 2)
      row(rank);
    else if (rank == kMostRows / 2)
      text += fmt::format("  … {} more\n", ranks - kMostRows);
}

std::string meshInWords(const Mesh &mesh) {
  const std::string ranks = amount(mesh.ranks(), "rank");
  return mesh.data == 1
             ? ranks
             : fmt::format("{} in {} of {}", ranks, amount(mesh.data, "replica"), mesh.pipeline);
}

/// `3 or 8`; of many `3 to 80 (40 numbers)`.
std::string countsText(const std::vector<std::uint32_t> &values) {
  constexpr std::size_t kMostNamed = 8;
  return values.size() <= kMostNamed
             ? fmt::format("{}", fmt::join(values, " or "))
             : fmt::format("{} to {} ({} numbers)", values.front(), values.back(), values.size());
}

/// `microbatches 6 or 8, evaluate`: what may differ from step to step; that any step may be skipped
/// goes without saying.
std::string variedText(const Plan &plan) {
  std::vector<std::string> parts;
  for (const auto &[decision, values] : plan.decisions)
    if (decision != Decision::Bad)
      parts.push_back(std::string(wordOf(decision)) +
                      (decision == Decision::Microbatches ? " " + countsText(values) : ""));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// What a step takes, where that is not so many windows for each microbatch.
std::string packedText(const DataSettings &data) {
  const bool isPacked =
      data.tokens * std::uint64_t(data.slices) < std::uint64_t(data.samples) * data.sequence;
  if (data.split == Split::Window && !isPacked)
    return {};
  return fmt::format("{} a step, each a {} of {}at most {} tokens{}", amount(data.batch, "sample"),
                     wordOf(data.split), data.split == Split::Window ? "" : "the text, ",
                     data.sequence,
                     isPacked ? fmt::format(", packed up to {} tokens", data.tokens) : "");
}

std::string expectedJson(const Predictions &expected) {
  if (expected.costs.empty())
    return "null"; // nobody knows
  return fmt::format("{{\"costs\": {}, \"seconds\": {}, \"bubble\": {}}}", quote(expected.costs),
                     expected.stepSeconds, expected.expectedBubble);
}

} // namespace

std::string planSummary(const Plan &plan, std::span<const std::string_view> proved) {
  const DataSettings &data = plan.data;
  std::string text;
  text += fmt::format("job       {}\n", plan.run.name);
  text += fmt::format("plan      {}\n", toHex(planId(plan)));
  for (const Model &model : plan.models)
    text += fmt::format("model     {}\n", modelLine(model));
  text +=
      fmt::format("schedule  {} on {}, {} of {} tokens{}{}\n", plan.schedule,
                  meshInWords(plan.mesh), amount(data.microbatches / data.slices, "microbatch"),
                  data.tokens * std::uint64_t(data.slices), plan.mesh.data > 1 ? " in each" : "",
                  data.slices > 1 ? fmt::format(", in {} slices", data.slices) : "");
  if (const std::string packed = packedText(data); !packed.empty())
    text += fmt::format("data      {}\n", packed);
  if (const std::string varied = variedText(plan); !varied.empty())
    text += fmt::format("varies    {}\n", varied);
  text += fmt::format("run       {}{}\n", amount(plan.run.steps, "step"),
                      plan.run.exportTo.empty() ? "" : ", then export to " + plan.run.exportTo);
  text += fmt::format("bubble    {:.1f} % at unit costs (step {} units, at most {} on a rank)\n",
                      100 * plan.predictions.bubble, plan.predictions.stepUnits,
                      amount(plan.predictions.peakLive, "stash"));
  if (!plan.predictions.costs.empty())
    text += fmt::format("expected  {:.4g} s a step, bubble {:.1f} % ({})\n",
                        plan.predictions.stepSeconds, 100 * plan.predictions.expectedBubble,
                        plan.predictions.costs);
  if (!proved.empty())
    text += fmt::format("proved    {}\n", fmt::join(proved, " "));
  appendTable(plan, text);
  return text;
}

std::string summaryJson(const Plan &plan, std::span<const std::string_view> proved) {
  std::vector<std::string> labels, ranks;
  for (const std::string_view label : proved)
    labels.push_back(quote(label));
  for (std::uint32_t rank = 0; rank < representatives(plan.mesh); ++rank) {
    const RankFacts facts = factsOf(plan, rank);
    ranks.push_back(fmt::format(
        R"({{"rank": {}, "stages": [{}], "actions": {}, "device_bytes": {}, "host_bytes": {}}})",
        rank, fmt::join(facts.stages, ", "), facts.actions, facts.device, facts.host));
  }
  std::vector<std::size_t> stages;
  for (const Model &model : plan.models)
    stages.push_back(model.stages.size());
  return fmt::format(R"({{
  "id": "{}",
  "job": {},
  "schedule": {},
  "mesh": {{"pp": {}, "dp": {}}},
  "steps": {},
  "microbatches": {},
  "stages": [{}],
  "export_to": {},
  "bubble": {},
  "step_units": {},
  "peak_live": {},
  "expected": {},
  "proved": [{}],
  "ranks": [
    {}
  ]
}})",
                     toHex(planId(plan)), quote(plan.run.name), quote(plan.schedule),
                     plan.mesh.pipeline, plan.mesh.data, plan.run.steps, plan.data.microbatches,
                     fmt::join(stages, ", "), quote(plan.run.exportTo), plan.predictions.bubble,
                     plan.predictions.stepUnits, plan.predictions.peakLive,
                     expectedJson(plan.predictions), fmt::join(labels, ", "),
                     fmt::join(ranks, ",\n    "));
}

} // namespace vime
