#include "compiler/Machine/MachineCosts.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "compiler/Diagnostics/Amounts.h"
#include "compiler/Machine/EngineRates.h"
#include "compiler/Machine/FigureText.h"
#include "compiler/Machine/PartTimes.h"
#include "compiler/Machine/SleepTimes.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime {

using plan::Opcode;

namespace {

constexpr double kLongest = 24 * 3600; // no action takes longer, in seconds

std::int64_t nanoseconds(double seconds) {
  return static_cast<std::int64_t>(std::llround(std::min(seconds, 2 * kLongest) * 1e9));
}

std::string_view nameOf(Opcode opcode) { return plan::findSignature(plan::code(opcode))->name; }

class Coster {
public:
  Coster(const Machine &machine, const plan::Plan &plan) : machine(machine), plan(plan) {
    for (const plan::Program &program : plan.programs)
      for (const plan::Action &action : program.actions)
        opcodes.insert(static_cast<Opcode>(action.opcode));
  }

  StatusOr<MachineCosts> run() {
    for (const plan::Model &model : plan.models)
      if (const Status status = addStages(model); !status.ok())
        return status;
    addRanks();
    if (plan.mesh.engines != 0)
      addEngines();
    if (const Status status = addLinks(); !status.ok())
      return status;
    for (const CostRow &row : costs.rows)
      if (row.nanoseconds > nanoseconds(kLongest))
        return Status(StatusCode::InvalidInput,
                      fmt::format("`{}` of {} takes longer than a day on machine `{}`\nhelp: "
                                  "`vimec machines` prints its figures; is a unit wrong?",
                                  row.what, row.of, machine.name));
    addNotes();
    for (const MachineField &field : machineFields())
      if (used.contains(field.path)) {
        const Figure &figure = machine.*field.figure;
        costs.figures.push_back(fmt::format("{} {}: {}", field.path,
                                            printFigure(field.kind, figure.value), figure.source));
      }
    return std::move(costs);
  }

private:
  /// The figure, or nothing and a note.
  std::optional<double> known(Figure Machine::*figure, const std::string &what) {
    if ((machine.*figure).isKnown()) {
      used.insert(fieldOf(figure).path);
      return (machine.*figure).value;
    }
    costs.notes.push_back(fmt::format("machine `{}` does not say `{}`: {} is taken for nothing",
                                      machine.name, fieldOf(figure).path, what));
    return std::nullopt;
  }

  // ---- stages ----

  Status addStages(const plan::Model &model) {
    const std::size_t first = costs.durations.stages.size();
    costs.durations.stages.resize(first + model.stages.size());
    for (const Opcode opcode : opcodes) {
      const plan::Signature &signature = *plan::findSignature(plan::code(opcode));
      if (!signature.perStage || signature.family == plan::Family::Collective ||
          opcode == Opcode::Initialize) // once, before the first step
        continue;
      StatusOr<PartTimes> times = timesOf(model, opcode);
      if (!times.ok() && signature.family == plan::Family::Compute)
        return times.status();
      if (!times.ok()) { // a small part of a step
        const std::string &why = times.status().message();
        costs.notes.push_back(fmt::format("{}: {} is taken for nothing",
                                          why.substr(0, why.find('\n')), nameOf(opcode)));
        continue;
      }
      std::vector<std::int64_t> each;
      for (const StageRange &range : model.stages)
        each.push_back(nanoseconds(isEmpty(model.config.family) ? times->layer : times->of(range)));
      for (std::size_t stage = 0; stage < each.size(); ++stage)
        costs.durations.stages[first + stage][opcode] = each[stage];
      addRows(model, first, each, opcode, times->origin);
    }
    addHalves(model, first);
    return Status();
  }

  /// What the halves of a backward would take, where the plan runs only whole ones: bounds are of
  /// orders that may split it. Not known: nothing.
  void addHalves(const plan::Model &model, std::size_t first) {
    for (const Opcode half : {Opcode::BackwardInput, Opcode::BackwardWeight}) {
      if (opcodes.contains(half) || !opcodes.contains(Opcode::Backward))
        continue;
      const StatusOr<PartTimes> times = timesOf(model, half);
      for (std::size_t stage = 0; times.ok() && stage < model.stages.size(); ++stage)
        costs.durations.stages[first + stage][half] = nanoseconds(
            isEmpty(model.config.family) ? times->layer : times->of(model.stages[stage]));
    }
  }

  StatusOr<PartTimes> timesOf(const plan::Model &model, Opcode opcode) {
    if (isEmpty(model.config.family))
      return sleepTimes(machine, model.config, opcode);
    const MicrobatchCaps caps = plan::capsOf(plan.data);
    const std::uint32_t sharers = plan::sharersOf(plan, model);
    if (opcode == Opcode::CheckpointShard || opcode == Opcode::ExportShard)
      return carried(&Machine::disk, workOf(model.config, caps, opcode, sharers), opcode);
    if (opcode == Opcode::Snapshot && machine.hostLink.isKnown())
      return carried(&Machine::hostLink, workOf(model.config, caps, opcode, sharers), opcode);
    return partTimes(machine, model.config, caps, sharers, opcode, used);
  }

  PartTimes carried(Figure Machine::*figure, const PartWork &work, Opcode opcode) {
    const std::optional<double> rate = known(figure, std::string(nameOf(opcode)));
    if (!rate)
      return {.origin = fmt::format("`{}` is not known", fieldOf(figure).path)};
    return {.layer = work.layer.bytes / *rate,
            .embedding = work.embedding.bytes / *rate,
            .head = work.head.bytes / *rate,
            .origin = fmt::format("bytes / {}", printFigure(FigureKind::Bandwidth, *rate))};
  }

  /// Stages in a row that take the same for the same work have one row together.
  void addRows(const plan::Model &model, std::size_t first, const std::vector<std::int64_t> &each,
               Opcode opcode, const std::string &origin) {
    const PartWork work =
        workOf(model.config, plan::capsOf(plan.data), opcode, plan::sharersOf(plan, model));
    for (std::size_t stage = 0; stage < each.size();) {
      std::size_t end = stage + 1;
      const Work ofStage = work.of(model.stages[stage]);
      while (end < each.size() && each[end] == each[stage] && work.of(model.stages[end]) == ofStage)
        ++end;
      if (each[stage] != 0)
        costs.rows.push_back(
            {.of = end == stage + 1 ? fmt::format("stage {}", first + stage)
                                    : fmt::format("stages {}-{}", first + stage, first + end - 1),
             .what = std::string(nameOf(opcode)),
             .nanoseconds = each[stage],
             .work = ofStage,
             .origin = origin});
      stage = end;
    }
  }

  // ---- ranks and links ----

  void addRanks() {
    if (machine.dispatch.isKnown()) {
      used.insert(fieldOf(&Machine::dispatch).path);
      costs.durations.dispatch = nanoseconds(machine.dispatch.value);
      costs.rows.push_back({.of = "each rank",
                            .what = "any action",
                            .nanoseconds = costs.durations.dispatch,
                            .origin = machine.dispatch.source});
    }
    for (const Opcode opcode : opcodes) {
      const plan::Signature &signature = *plan::findSignature(plan::code(opcode));
      if (!signature.perStage && signature.family != plan::Family::Collective &&
          signature.family != plan::Family::Transfer)
        addRank(opcode);
    }
  }

  void addRank(Opcode opcode) {
    CostRow row{.of = "each rank", .what = std::string(nameOf(opcode))};
    if (machine.measured && machine.measured->rank.contains(opcode)) {
      row.nanoseconds = nanoseconds(machine.measured->rank.at(opcode).seconds);
      row.origin = "measured";
    } else if (opcode == Opcode::Load && machine.disk.isKnown()) {
      used.insert(fieldOf(&Machine::disk).path);
      row.work.bytes = static_cast<double>(plan.data.tokens) * plan.data.microbatches; // of text
      row.nanoseconds = nanoseconds(row.work.bytes / machine.disk.value);
      row.origin =
          fmt::format("bytes / {}", printFigure(FigureKind::Bandwidth, machine.disk.value));
    }
    costs.durations.ofRank[opcode] = row.nanoseconds;
    if (row.nanoseconds != 0)
      costs.rows.push_back(std::move(row));
  }

  // ---- engines ----

  /// As long as generation can take: every prompt and response is as long as it may be.
  void addEngines() {
    const StatusOr<EngineRates> rates = engineRates(machine, plan, used);
    if (!rates.ok()) {
      const std::string &why = rates.status().message();
      costs.notes.push_back(
          fmt::format("{}: generation is taken for nothing", why.substr(0, why.find('\n'))));
      return;
    }
    costs.engine = rates->costs;
    const plan::RolloutSettings &rollout = plan.round.rollout;
    for (std::uint32_t engine = 0; engine < rollout.engines; ++engine) {
      std::vector<EngineSequence> queue;
      for (std::uint32_t draw = engine; draw < rollout.candidates; draw += rollout.engines)
        queue.insert(queue.end(), rollout.samples, {draw, rollout.maxPrompt, rollout.maxNew});
      costs.durations.generation.push_back(
          nanoseconds(engineSeconds(queue, {rollout.slots, rollout.stepTokens}, costs.engine)));
    }
    const double slots = rollout.slots;
    costs.rows.push_back(
        {.of = "each engine",
         .what = fmt::format("step of {} tokens", rollout.slots),
         .nanoseconds = nanoseconds(secondsOf(costs.engine, {.rows = slots,
                                                             .pairs = slots * rollout.rows() / 2,
                                                             .draws = slots,
                                                             .keys = slots * rollout.rows() / 2})),
         .origin = rates->origin});
    costs.notes.push_back("prompts and responses are taken to be as long as they may be; "
                          "`--lengths` of `vimec simulate` says how long they are");
  }

  Status addLinks() {
    Durations &durations = costs.durations;
    if (machine.ranks.isKnown()) {
      used.insert(fieldOf(&Machine::ranks).path);
      durations.ranksPerNode = static_cast<std::uint32_t>(machine.ranks.value);
    }
    const bool computes =
        !std::all_of(plan.models.begin(), plan.models.end(),
                     [](const plan::Model &model) { return isEmpty(model.config.family); });
    if (machine.cores.isKnown() && computes) { // stages that sleep need none
      used.insert(fieldOf(&Machine::cores).path);
      durations.coresPerNode = static_cast<std::uint32_t>(machine.cores.value);
    }
    if (plan.mesh.ranks() == 1)
      return Status();
    durations.near.latency = nanoseconds(known(&Machine::nodeLatency, "it").value_or(0));
    if (const auto rate = known(&Machine::nodeBandwidth, "what its links carry"))
      durations.near.perByte = 1e9 / *rate;
    addLink("link inside a node", durations.near, &Machine::nodeLatency, &Machine::nodeBandwidth);
    if (durations.nodeOf(plan.mesh.ranks() - 1) == 0)
      return Status();
    const StatusOr<double> latency = figureOf(machine, &Machine::networkLatency, used);
    const StatusOr<double> rate = figureOf(machine, &Machine::networkBandwidth, used);
    for (const StatusOr<double> *figure : {&latency, &rate})
      if (!figure->ok())
        return figure->status();
    durations.far = {nanoseconds(*latency), 1e9 / *rate};
    addLink("link between nodes", durations.far, &Machine::networkLatency,
            &Machine::networkBandwidth);
    return Status();
  }

  void addLink(const char *of, const LinkTimes &link, Figure Machine::*latency,
               Figure Machine::*bandwidth) {
    if (link.latency != 0)
      costs.rows.push_back({.of = of,
                            .what = "latency",
                            .nanoseconds = link.latency,
                            .origin = (machine.*latency).source});
    if (link.perByte != 0)
      costs.rows.push_back({.of = of,
                            .what = "1 MB",
                            .nanoseconds = nanoseconds(1e-3 * link.perByte),
                            .origin = (machine.*bandwidth).source});
  }

  // ---- whether it fits ----

  void addNotes() {
    double host = 0;
    const std::uint32_t onNode = costs.durations.ranksPerNode == 0
                                     ? plan.mesh.ranks()
                                     : std::min(costs.durations.ranksPerNode, plan.mesh.ranks());
    for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank) {
      const auto &arena = plan::layoutOf(plan, rank)->arena;
      if (rank < onNode)
        host += static_cast<double>(arena[1]);
      if (machine.memory.isKnown() && static_cast<double>(arena[0]) > machine.memory.value &&
          rank < plan::representatives(plan.mesh))
        costs.notes.push_back(fmt::format(
            "rank {} needs {} of device memory, machine `{}` has {}", rank, bytesInWords(arena[0]),
            machine.name, bytesInWords(static_cast<std::uint64_t>(machine.memory.value))));
    }
    if (machine.hostMemory.isKnown() && host > machine.hostMemory.value)
      costs.notes.push_back(
          fmt::format("the ranks of a node need {} of its host's memory, machine `{}` has {}",
                      bytesInWords(static_cast<std::uint64_t>(host)), machine.name,
                      bytesInWords(static_cast<std::uint64_t>(machine.hostMemory.value))));
  }

  const Machine &machine;
  const plan::Plan &plan;
  std::set<Opcode> opcodes; // of the plan
  UsedFigures used;
  MachineCosts costs;
};

} // namespace

StatusOr<MachineCosts> costsOn(const Machine &machine, const plan::Plan &plan) {
  return Coster(machine, plan).run();
}

} // namespace vime
