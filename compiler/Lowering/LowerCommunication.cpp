#include "compiler/Lowering/LowerCommunication.h"

#include <algorithm>
#include <cassert>
#include <span>

#include "compiler/Frontend/Microbatch.h"
#include "compiler/Lowering/FoldPass.h"
#include "compiler/Lowering/PassWriter.h"
#include "compiler/Lowering/ProgramWriter.h"
#include "compiler/Lowering/ReceiveSlotsOfJob.h"
#include "compiler/Lowering/RolloutWriter.h"
#include "compiler/Lowering/RoundSettings.h"
#include "compiler/Lowering/SaveRun.h"
#include "compiler/Lowering/SplitStages.h"
#include "compiler/Lowering/StepDecisions.h"
#include "compiler/Lowering/StepFamily.h"
#include "compiler/Lowering/StepMembers.h"
#include "compiler/Lowering/TiedHead.h"
#include "compiler/Lowering/TrainingGroups.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Mesh.h"
#include "schedules/ForwardOnly.h"
#include "schedules/OrderTable.h"
#include "schedules/Placement.h"
#include "schedules/Registry.h"

namespace vime {

using namespace plan;

namespace {

constexpr std::uint32_t kCoordinator = 0;

ResidencyRule ruleOf(const Job &job) {
  return job.memory.unshardRule.value == "torch-compatible" ? ResidencyRule::Torch
                                                            : ResidencyRule::FewestUnshards;
}

std::uint32_t mostStages(const Schedule &order) {
  std::vector<std::uint32_t> stages(order.rows.size());
  for (const int rank : order.placement)
    ++stages[static_cast<std::size_t>(rank)];
  return *std::max_element(stages.begin(), stages.end());
}

// Loops repeat tasks, but not which stages are there: they need all of them.
bool keepsAll(const Job &job, const Schedule &order) {
  return !job.actor.shard.value || windowOf(job, order) == mostStages(order);
}

// Writes the programs of the training loop, step by step of the execution model's round. Replicas
// do the same side by side; where they meet, they meet along `dp`.
class TrainingLoop {
public:
  TrainingLoop(const Job &job, const Schedule &order, Plan &plan)
      : job(job), order(order), plan(plan), model(plan.models[0]), pipeline(plan.mesh.pipeline),
        ranks(plan.mesh.pipeline * std::min(plan.mesh.data, 2u)), messages(messagesOf(job, plan)),
        hasReplicas(plan.mesh.data > 1), copies(static_cast<std::uint32_t>(order.copies)),
        depth(static_cast<std::uint32_t>(depthOf(order))),
        runsEarly(job.optimizer.commit.value == "post_validated"), chunkOf(order.placement.size()) {
  }

  void write(const std::vector<StepMember> &members) {
    placeStages();
    addTrainingGroups(messages, mostStages(order), plan);
    nameDecisions(job, members, plan);
    RolloutGroups groups{};
    if (hasRounds(plan))
      groups = addRolloutGroups(plan, messages.header);
    ProgramWriter programs(plan);
    RolloutWriter rollout(plan, groups, localStages, programs);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      plan.programs[rank].stages = localStages[rank % pipeline];
    if (hasRounds(plan))
      rollout.placeStages(plan);
    forEachLocalStage(ranks, [&](std::uint32_t rank, std::uint32_t chunk) {
      programs.local(rank, Opcode::Initialize, chunk);
    });
    forEachReferenceStage([&](std::uint32_t rank, std::uint32_t chunk) {
      programs.local(rank, Opcode::Initialize, chunk);
    });
    forEachCopy([&](std::uint32_t first, std::uint32_t copy) {
      tiedHead(first, copy).shareWeights(programs);
    });
    if (hasRounds(plan))
      rollout.wake();
    programs.beginLoop(/*id=*/0, static_cast<std::uint32_t>(job.run.steps.value),
                       endsEarly(job) ? when(Decision::Stop, 1) : std::uint8_t{0});
    if (hasRounds(plan))
      startStepOfRound(programs, rollout, groups);
    else
      startStep(programs);
    if (hasReference(plan))
      runMembers(programs, inferred(members), Pass::Infer);
    if (plan.round.algorithm.klInReward)
      forEachReplica([&](std::uint32_t first) {
        programs.local(endOf(first, lastOf(0)).rank, Opcode::Advantage);
      });
    if (runsEarly)
      runAndSettle(programs);
    else
      runMembers(programs, members, hasRounds(plan) ? Pass::TrainPolicy : Pass::Train);
    forEachCopy([&](std::uint32_t first, std::uint32_t copy) {
      tiedHead(first, copy).addGradients(programs);
    });
    update(programs);
    forEachCopy([&](std::uint32_t first, std::uint32_t copy) {
      tiedHead(first, copy).shareWeights(programs);
    });
    report(programs);
    if (runsEarly)
      settleBehindStep(programs);
    if (evaluationMicrobatches(job) != 0)
      evaluate(programs);
    if (saves() && !runsEarly)
      nameCheckpoint(programs, kCoordinator);
    if (saves()) // the leading replica, since all have the same weights
      saveBehindStep(programs, localStages, depth, when(Decision::Save, 1));
    programs.endLoop();
    if (evaluatesPrompts()) {
      rollout.sync(/*behindLastRound=*/true);
      rollout.evaluate();
    }
    if (saves())
      nameLastCheckpoint(programs, localStages, kCoordinator);
    if (!job.run.exportTo.value.empty())
      exportModel(programs);
    programs.shareEqualPrograms();
  }

private:
  void placeStages() {
    localStages.resize(pipeline);
    for (std::uint32_t stage = 0; stage < order.placement.size(); ++stage) {
      auto &here = localStages[order.placement[stage]];
      chunkOf[stage] = static_cast<std::uint32_t>(here.size());
      here.push_back({.model = 0, .stage = stage});
    }
    if (!hasReference(plan))
      return;
    // Behind those that are trained, in the same places.
    for (std::uint32_t stage = 0; stage < order.placement.size(); ++stage) {
      auto &here = localStages[order.placement[stage]];
      referenceChunkOf.push_back(static_cast<std::uint32_t>(here.size()));
      here.push_back({.model = 1, .stage = stage});
    }
  }

  bool evaluatesPrompts() const { return plan.round.evaluation.every != 0; }
  bool saves() const { return !job.checkpoint.directory.value.empty(); }

  std::uint8_t when(Decision decision, std::uint32_t value,
                    Comparison comparison = Comparison::Equal) {
    return conditionOf(plan, {decision, comparison, value});
  }

  // The coordinator decides for all replicas; the first rank of each reads its own samples.
  void startStep(ProgramWriter &programs) {
    programs.local(kCoordinator, Opcode::Decide);
    if (hasReplicas)
      programs.collective(Opcode::Broadcast, kDecisionGroup, kCoordinator);
    forEachReplica([&](std::uint32_t first) {
      programs.local(first, Opcode::Load);
      programs.collective(Opcode::Broadcast, kStepGroup, first, Waiting::AllButRoot);
      sendSamples(programs, first, copies);
    });
  }

  // In the first step of a round engines get the weights and answer prompts before it trains. The
  // header goes round twice: how many microbatches a step has is known when its samples are.
  void startStepOfRound(ProgramWriter &programs, RolloutWriter &rollout,
                        const RolloutGroups &groups) {
    const std::uint8_t begins =
        plan.round.rollout.steps > 1 ? when(Decision::Rollout, 1) : std::uint8_t{0};
    programs.local(kCoordinator, Opcode::Decide);
    rollout.shareHeader();
    shareHeader(programs);
    programs.beginCase(begins);
    rollout.sync();
    programs.endCase();
    if (evaluatesPrompts()) {
      programs.beginCase(when(Decision::Evaluate, 1));
      rollout.evaluate();
      programs.endCase();
    }
    programs.beginCase(begins);
    rollout.generate();
    programs.endCase();
    programs.local(kCoordinator, Opcode::Pack);
    if (hasReplicas) {
      programs.collective(Opcode::Broadcast, kDecisionGroup, kCoordinator);
      programs.collective(Opcode::Broadcast, groups.round, kCoordinator);
    }
    forEachReplica([&](std::uint32_t first) {
      programs.local(first, Opcode::LoadRound);
      programs.collective(Opcode::Broadcast, kStepGroup, first, Waiting::AllButRoot);
      sendSamples(programs, first, copies);
      if (const std::uint32_t last = endOf(first, lastOf(0)).rank; last != first)
        programs.transfer({first}, {last}, Flow::Metrics, messages.policy, BufferKind::Policy);
    });
  }

  // The same numbers of microbatches in forwards alone.
  std::vector<StepMember> inferred(const std::vector<StepMember> &members) const {
    std::vector<std::uint32_t> numbers;
    for (const StepMember &member : members)
      numbers.insert(numbers.end(), member.microbatches.begin(), member.microbatches.end());
    const Schedule forwards = forwardOnly(order.placement, static_cast<int>(pipeline),
                                          static_cast<int>(numbers.back()), order.slices);
    auto passes =
        membersOf(forwards, numbers.back(), numbers, /*fillsUp=*/false, receiveSlotsOf(job));
    assert(passes); // an order of forwards alone never gets stuck
    return std::move(*passes);
  }

  // To the ends of so many copies of the model.
  void sendSamples(ProgramWriter &programs, std::uint32_t first, std::uint32_t toCopies) {
    programs.collective(Opcode::Broadcast, kSegmentsGroup, first);
    const auto send = [&](std::uint32_t to, BufferKind kind) {
      if (to != first)
        programs.transfer({first}, {to}, Flow::Data, messages.samples, kind);
    };
    for (std::uint32_t copy = 0; copy < toCopies; ++copy) {
      send(endOf(first, firstOf(copy)).rank, BufferKind::Tokens);
      send(endOf(first, lastOf(copy)).rank, BufferKind::Labels);
    }
  }

  std::uint32_t firstOf(std::uint32_t copy) const { return copy * depth; }
  std::uint32_t lastOf(std::uint32_t copy) const { return copy * depth + depth - 1; }

  ProgramWriter::End endOf(std::uint32_t first, std::uint32_t stage) const {
    return {first + static_cast<std::uint32_t>(order.placement[stage]), chunkOf[stage]};
  }

  // Of two copies that go opposite ways, the head of each has the embedding of the other beside it,
  // with the same weights: it reads that one, and adds to its gradients.
  TiedHead tiedHead(std::uint32_t first, std::uint32_t copy) const {
    return {model.config, stageSpec(model.config, model.stages[0], capsOf(job)),
            endOf(first, firstOf(copies - 1 - copy)), endOf(first, lastOf(copy))};
  }

  // One number of microbatches needs no decision. Loops stand between edges where all is quiet, so
  // that they can be judged for any number of trips; but what a checkpoint writes meanwhile has to
  // end there, so that then they do so only where unrolling them would take long.
  void runMembers(ProgramWriter &programs, const std::vector<StepMember> &members, Pass pass) {
    constexpr std::uint64_t kMostUnrolled = std::uint64_t{1} << 20; // nodes
    for (const StepMember &member : members) {
      const bool isLong =
          member.folded.hasLoops() && (!saves() || countNodes(member.folded).all > kMostUnrolled);
      const bool isCase = members.size() > 1 || member.microbatches.size() > 1 || isLong;
      if (isCase)
        programs.beginCase(whenRuns(member, members));
      writePass(programs, member.folded, pass, member.microbatches.size() > 1);
      if (isCase)
        programs.endCase();
    }
  }

  // Members are disjoint, and only the last one has several numbers: all from one on.
  std::uint8_t whenRuns(const StepMember &member, const std::vector<StepMember> &members) {
    if (members.size() == 1)
      return 0;
    const bool several = member.microbatches.size() > 1;
    return when(Decision::Microbatches, member.microbatches.front(),
                several ? Comparison::AtLeast : Comparison::Equal);
  }

  void writePass(ProgramWriter &programs, const FoldedClock &folded, Pass pass, bool isDecided) {
    passWriter(programs, pass == Pass::Infer ? referenceChunkOf : chunkOf)
        .write(folded, pass, nextLoop, isDecided);
    nextLoop += static_cast<std::uint32_t>(folded.parts.size() / 2);
  }

  PassWriter passWriter(ProgramWriter &programs, const std::vector<std::uint32_t> &chunks) const {
    return {{order.placement, depth, chunks, messages.boundary, pipeline, ranks / pipeline,
             fillsUp(job), windowOf(job, order), ruleOf(job)},
            programs};
  }

  // A pass whose warm-up runs while the step before may still have to be taken back. All that
  // happens before the first gradient is cut off, by the clock: there every message that was sent
  // has been received. If the verdict is bad, weights are put right and the warm-up runs again.
  void runAndSettle(ProgramWriter &programs) {
    const auto clock =
        layClock(order, static_cast<int>(job.pipeline.microbatches.value), receiveSlotsOf(job));
    assert(clock); // the members of the family have been laid out
    const std::span<const PipelineNode> nodes(clock->nodes);
    const auto firstGradient =
        std::find_if(nodes.begin(), nodes.end(), [](const PipelineNode &node) {
          return node.kind != NodeKind::Forward && node.kind != NodeKind::SendForward;
        });
    const auto warmUp = nodes.first(static_cast<std::size_t>(firstGradient - nodes.begin()));
    PassWriter pass = passWriter(programs, chunkOf);
    pass.begin(*clock);
    pass.write(warmUp);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      programs.local(rank, Opcode::Settle);
    programs.beginCase(when(Decision::Verdict, kStands, Comparison::NotEqual));
    redo(programs);
    pass.write(warmUp);
    programs.endCase();
    programs.local(kCoordinator, Opcode::Report);
    programs.guard(kCoordinator, when(Decision::Pending, 1));
    if (saves())
      nameCheckpoint(programs, kCoordinator);
    pass.write(nodes.subspan(warmUp.size()));
  }

  void redo(ProgramWriter &programs, std::uint8_t guard = 0) {
    forEachLocalStage(ranks, [&](std::uint32_t rank, std::uint32_t chunk) {
      programs.local(rank, Opcode::Redo, chunk);
      programs.guard(rank, guard);
    });
  }

  // Where something else than the next step follows, it finds the weights as they will be.
  void settleBehindStep(ProgramWriter &programs) {
    programs.beginCase(when(Decision::Settle, 1));
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      programs.local(rank, Opcode::Clip);
    redo(programs, when(Decision::Verdict, kStands, Comparison::NotEqual));
    programs.local(kCoordinator, Opcode::Report);
    if (saves())
      nameCheckpoint(programs, kCoordinator);
    programs.endCase();
  }

  void update(ProgramWriter &programs) {
    if (copies > 1)
      addCopies(programs);
    if (hasReplicas)
      forEachLocalStage(pipeline, [&](std::uint32_t rank, std::uint32_t chunk) {
        programs.collective(model.sharded ? Opcode::ReduceScatter : Opcode::AllReduce,
                            kGradientsGroup, rank, Waiting::Everybody, chunk);
      });
    forEachLocalStage(ranks, [&](std::uint32_t rank, std::uint32_t chunk) {
      programs.local(rank, Opcode::ScaleGradients, chunk);
    });
    forEachLocalStage(ranks, [&](std::uint32_t rank, std::uint32_t chunk) {
      programs.local(rank, Opcode::SquareNorm, chunk);
    });
    for (std::uint32_t rank = 0; model.sharded && rank < pipeline; ++rank)
      programs.collective(Opcode::ReduceSquares, kShareSquaresGroup, rank, Waiting::Everybody);
    forEachReplica(
        [&](std::uint32_t first) { programs.collective(Opcode::AllGather, kNormGroup, first); });
    if (runsEarly) { // while the squares are under way
      forEachLocalStage(ranks, [&](std::uint32_t rank, std::uint32_t chunk) {
        programs.local(rank, Opcode::OptimizeEarly, chunk);
      });
      return;
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      programs.local(rank, Opcode::Clip);
    const std::uint8_t isGood = when(Decision::Bad, 0);
    forEachLocalStage(ranks, [&](std::uint32_t rank, std::uint32_t chunk) {
      programs.local(rank, Opcode::Optimize, chunk);
      programs.guard(rank, isGood);
    });
  }

  // The gradients of each stage, over its two holders: both go on with the same sum.
  void addCopies(ProgramWriter &programs) {
    forEachReplica([&](std::uint32_t first) {
      for (std::uint32_t stage = 0; stage < depth; ++stage) {
        std::vector<ProgramWriter::End> holders = {endOf(first, stage),
                                                   endOf(first, depth + stage)};
        if (holders[0].rank > holders[1].rank)
          std::swap(holders[0], holders[1]);
        programs.collective(Opcode::AllReduce, copiesGroup(plan.mesh), holders, Waiting::Everybody);
      }
    });
  }

  // Held-out text through the weights that the step left, a part of it in each replica, through the
  // first copy of the model. The header brings its tokens, and afterwards whether the run goes on.
  void evaluate(ProgramWriter &programs) {
    const auto microbatches = static_cast<int>(evaluationMicrobatches(job));
    const auto folded =
        foldedPass(forwardOnly({order.placement.begin(), order.placement.begin() + depth},
                               static_cast<int>(pipeline), microbatches, order.slices),
                   microbatches, keepsAll(job, order) ? Folding::WhereWorthwhile : Folding::Nowhere,
                   receiveSlotsOf(job));
    assert(folded); // an order of forwards alone never gets stuck
    programs.beginCase(when(Decision::Evaluate, 1));
    forEachReplica([&](std::uint32_t first) {
      programs.local(first, Opcode::LoadEvaluation);
      programs.collective(Opcode::Broadcast, kStepGroup, first, Waiting::AllButRoot);
      sendSamples(programs, first, 1);
    });
    writePass(programs, *folded, Pass::Evaluate, /*isDecided=*/false);
    forEachReplica([&](std::uint32_t first) {
      sendLosses(programs, first);
      programs.local(first, Opcode::MeasureEvaluation);
    });
    gatherStats(programs);
    programs.local(kCoordinator, Opcode::ReportEvaluation);
    shareHeader(programs);
    programs.endCase();
  }

  // What the coordinator has changed in it, to every rank.
  void shareHeader(ProgramWriter &programs) {
    if (hasReplicas)
      programs.collective(Opcode::Broadcast, kDecisionGroup, kCoordinator, Waiting::AllButRoot);
    forEachReplica([&](std::uint32_t first) {
      programs.collective(Opcode::Broadcast, kStepGroup, first, Waiting::AllButRoot);
    });
  }

  void sendLosses(ProgramWriter &programs, std::uint32_t first) {
    if (const std::uint32_t last = endOf(first, lastOf(0)).rank; last != first)
      programs.transfer({last}, {first}, Flow::Metrics, messages.losses, BufferKind::Losses);
  }

  // Counters, and with them losses, come together in each replica, then from all replicas. Of
  // several copies of the model each counts its losses where they are, and so does a step that the
  // next one does not wait for; that one is reported when it is settled.
  void report(ProgramWriter &programs) {
    if (copies == 1 && !runsEarly)
      forEachReplica([&](std::uint32_t first) { sendLosses(programs, first); });
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      programs.local(rank, Opcode::Measure);
    gatherStats(programs);
    if (!runsEarly)
      programs.local(kCoordinator, Opcode::Report);
  }

  void gatherStats(ProgramWriter &programs) {
    forEachReplica(
        [&](std::uint32_t first) { programs.collective(Opcode::Gather, kStatsGroup, first); });
    if (hasReplicas)
      programs.collective(Opcode::Gather, kAllStatsGroup, kCoordinator);
  }

  // All replicas have the same weights, and all copies: the leading one writes them, and the first.
  void exportModel(ProgramWriter &programs) {
    forEachLocalStage(pipeline, [&](std::uint32_t rank, std::uint32_t chunk) {
      const bool isWritten = localStages[rank][chunk].stage < depth;
      const auto slot = static_cast<std::uint16_t>(chunk % std::max(windowOf(job, order), 1u));
      if (model.sharded)
        programs.collective(Opcode::Unshard, kWeightsGroup, rank, Waiting::Nobody, chunk, slot);
      if (isWritten)
        programs.local(rank, Opcode::ExportShard, chunk);
      for (std::uint32_t member = rank; model.sharded && member < ranks; member += pipeline)
        programs.local(member, Opcode::Reshard, chunk, {}, slot);
    });
    // Every shard is written before the export becomes visible.
    programs.collective(Opcode::Gather, kStatsGroup, kCoordinator);
    programs.local(kCoordinator, Opcode::ExportCommit);
  }

  template <typename Visit> void forEachReplica(Visit visit) {
    for (std::uint32_t first = 0; first < ranks; first += pipeline)
      visit(first);
  }
  template <typename Visit> void forEachCopy(Visit visit) {
    forEachReplica([&](std::uint32_t first) {
      for (std::uint32_t copy = 0; copy < copies; ++copy)
        visit(first, copy);
    });
  }
  // Those that are trained.
  template <typename Visit> void forEachLocalStage(std::uint32_t end, Visit visit) {
    for (std::uint32_t rank = 0; rank < end; ++rank)
      for (std::uint32_t chunk = 0; chunk < localStages[rank % pipeline].size(); ++chunk)
        if (isTrained(localStages[rank % pipeline][chunk]))
          visit(rank, chunk);
  }
  template <typename Visit> void forEachReferenceStage(Visit visit) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      for (std::uint32_t chunk = 0; chunk < localStages[rank % pipeline].size(); ++chunk)
        if (!isTrained(localStages[rank % pipeline][chunk]))
          visit(rank, chunk);
  }

  const Job &job;
  const Schedule &order;
  Plan &plan;
  const Model &model;
  const std::uint32_t pipeline, ranks; // of a replica, and of those that stand for all
  const StepMessages messages;
  const bool hasReplicas;
  const std::uint32_t copies, depth;  // of the model; stages of one
  const bool runsEarly;               // the optimizer, ahead of the verdict on its gradients
  std::vector<std::uint32_t> chunkOf; // by stage: index in its rank's stage table
  std::vector<std::uint32_t> referenceChunkOf;      // likewise, of the reference model
  std::vector<std::vector<LocalStage>> localStages; // by rank of a replica
  std::uint32_t nextLoop = 1;                       // global id; 0 is the loop over steps
};

// Each copy of the model needs a microbatch, and be it an empty one: its gradients are read.
std::vector<std::uint32_t> withWorkForEach(int copies, std::vector<std::uint32_t> family) {
  for (std::uint32_t &microbatches : family)
    microbatches = std::max(microbatches, static_cast<std::uint32_t>(copies));
  family.erase(std::unique(family.begin(), family.end()), family.end());
  return family;
}

} // namespace

std::uint32_t windowOf(const Job &job, const Schedule &order) {
  if (!job.actor.shard.value)
    return 0;
  constexpr std::uint32_t kTorchWindow = 3;
  const std::uint32_t usual =
      ruleOf(job) == ResidencyRule::Torch ? kTorchWindow : mostStages(order);
  const std::uint32_t stated = job.memory.unsharded.value;
  return std::min(stated != 0 ? stated : usual, mostStages(order));
}

std::optional<Plan> lowerCommunication(const Job &job, const Schedule &order,
                                       const std::vector<std::uint32_t> &family,
                                       Findings &findings) {
  const std::optional<std::vector<StepMember>> members =
      membersOf(order, stepMicrobatches(job), withWorkForEach(order.copies, family), isPacked(job),
                receiveSlotsOf(job), keepsAll(job, order));
  if (!members) {
    findings.error(Rule::S2, 1, "order `" + job.pipeline.schedule.value + "` can never finish")
        .at(job.pipeline.schedule.span, "some task waits for one that stands behind it");
    return std::nullopt;
  }
  Plan plan;
  plan.schedule = job.pipeline.schedule.value;
  plan.data.slices = static_cast<std::uint32_t>(order.slices);
  const Order *named = findOrder(plan.schedule);
  if (namesTable(plan.schedule) || (named && !named->ascending))
    plan.gradientOrder = GradientOrder::Scheduled;
  plan.mesh = {.pipeline = job.actor.pipeline.value,
               .data = job.actor.data.value,
               .engines = job.rolloutRole.ranks.value};
  if (hasRounds(job))
    plan.round = roundSettings(job, {});
  const Job::NamedModel &model = *job.model(job.actor.model.value);
  ModelConfig config = model.config;
  config.recomputesLayers = job.memory.recompute.value == "layer";
  config.kernels = job.cluster.kernels.value == nameOf(KernelLibrary::LibTorch)
                       ? KernelLibrary::LibTorch
                       : KernelLibrary::Native;
  plan.models = {{.config = config,
                  .stages = splitStages(job, static_cast<std::uint32_t>(order.placement.size()),
                                        static_cast<std::uint32_t>(order.copies)),
                  .checkpoint = model.checkpoint.value,
                  .moduleFile = model.module.value,
                  .sharded = job.actor.shard.value}};
  if (!job.reference.model.value.empty()) {
    plan.models.push_back(plan.models.front());
    plan.models.back().checkpoint = job.model(job.reference.model.value)->checkpoint.value;
  }
  TrainingLoop(job, order, plan).write(*members);
  // Of a step whose transfers are free, whatever its receives are ready for.
  const ReceiveSlots slots = receiveSlotsOf(job);
  const bool hasLeads = std::any_of(slots.byRank.begin(), slots.byRank.end(),
                                    [](int count) { return count > kUsualSlots; });
  const auto free = hasLeads
                        ? membersOf(order, stepMicrobatches(job), {stepMicrobatches(job)}, false)
                        : std::nullopt;
  const PipelineClock &clock = (free ? *free : *members).back().folded.clock;
  plan.predictions = {.stepUnits = static_cast<double>(clock.makespan),
                      .bubble = clock.bubble,
                      .peakLive = static_cast<std::uint32_t>(clock.peakLive)};
  return plan;
}

} // namespace vime
