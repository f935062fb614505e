#include "compiler/Lowering/LowerCommunication.h"

#include <algorithm>

#include "compiler/Lowering/PipelineClock.h"
#include "compiler/Lowering/ProgramWriter.h"
#include "compiler/Lowering/RankBuffers.h"
#include "compiler/Lowering/SaveRun.h"
#include "compiler/Lowering/SplitStages.h"
#include "compiler/Lowering/TiedHead.h"
#include "runtime/Plan/StepHeader.h"

namespace vime {

using namespace plan;

namespace {

constexpr std::uint32_t kCoordinator = 0;

// Writes the programs of the training loop, step by step of the execution model's round.
class TrainingLoop {
public:
  TrainingLoop(const Job &job, const Schedule &order, Plan &plan)
      : job(job), order(order), plan(plan), model(plan.models[0]), ranks(job.cluster.ranks.value),
        lastStage(static_cast<std::uint32_t>(order.placement.size()) - 1),
        firstRank(order.placement.front()), lastRank(order.placement.back()),
        chunkOf(order.placement.size()) {}

  void write(const PipelineClock &clock) {
    placeStages();
    describeMessages();
    ProgramWriter programs(plan, ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      plan.programs[rank].stages = localStages[rank];
    forEachLocalStage([&](std::uint32_t rank, std::uint32_t chunk) {
      programs.local(rank, Opcode::Initialize, chunk);
    });
    const TiedHead tiedHead(model.config, stageSpec(model.config, model.stages[0], capsOf(job)),
                            endOf(0), endOf(lastStage));
    tiedHead.shareWeights(programs);
    programs.beginLoop(/*id=*/0, static_cast<std::uint32_t>(job.run.steps.value));
    startStep(programs);
    runPipeline(programs, clock);
    tiedHead.addGradients(programs);
    update(programs);
    tiedHead.shareWeights(programs);
    report(programs);
    const bool saves = !job.checkpoint.directory.value.empty();
    if (saves)
      saveBehindStep(programs, localStages, kCoordinator);
    programs.endLoop();
    if (saves)
      nameLastCheckpoint(programs, localStages, kCoordinator);
    if (!job.run.exportTo.value.empty())
      exportModel(programs);
  }

private:
  void placeStages() {
    localStages.resize(ranks);
    for (std::uint32_t stage = 0; stage <= lastStage; ++stage) {
      auto &here = localStages[order.placement[stage]];
      chunkOf[stage] = static_cast<std::uint32_t>(here.size());
      here.push_back({.model = 0, .stage = stage});
    }
  }

  void describeMessages() {
    const MicrobatchCaps caps = capsOf(job);
    const auto microbatches = job.pipeline.microbatches.value;
    std::uint32_t mostTensors = 0;
    for (const auto &stages : localStages) {
      std::uint32_t tensors = 0;
      for (const LocalStage &local : stages)
        tensors += static_cast<std::uint32_t>(
            stageSpec(model.config, model.stages[local.stage], caps).tensors.size());
      mostTensors = std::max(mostTensors, tensors);
    }
    const std::uint32_t perToken =
        stageSpec(model.config, model.stages[0], caps).boundaryBytesPerToken;
    boundary = {.type = model.config.type, .fixed = 0, .perToken = perToken};
    samples = {.type = DataType::Int32, .fixed = extent(microbatches, caps.tokens * 4ull)};
    losses = {.type = DataType::Float64, .fixed = extent(microbatches, 8)};
    const Message header{.type = DataType::Byte,
                         .fixed = static_cast<std::uint32_t>(StepHeader::bytes(microbatches))};
    const Message segments{.type = DataType::Int32,
                           .fixed = extent(microbatches, (caps.segments + 1) * 4ull)};
    const Message squares{.type = DataType::Float64, .fixed = 8 * mostTensors};
    const Message stats{.type = DataType::Byte, .fixed = sizeof(RankStats)};
    plan.groups = {
        {.name = "step",
         .flow = Flow::Control,
         .operation = Collective::Broadcast,
         .message = header},
        {.name = "segments",
         .flow = Flow::Data,
         .operation = Collective::Broadcast,
         .message = segments},
        {.name = "norm",
         .flow = Flow::Metrics,
         .operation = Collective::AllGather,
         .message = squares},
        {.name = "stats", .flow = Flow::Metrics, .operation = Collective::Gather, .message = stats},
    };
  }

  // All slots of a ring whose slots start at multiples of the alignment: what a whole-buffer
  // message moves.
  static std::uint32_t extent(std::uint32_t slots, std::uint64_t bytes) {
    return static_cast<std::uint32_t>(aligned(bytes) * (slots - 1) + bytes);
  }

  void startStep(ProgramWriter &programs) {
    programs.local(kCoordinator, Opcode::Decide);
    programs.local(kCoordinator, Opcode::Load);
    programs.collective(Opcode::Broadcast, kStepGroup);
    programs.collective(Opcode::Broadcast, kSegmentsGroup);
    if (firstRank != kCoordinator)
      programs.transfer({kCoordinator}, {firstRank}, Flow::Data, samples, BufferKind::Tokens);
    if (lastRank != kCoordinator)
      programs.transfer({kCoordinator}, {lastRank}, Flow::Data, samples, BufferKind::Labels);
  }

  ProgramWriter::End endOf(std::uint32_t stage) const {
    return {static_cast<std::uint32_t>(order.placement[stage]), chunkOf[stage]};
  }

  void runPipeline(ProgramWriter &programs, const PipelineClock &clock) {
    std::vector<char> hasGradients(lastStage + 1, 0);
    auto overwriteOnce = [&](std::uint32_t stage) {
      const std::uint16_t first = hasGradients[stage] ? 0 : kOverwriteGradients;
      hasGradients[stage] = 1;
      return first;
    };
    for (const PipelineNode &node : clock.nodes) {
      const auto stage = static_cast<std::uint32_t>(node.stage);
      const auto microbatch = static_cast<std::uint32_t>(node.microbatch);
      const auto rank = static_cast<std::uint32_t>(order.placement[stage]);
      const std::uint32_t chunk = chunkOf[stage];
      switch (node.kind) {
      case NodeKind::Forward:
        programs.local(rank, Opcode::Forward, chunk, microbatch);
        if (stage == lastStage)
          programs.local(rank, Opcode::Loss, chunk, microbatch);
        break;
      case NodeKind::Backward:
        programs.local(rank, Opcode::Backward, chunk, microbatch, overwriteOnce(stage));
        break;
      case NodeKind::BackwardInput:
        programs.local(rank, Opcode::BackwardInput, chunk, microbatch);
        break;
      case NodeKind::BackwardWeight:
        programs.local(rank, Opcode::BackwardWeight, chunk, microbatch, overwriteOnce(stage));
        break;
      case NodeKind::SendForward:
        programs.transfer({rank, chunk}, endOf(stage + 1), Flow::Forward, boundary,
                          BufferKind::Input, microbatch);
        break;
      case NodeKind::SendBackward:
        programs.transfer({rank, chunk}, endOf(stage - 1), Flow::Backward, boundary,
                          BufferKind::OutputGradient, microbatch);
        break;
      }
    }
  }

  void update(ProgramWriter &programs) {
    forEachLocalStage([&](std::uint32_t rank, std::uint32_t chunk) {
      programs.local(rank, Opcode::ScaleGradients, chunk);
    });
    forEachLocalStage([&](std::uint32_t rank, std::uint32_t chunk) {
      programs.local(rank, Opcode::SquareNorm, chunk);
    });
    programs.collective(Opcode::AllGather, kNormGroup);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      programs.local(rank, Opcode::Clip);
    forEachLocalStage([&](std::uint32_t rank, std::uint32_t chunk) {
      programs.local(rank, Opcode::Optimize, chunk);
    });
  }

  void report(ProgramWriter &programs) {
    if (lastRank != kCoordinator)
      programs.transfer({lastRank}, {kCoordinator}, Flow::Metrics, losses, BufferKind::Losses);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      programs.local(rank, Opcode::Measure);
    programs.collective(Opcode::Gather, kStatsGroup);
    programs.local(kCoordinator, Opcode::Report);
  }

  void exportModel(ProgramWriter &programs) {
    forEachLocalStage([&](std::uint32_t rank, std::uint32_t chunk) {
      programs.local(rank, Opcode::ExportShard, chunk);
    });
    programs.collective(Opcode::Gather,
                        kStatsGroup); // every shard is written before the export becomes visible
    programs.local(kCoordinator, Opcode::ExportCommit);
  }

  template <typename Visit> void forEachLocalStage(Visit visit) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      for (std::uint32_t chunk = 0; chunk < localStages[rank].size(); ++chunk)
        visit(rank, chunk);
  }

  const Job &job;
  const Schedule &order;
  Plan &plan;
  const Model &model;
  const std::uint32_t ranks, lastStage;
  const std::uint32_t firstRank, lastRank;
  std::vector<std::uint32_t> chunkOf; // by stage: index in its rank's stage table
  std::vector<std::vector<LocalStage>> localStages;
  Message boundary, samples, losses;
};

} // namespace

MicrobatchCaps capsOf(const Job &job) {
  return {.tokens = job.pipeline.samples.value * job.data.sequence.value,
          .segments = job.pipeline.samples.value,
          .segmentTokens = job.data.sequence.value};
}

std::optional<Plan> lowerCommunication(const Job &job, const Schedule &order, Findings &findings) {
  const auto clock = layClock(order, static_cast<int>(job.pipeline.microbatches.value));
  if (!clock) {
    findings.error(Rule::S2, 1, "order `" + job.pipeline.schedule.value + "` can never finish")
        .at(job.pipeline.schedule.span, "some task waits for one that stands behind it");
    return std::nullopt;
  }
  Plan plan;
  plan.schedule = job.pipeline.schedule.value;
  plan.mesh.pipeline = job.cluster.ranks.value;
  const Job::NamedModel &model = *job.model(job.actor.model.value);
  ModelConfig config = model.config;
  config.recomputesLayers = job.memory.recompute.value == "layer";
  plan.models = {{.config = config,
                  .stages = splitStages(job, static_cast<std::uint32_t>(order.placement.size())),
                  .checkpoint = model.checkpoint.value}};
  TrainingLoop(job, order, plan).write(*clock);
  plan.predictions = {.stepUnits = static_cast<double>(clock->makespan),
                      .bubble = clock->bubble,
                      .peakLive = static_cast<std::uint32_t>(clock->peakLive)};
  return plan;
}

} // namespace vime
