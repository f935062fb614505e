#include "compiler/Lowering/RankBuffers.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "compiler/Lowering/OperandKinds.h"
#include "compiler/Lowering/TrainingGroups.h"
#include "runtime/ModelSpec/Copies.h"
#include "runtime/ModelSpec/PolicyWorkspace.h"
#include "runtime/ModelSpec/StageShare.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Kept.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/RolloutRecords.h"
#include "runtime/Plan/Snapshot.h"
#include "runtime/Plan/StepHeader.h"

namespace vime {

using namespace plan;

namespace {

constexpr std::uint16_t kWholeRank = kNoStage;

// What comes from another replica or copy of the model lies here while it is added, half by half.
constexpr std::uint64_t kMostStaging = 1 << 20;

class RankBuffers {
public:
  RankBuffers(const Plan &plan, std::uint32_t rank, Program &program, Layout &layout,
              const MicrobatchCaps &caps, std::uint32_t microbatches)
      : plan(plan), rank(rank), program(program), layout(layout), model(plan.models[0]), caps(caps),
        microbatches(microbatches), copies(copiesOf(model.stages)),
        splits(program.stages.size(), false), combines(program.stages.size(), false),
        saves(program.stages.size(), false), slotOf(program.stages.size(), 0) {
    for (const LocalStage &local : program.stages) {
      const Model &of = plan.models[local.model];
      specs.push_back(stageSpec(of.config, of.stages[local.stage], caps));
    }
    for (const Action &action : program.actions) {
      if (action.opcode == code(Opcode::BackwardWeight))
        splits[action.stage] = true;
      if (action.opcode == code(Opcode::Backward))
        combines[action.stage] = true;
      if (action.opcode == code(Opcode::Snapshot))
        saves[action.stage] = true;
      if (action.opcode == code(Opcode::Unshard))
        places.insert({action.stage, action.immediate});
    }
  }

  void make() {
    if (plan.mesh.isEngine(rank)) {
      makeEngineBuffers();
    } else {
      makeRankBuffers();
      for (std::uint16_t chunk = 0; chunk < program.stages.size(); ++chunk)
        makeStageBuffers(chunk);
      makeWorkspace();
    }
    giveOperands();
  }

  std::vector<std::uint32_t> sameBytes() const {
    std::vector<std::uint32_t> same(layout.buffers.size());
    std::iota(same.begin(), same.end(), 0u);
    for (const WholeWeights &one : weightsIn)
      same[one.buffer] = firstIn.at(one.slot);
    return same;
  }

private:
  // ---- buffers -----------------------------------------------------------------------------------------------------

  void add(BufferKind kind, std::uint16_t chunk, std::uint64_t bytes, std::uint32_t count = 1,
           Tier tier = Tier::Device) {
    layout.buffers.push_back({.kind = kind,
                              .tier = tier,
                              .stage = chunk,
                              .count = count,
                              .bytes = bytes,
                              .stride = aligned(bytes)});
  }

  // Whole weights of a sharded stage, where some other one is whole at another time.
  void addWeights(std::uint16_t chunk, std::uint16_t slot, std::uint64_t bytes) {
    add(BufferKind::Weights, chunk, bytes);
    const auto index = static_cast<std::uint32_t>(layout.buffers.size() - 1);
    firstIn.emplace(slot, index);
    weightsIn.push_back({chunk, slot, index});
  }

  std::uint16_t chunkOf(LocalStage wanted) const {
    for (std::uint16_t chunk = 0; chunk < program.stages.size(); ++chunk)
      if (program.stages[chunk] == wanted)
        return chunk;
    return kWholeRank;
  }
  const StageRange &rangeOf(std::uint16_t chunk) const {
    const auto &[of, stage] = program.stages[chunk];
    return plan.models[of].stages[stage];
  }
  std::uint16_t neighbourOf(std::uint16_t chunk, int distance) const {
    LocalStage wanted = program.stages[chunk];
    wanted.stage += static_cast<std::uint32_t>(distance);
    return chunkOf(wanted);
  }

  // The chunk on the same rank that the next stage, or the one before, is; a copy of the model ends
  // at its head.
  std::uint16_t nextOf(std::uint16_t chunk) const {
    return rangeOf(chunk).head ? kWholeRank : neighbourOf(chunk, 1);
  }
  std::uint16_t previousOf(std::uint16_t chunk) const {
    return rangeOf(chunk).embedding ? kWholeRank : neighbourOf(chunk, -1);
  }

  // The chunk that has the embedding, or the head, of one of the copies of the model.
  std::uint16_t embedding() const { return chunkWith(&StageRange::embedding); }
  std::uint16_t head() const { return chunkWith(&StageRange::head); }
  std::uint16_t chunkWith(bool StageRange::*end) const {
    for (std::uint16_t chunk = 0; chunk < program.stages.size(); ++chunk)
      if (rangeOf(chunk).*end)
        return chunk;
    return kWholeRank;
  }

  // The first rank of a replica: reads its samples, gathers its counters.
  bool leadsReplica() const { return rank % plan.mesh.pipeline == 0; }
  // Whether it adds up losses: those of all, or, where nobody sends them, its own.
  bool countsLosses() const {
    return copies > 1 || isPostValidated(plan) ? head() != kWholeRank : leadsReplica();
  }

  bool evaluates() const { return !valuesOf(plan, Decision::Evaluate).empty(); }

  void makeRankBuffers() {
    const bool coordinates = leadsReplica();
    add(BufferKind::Header, kWholeRank, StepHeader::bytes(microbatches));
    add(BufferKind::Segments, kWholeRank, (caps.segments + 1) * 4ull, microbatches);
    if (coordinates || embedding() != kWholeRank)
      add(BufferKind::Tokens, kWholeRank, caps.tokens * 4ull, microbatches);
    if (coordinates || head() != kWholeRank)
      add(BufferKind::Labels, kWholeRank, caps.tokens * 4ull, microbatches);
    if (countsLosses() || head() != kWholeRank || (coordinates && evaluates()))
      add(BufferKind::Losses, kWholeRank, hasRounds(plan) ? sizeof(PolicyNumbers) : sizeof(double),
          microbatches);
    if (hasRounds(plan))
      makeRoundBuffers();
    const std::uint64_t contribution = plan.groups[kNormGroup].message.fixed;
    add(BufferKind::Scalars, kWholeRank, sizeof(StepScalars));
    add(BufferKind::Squares, kWholeRank, contribution);
    add(BufferKind::AllSquares, kWholeRank, contribution * plan.mesh.pipeline);
    add(BufferKind::Stats, kWholeRank, statsBytes(plan));
    if (coordinates)
      add(replicaStats(plan.mesh), kWholeRank, statsBytes(plan) * plan.mesh.pipeline);
    if (rank == 0 && plan.mesh.data > 1)
      add(BufferKind::AllStats, kWholeRank, statsBytes(plan) * plan.mesh.trainers());
    if (plan.mesh.data > 1 || copies > 1)
      makeStaging();
  }

  // What comes from engines, and what becomes of it on the way to the last stage.
  void makeRoundBuffers() {
    if (leadsReplica())
      add(BufferKind::Round, kWholeRank, roundBytes(plan.round));
    if (rank == 0) {
      add(BufferKind::Prompts, kWholeRank, promptsBytes(plan.round));
      add(BufferKind::Samples, kWholeRank, samplesBytes(plan.round));
      add(BufferKind::AllSamples, kWholeRank, samplesBytes(plan.round) * (plan.mesh.engines + 1));
    }
    if (leadsReplica() || head() != kWholeRank)
      add(BufferKind::Policy, kWholeRank, policyRegion(caps.tokens, caps.segments).bytes,
          microbatches);
    if (hasReference(plan) && head() != kWholeRank)
      add(BufferKind::Reference, kWholeRank, caps.tokens * sizeof(double), microbatches);
  }

  // An engine has every stage, each as the rank has it that trains it.
  void makeEngineBuffers() {
    const EngineRegions regions = engineRegions(model.config, capsOf(plan.round.rollout));
    add(BufferKind::Header, kWholeRank, StepHeader::bytes(microbatches));
    add(BufferKind::Prompts, kWholeRank, promptsBytes(plan.round));
    add(BufferKind::Samples, kWholeRank, samplesBytes(plan.round));
    for (std::uint16_t chunk = 0; chunk < program.stages.size(); ++chunk)
      add(BufferKind::Weights, chunk,
          regionsOf(specs[chunk], model.config.type, /*sharers=*/1).weightBytes);
    add(BufferKind::Records, kWholeRank, regions.recordBytes);
    add(BufferKind::Cache, kWholeRank, regions.cacheBytes);
    add(BufferKind::Workspace, kWholeRank, regions.workspaceBytes);
  }

  void makeStaging() {
    std::uint64_t largest = 0;
    for (const StageSpec &spec : specs)
      largest = std::max(largest, spec.gradientBytes);
    add(BufferKind::Staging, kWholeRank, std::min(aligned(2 * largest), kMostStaging));
  }

  // Ring counts follow from the uses (sizeRings).
  void makeStageBuffers(std::uint16_t chunk) {
    const StageSpec &spec = specs[chunk];
    const bool isFirst = spec.range.embedding, isLast = spec.range.head;
    const std::uint64_t boundary =
        static_cast<std::uint64_t>(spec.boundaryBytesPerToken) * caps.tokens;
    const ParameterRegions regions = regionsOf(spec, model.config.type, sharersOf(plan, model));
    if (!model.sharded)
      add(BufferKind::Weights, chunk, regions.weightBytes);
    for (const auto &[stage, slot] : places)
      if (stage == chunk)
        addWeights(chunk, slot, regions.weightBytes);
    const bool trains = isTrained(program.stages[chunk]);
    if (trains) {
      add(BufferKind::Gradients, chunk, regions.gradientBytes);
      add(BufferKind::Moments, chunk, regions.momentBytes);
    }
    if (model.sharded)
      add(BufferKind::WeightShare, chunk, regions.weightShareBytes);
    if (!isFirst) {
      add(BufferKind::Input, chunk, boundary);
      if (trains && previousOf(chunk) == kWholeRank)
        add(BufferKind::InputGradient, chunk, boundary);
    }
    if (!isLast) {
      if (trains)
        add(BufferKind::OutputGradient, chunk, boundary);
      if (nextOf(chunk) == kWholeRank)
        add(BufferKind::Output, chunk, boundary);
    }
    if (isLast && spec.tiedWeightBytes != 0 && embedding() == kWholeRank)
      add(BufferKind::TiedWeights, chunk, spec.tiedWeightBytes);
    if (spec.tiedGradientBytes != 0 && (isLast || head() == kWholeRank))
      add(BufferKind::TiedGradients, chunk, spec.tiedGradientBytes);
    add(BufferKind::Stash, chunk, spec.stashBytes);
    if (caps.slices > 1) {
      add(BufferKind::Context, chunk, spec.contextBytes);
      add(BufferKind::ContextGradients, chunk, spec.contextGradientBytes);
    }
    if (splits[chunk])
      add(BufferKind::WeightStash, chunk, spec.weightStashBytes);
    if (isPostValidated(plan))
      add(BufferKind::Kept, chunk, keptBytes(spec));
    if (saves[chunk])
      add(BufferKind::Snapshot, chunk, snapshotBytes(spec), /*count=*/1, Tier::Host);
  }

  void makeWorkspace() {
    std::uint64_t bytes = 0;
    for (std::uint16_t chunk = 0; chunk < specs.size(); ++chunk) {
      const StageSpec &spec = specs[chunk];
      bytes = std::max(bytes, spec.forwardWorkspace);
      if (splits[chunk])
        bytes = std::max({bytes, spec.backwardInputWorkspace, spec.backwardWeightWorkspace});
      if (combines[chunk])
        bytes = std::max(bytes, spec.backwardWorkspace);
    }
    if (hasRounds(plan) && head() != kWholeRank)
      bytes = std::max(bytes, policyWorkspace(model.config, caps));
    add(BufferKind::Workspace, kWholeRank, bytes);
  }

  // ---- operands ----------------------------------------------------------------------------------------------------

  std::uint32_t find(BufferKind kind, std::uint16_t chunk) const {
    for (std::uint32_t index = 0; index < layout.buffers.size(); ++index)
      if (layout.buffers[index].kind == kind && layout.buffers[index].stage == chunk)
        return index;
    return kNoBuffer;
  }
  std::uint32_t find(BufferKind kind) const { return find(kind, kWholeRank); }

  // What the stage's forward writes: its own send ring, or at once the input of a next stage on the
  // same rank.
  std::uint32_t outputOf(std::uint16_t chunk) const {
    const std::uint16_t next = nextOf(chunk);
    return next == kWholeRank ? find(BufferKind::Output, chunk) : find(BufferKind::Input, next);
  }
  std::uint32_t inputGradientOf(std::uint16_t chunk) const {
    const std::uint16_t previous = previousOf(chunk);
    return previous == kWholeRank ? find(BufferKind::InputGradient, chunk)
                                  : find(BufferKind::OutputGradient, previous);
  }
  std::uint32_t inputOf(std::uint16_t chunk) const {
    return rangeOf(chunk).embedding ? find(BufferKind::Tokens) : find(BufferKind::Input, chunk);
  }

  // The buffer that a transfer's end on this rank reads or writes.
  std::uint32_t contentOf(const Action &action, bool sends) const {
    const auto content = static_cast<BufferKind>(action.immediate);
    if (content == BufferKind::Input)
      return sends ? find(BufferKind::Output, action.stage) : find(BufferKind::Input, action.stage);
    if (content == BufferKind::OutputGradient)
      return sends ? find(BufferKind::InputGradient, action.stage)
                   : find(BufferKind::OutputGradient, action.stage);
    if (content == BufferKind::TiedWeights)
      return find(sends ? BufferKind::Weights : BufferKind::TiedWeights, action.stage);
    if (content == BufferKind::TiedGradients)
      return find(BufferKind::TiedGradients, action.stage);
    return find(content);
  }

  // What the head of a tied model computes with: the embedding on its own rank, else its copy.
  std::uint32_t tiedWeightsOf(std::uint16_t chunk) const {
    if (!rangeOf(chunk).head || specs[chunk].tiedWeightBytes == 0)
      return kNoBuffer;
    return embedding() != kWholeRank ? find(BufferKind::Weights, embedding())
                                     : find(BufferKind::TiedWeights, chunk);
  }
  // The head's sum; the embedding's stage adds it where it lies, or where it arrives.
  std::uint32_t tiedGradientsOf(const Action &action) const {
    const bool adds = action.opcode == code(Opcode::AddTied);
    if (specs[action.stage].tiedGradientBytes == 0 || (!adds && !rangeOf(action.stage).head))
      return kNoBuffer;
    return find(BufferKind::TiedGradients, adds && head() != kWholeRank ? head() : action.stage);
  }

  // Where the stage is whole at the moment.
  std::uint32_t weightsOf(std::uint16_t chunk) const {
    if (!model.sharded)
      return find(BufferKind::Weights, chunk);
    const auto found = std::find_if(weightsIn.begin(), weightsIn.end(), [&](const auto &one) {
      return one.chunk == chunk && one.slot == slotOf[chunk];
    });
    return found == weightsIn.end() ? kNoBuffer : found->buffer;
  }

  // Stages name their own buffers; what the whole rank has one of needs no chunk.
  std::uint32_t resolve(BufferKind kind, std::uint16_t chunk) const {
    switch (kind) {
    case BufferKind::Weights:
      return weightsOf(chunk);
    case BufferKind::Input:
      return inputOf(chunk);
    case BufferKind::Output:
      return outputOf(chunk);
    case BufferKind::InputGradient:
      return inputGradientOf(chunk);
    case BufferKind::ReplicaStats:
      return find(replicaStats(plan.mesh));
    default:
      const std::uint32_t own = find(kind, chunk);
      return own == kNoBuffer ? find(kind) : own;
    }
  }

  BufferKind sentBy(const Group &group) const {
    if (group.flow == Flow::Control)
      return BufferKind::Header;
    return !group.members.empty()                ? BufferKind::Prompts
           : group.axes == bitOf(Axis::Pipeline) ? BufferKind::Segments
                                                 : BufferKind::Round;
  }

  std::vector<std::uint32_t> operandsOf(const Action &action) const {
    const auto opcode = static_cast<Opcode>(action.opcode);
    if (opcode == Opcode::Send || opcode == Opcode::Receive)
      return {contentOf(action, opcode == Opcode::Send)};
    const std::uint32_t group = program.lanes[action.lane].group;
    if (opcode == Opcode::Broadcast)
      return {find(sentBy(plan.groups[group]))};
    if (opcode == Opcode::Gather && !plan.groups[group].members.empty())
      return {find(BufferKind::Samples), find(BufferKind::AllSamples)};
    if (opcode == Opcode::Gather && group == kAllStatsGroup)
      return {find(BufferKind::ReplicaStats), find(BufferKind::AllStats)};
    if (opcode == Opcode::Gather)
      return {find(BufferKind::Stats), find(replicaStats(plan.mesh))};
    std::vector<std::uint32_t> operands;
    const bool keeps = opcode == Opcode::Initialize || opcode == Opcode::Optimize;
    for (const BufferKind kind : operandKinds(opcode))
      operands.push_back(keeps && model.sharded && kind == BufferKind::Weights
                             ? find(BufferKind::WeightShare, action.stage)
                         : kind == BufferKind::TiedWeights   ? tiedWeightsOf(action.stage)
                         : kind == BufferKind::TiedGradients ? tiedGradientsOf(action)
                                                             : resolve(kind, action.stage));
    if (opcode == Opcode::Initialize && !model.sharded)
      operands.back() = kNoBuffer; // first values are made where they stay
    if (opcode == Opcode::Measure && !countsLosses())
      operands[1] = kNoBuffer; // it has losses to send, not to count
    return operands;
  }

  // Actions that differ in nothing but the microbatch share one list in the pool.
  void giveOperands() {
    struct Known {
      std::uint64_t key;
      std::uint32_t first;
      std::uint16_t count;
    };
    std::vector<Known> lists;
    for (Action &action : program.actions) {
      const bool moves =
          action.opcode == code(Opcode::Unshard) || action.opcode == code(Opcode::Reshard);
      if (moves)
        slotOf[action.stage] = action.immediate;
      const std::uint64_t slot = action.stage < slotOf.size() ? slotOf[action.stage] : 0;
      const bool names =
          action.opcode == code(Opcode::Send) || action.opcode == code(Opcode::Receive);
      const std::uint64_t key =
          (std::uint64_t{action.opcode} << 48) | (std::uint64_t{action.lane} << 40) | (slot << 32) |
          (std::uint64_t{action.stage} << 16) | (names ? action.immediate : 0u);
      auto known = std::find_if(lists.begin(), lists.end(),
                                [&](const Known &list) { return list.key == key; });
      if (known == lists.end()) {
        const std::vector<std::uint32_t> operands = operandsOf(action);
        lists.push_back({key, static_cast<std::uint32_t>(program.operands.size()),
                         static_cast<std::uint16_t>(operands.size())});
        program.operands.insert(program.operands.end(), operands.begin(), operands.end());
        known = lists.end() - 1;
      }
      action.operands = known->first;
      action.operandCount = known->count;
      if (names) // the buffer says it from now on
        action.stage = action.immediate = 0;
      if (moves)
        action.immediate = 0; // likewise
    }
  }

  const Plan &plan;
  const std::uint32_t rank;
  Program &program;
  Layout &layout;
  const Model &model;
  const MicrobatchCaps caps;
  const std::uint32_t microbatches, copies; // copies: of the model
  // By chunk: runs input and weight gradients apart, or together; is saved.
  std::vector<bool> splits, combines, saves;
  std::vector<StageSpec> specs; // by chunk
  // Where replicas share the model: stages and the slots in which they are whole at some time, the
  // buffers for that, the first one in each slot, and by chunk the present slot.
  std::set<std::pair<std::uint16_t, std::uint16_t>> places;
  struct WholeWeights {
    std::uint16_t chunk, slot;
    std::uint32_t buffer;
  };
  std::vector<WholeWeights> weightsIn;
  std::map<std::uint16_t, std::uint32_t> firstIn;
  std::vector<std::uint16_t> slotOf;
};

} // namespace

RankLayoutDraft makeRankBuffers(Plan &plan, std::uint32_t program, std::uint32_t rank,
                                const MicrobatchCaps &caps, std::uint32_t microbatches) {
  RankLayoutDraft draft;
  RankBuffers buffers(plan, rank, plan.programs[program], draft.layout, caps, microbatches);
  buffers.make();
  draft.sameBytes = buffers.sameBytes();
  return draft;
}

} // namespace vime
