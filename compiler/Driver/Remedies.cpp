#include "compiler/Driver/Remedies.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/Analysis/EvenLayout.h"
#include "compiler/Analysis/OrderFacts.h"
#include "compiler/Analysis/SameWork.h"
#include "compiler/Diagnostics/Amounts.h"
#include "runtime/Base/Counted.h"
#include "runtime/ModelSpec/Copies.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/PlanFile.h"
#include "schedules/Registry.h"

namespace vime {
namespace {

constexpr std::string_view kEarly = "optimizer.commit=post_validated";

std::string listOf(const std::vector<std::uint32_t> &numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::uint32_t layersOf(const plan::Plan &plan) {
  std::uint32_t layers = 0;
  for (const StageRange &stage : plan.models.front().stages)
    layers = std::max(layers, stage.end);
  return layers;
}

/// Layers of each of so many stages, as even as possible, earlier ones first to get one more.
std::vector<std::uint32_t> evenLayers(std::uint32_t layers, std::uint32_t stages) {
  std::vector<std::uint32_t> even(stages, layers / stages);
  for (std::uint32_t stage = 0; stage < layers % stages; ++stage)
    ++even[stage];
  return even;
}

class RemedyList {
public:
  RemedyList(const JobAgain &job, const SteppedPlan &base)
      : job(job), plan(base.plan), base(base), stages(depthOf(plan.models.front().stages)) {}

  std::vector<Remedy> make() {
    addOrders();
    addChunks();
    addMicrobatches();
    addCommit();
    addSlots();
    addLayout();
    addRecompute();
    return std::move(remedies);
  }

private:
  void add(std::string what, std::vector<std::string> settings) {
    remedies.push_back({std::move(what), std::move(settings)});
  }

  void addOrders() {
    for (const Order &order : allOrders()) {
      if (!order.trains || order.name == plan.schedule)
        continue;
      const int chunks = static_cast<int>(stages / plan.mesh.pipeline);
      const bool keeps = order.chunks.least <= chunks && chunks <= order.chunks.most;
      std::vector<std::string> settings{fmt::format("pipeline.schedule={}", order.name)};
      const int its = keeps && job.find("pipeline.chunks") ? chunks : order.chunks.usual;
      addStages(static_cast<std::uint32_t>(its), settings);
      if (order.takes.costs && !base.basis.costs.empty())
        settings.push_back(fmt::format("pipeline.costs=[{}]", base.basis.costs));
      add("another order", settings);
      for (const int slices : {2, 4})
        if (order.takes.slices && !job.find("pipeline.slices")) {
          remedies.push_back(remedies.back());
          remedies.back().what = "slices of sequences";
          remedies.back().settings = settings;
          remedies.back().settings.push_back(fmt::format("pipeline.slices={}", slices));
          shorten(1.0 / slices, remedies.back().settings);
        }
    }
  }

  /// What the job says of chunks and layers has to fit.
  void addStages(std::uint32_t chunks, std::vector<std::string> &settings) const {
    if (job.find("pipeline.chunks") && chunks * plan.mesh.pipeline != stages)
      settings.push_back(fmt::format("pipeline.chunks={}", chunks));
    if (job.find("pipeline.layout") && chunks * plan.mesh.pipeline != stages &&
        layersOf(plan) >= chunks * plan.mesh.pipeline)
      settings.push_back("pipeline.layout=" +
                         listOf(evenLayers(layersOf(plan), chunks * plan.mesh.pipeline)));
    shorten(static_cast<double>(stages) / (chunks * plan.mesh.pipeline), settings);
  }

  /// Stages that sleep are declared to sleep so long: for the same work a smaller task has to sleep
  /// less.
  void shorten(double share, std::vector<std::string> &settings) const {
    const ModelConfig &model = plan.models.front().config;
    if (model.family != ModelFamily::Sleep || share == 1)
      return;
    for (const auto &[key, seconds] : {std::pair("forward", model.forwardSeconds),
                                       {"backward_input", model.backwardInputSeconds},
                                       {"backward_weight", model.backwardWeightSeconds}})
      for (const StatedValue &value : job.values)
        if (value.path.starts_with("models.") && value.path.ends_with(std::string(".") + key))
          settings.push_back(
              fmt::format("{}={}us", value.path, std::llround(share * seconds * 1e6)));
  }

  void addChunks() {
    const Order *order = findOrder(plan.schedule);
    const std::uint32_t chunks = stages / plan.mesh.pipeline;
    if (!order)
      return;
    for (const std::uint32_t its : {chunks * 2, chunks / 2}) {
      if (its < static_cast<std::uint32_t>(order->chunks.least) ||
          its > static_cast<std::uint32_t>(order->chunks.most))
        continue;
      std::vector<std::string> settings{fmt::format("pipeline.chunks={}", its)};
      if (job.find("pipeline.layout") && layersOf(plan) >= its * plan.mesh.pipeline)
        settings.push_back("pipeline.layout=" +
                           listOf(evenLayers(layersOf(plan), its * plan.mesh.pipeline)));
      shorten(static_cast<double>(chunks) / its, settings);
      add(its > chunks ? "more stages on a rank" : "fewer stages on a rank", std::move(settings));
    }
  }

  void addMicrobatches() {
    const std::uint32_t microbatches = plan.data.microbatches / plan.data.slices;
    std::vector<std::string> more;
    if (job.find("batch.global"))
      more.push_back(fmt::format("batch.global={} samples", 2 * plan.data.batch));
    if (job.find("pipeline.microbatches"))
      more.push_back(fmt::format("pipeline.microbatches={}", 2 * microbatches));
    add("twice the batch", std::move(more));
    const std::string *size = job.find("pipeline.microbatch");
    if (size && size->ends_with("tokens"))
      remedies.back().whyNot = "costs are those of full microbatches, and packed ones are not";
    if (!size || !size->ends_with("samples") || plan.data.samples % 2 != 0)
      return;
    std::vector<std::string> smaller{"pipeline.microbatch=" +
                                     counted(plan.data.samples / 2, "sample")};
    if (job.find("pipeline.microbatches"))
      smaller.push_back(fmt::format("pipeline.microbatches={}", 2 * microbatches));
    shorten(0.5, smaller);
    add("smaller microbatches", std::move(smaller));
  }

  void addCommit() {
    if (!plan::isPostValidated(plan))
      add("steps without a barrier", {std::string(kEarly)});
  }

  void addRecompute() {
    if (const std::string *stated = job.find("memory.recompute"); stated && *stated == "layer")
      remedies.push_back(
          {"activations kept",
           {"memory.recompute=none"},
           true,
           base.isMeasured || base.basis.machine
               ? ""
               : "the costs do not say what recomputing takes; a machine does, or a trace"});
  }

  void addSlots() {
    if (base.costs.durations.boundaryLatency != 0 || base.costs.durations.near.perByte != 0 ||
        base.costs.durations.near.latency != 0)
      for (const int slots : {2, 3, 4})
        add("other receive slots", {fmt::format("pipeline.receive_slots={}", slots)});
  }

  /// Where another split of the layers makes the longest stage shorter.
  void addLayout() {
    const std::vector<double> layers = layerTimes(plan, base.costs.durations);
    const std::vector<std::uint32_t> layout = evenLayout(layers, stages);
    std::vector<std::uint32_t> now;
    for (std::uint32_t stage = 0; stage < stages; ++stage)
      now.push_back(plan.models.front().stages[stage].end -
                    plan.models.front().stages[stage].first);
    if (!layout.empty() && longestStage(layers, layout) < 0.999 * longestStage(layers, now))
      add("another split of the layers", {"pipeline.layout=" + listOf(layout)});
  }

  const JobAgain &job;
  const plan::Plan &plan;
  const SteppedPlan &base;
  const std::uint32_t stages; // of one copy
  std::vector<Remedy> remedies;
};

/// Of backwards that computed their forward again.
void dropRecompute(Durations &durations) {
  for (OpcodeTimes &stage : durations.stages)
    for (const plan::Opcode opcode : {plan::Opcode::Backward, plan::Opcode::BackwardInput})
      stage[opcode] = std::max<std::int64_t>(0, stage[opcode] - stage[plan::Opcode::Forward]);
}

/// At the same costs: a machine says them of any plan.
StatusOr<Durations> durationsOf(const plan::Plan &plan, const SteppedPlan &base,
                                const Remedy &remedy) {
  if (base.basis.machine && !base.isMeasured) {
    StatusOr<PlanCosts> costs = costsOf(plan, base.basis);
    return costs.ok() ? StatusOr<Durations>(std::move(costs->durations)) : costs.status();
  }
  Durations durations = sameWork(base.plan, base.costs.durations, plan);
  if (remedy.dropsRecompute)
    dropRecompute(durations);
  return durations;
}

/// A rank of the machine has less memory than the plan takes there; not said where the plan to
/// begin with has no room either.
std::string whyNoRoom(const plan::Plan &plan, const SteppedPlan &base) {
  if (!base.basis.machine || !base.basis.machine->memory.isKnown())
    return {};
  const double room = base.basis.machine->memory.value;
  const auto deviceOf = [](const plan::Plan &one) {
    std::uint64_t most = 0;
    for (const plan::Layout &layout : one.layouts)
      most = std::max(most, layout.arena[static_cast<std::size_t>(plan::Tier::Device)]);
    return most;
  };
  const std::uint64_t needs = deviceOf(plan);
  if (static_cast<double>(needs) <= room || static_cast<double>(deviceOf(base.plan)) > room)
    return {};
  return fmt::format("a rank needs {} of device memory, machine `{}` has {}", bytesInWords(needs),
                     base.basis.machine->name, bytesInWords(static_cast<std::uint64_t>(room)));
}

/// Of which cause a token has least now, against before.
std::optional<CauseKind> mostSaved(const std::vector<Cause> &before, const std::vector<Cause> &now,
                                   double tokens) {
  std::optional<CauseKind> kind;
  double most = 0;
  for (const Cause &cause : before) {
    const auto same = std::ranges::find(now, cause.kind, &Cause::kind);
    const double saved = static_cast<double>(cause.time) -
                         (same == now.end() ? 0 : static_cast<double>(same->time) / tokens);
    if (saved > most) {
      most = saved;
      kind = cause.kind;
    }
  }
  return kind;
}

} // namespace

std::vector<Remedy> remediesFor(const JobAgain &job, const SteppedPlan &base) {
  return RemedyList(job, base).make();
}

std::uint64_t memoryOf(const plan::Plan &plan) {
  std::uint64_t most = 0;
  for (const plan::Layout &layout : plan.layouts)
    most = std::max(most, layout.arena[0] + layout.arena[1]);
  return most;
}

plan::Hash128 idOfWork(plan::Plan plan) {
  plan.job.clear();
  plan.schedule.clear();
  plan.gradientOrder = {}; // what the programs are held against
  plan.predictions = {};
  return plan::planId(plan);
}

std::optional<Remedy> withEarlyCommit(const Tried &tried) {
  const auto &settings = tried.remedy.settings;
  if (!tried.whyNot.empty() || tried.early < 0.002 ||
      std::ranges::find(settings, kEarly) != settings.end())
    return std::nullopt;
  Remedy remedy = tried.remedy;
  remedy.what += ", steps without a barrier";
  remedy.settings.emplace_back(kEarly);
  return remedy;
}

Tried tryRemedy(const JobAgain &job, const SteppedPlan &base, Remedy remedy) {
  Tried tried{.remedy = std::move(remedy)};
  tried.whyNot = tried.remedy.whyNot;
  if (!tried.whyNot.empty())
    return tried;
  const std::optional<plan::Plan> plan =
      compileAgain(job, base.plan, tried.remedy.settings, tried.whyNot);
  if (!plan)
    return tried;
  tried.work = idOfWork(*plan);
  const verify::ActionTable table(*plan, steadyStepOf(*plan));
  tried.whyNot = whyNoRoom(*plan, base);
  if (!tried.whyNot.empty())
    return tried;
  const StatusOr<Durations> found = durationsOf(*plan, base, tried.remedy);
  if (!found.ok()) {
    tried.whyNot = found.status().message();
    return tried;
  }
  const Durations &durations = *found;
  const Simulated run = simulate(table, durations);
  if (run.stuck) {
    tried.whyNot = *run.stuck;
    return tried;
  }
  const double tokens =
      static_cast<double>(plan->data.batch) / static_cast<double>(base.plan.data.batch);
  tried.period = run.period;
  tried.gain = 1 - static_cast<double>(run.period) / tokens / static_cast<double>(base.period);
  if (tried.gain > 0)
    tried.saved = mostSaved(base.causes, causesOf(table, run, reportOf(table, run)), tokens);
  tried.memory = memoryOf(*plan);
  if (const Periods periods = periodsOf(orderOf(table), taskCostsOf(table, durations));
      !isPostValidated(*plan) && periods.barrier > 0)
    tried.early = 1 - periods.postValidated / periods.barrier;
  return tried;
}

} // namespace vime
