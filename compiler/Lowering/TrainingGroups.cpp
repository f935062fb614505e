#include "compiler/Lowering/TrainingGroups.h"

#include "compiler/Frontend/Microbatch.h"
#include "compiler/Lowering/RankBuffers.h"
#include "kernels/SquareNumbers.h"
#include "kernels/SumType.h"
#include "runtime/ModelSpec/Copies.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/RolloutRecords.h"
#include "runtime/Plan/StepHeader.h"

namespace vime {

using namespace plan;

namespace {

// All slots of a ring whose slots start at multiples of the alignment: what a whole-buffer message
// moves.
std::uint32_t extent(std::uint32_t slots, std::uint64_t bytes) {
  return static_cast<std::uint32_t>(aligned(bytes) * (slots - 1) + bytes);
}

// Along the replicas, whose ranks with the same stages meet.
void addReplicaGroups(const Message &header, Message stats, Plan &plan) {
  const Model &model = plan.models[0];
  stats.fixed *= plan.mesh.pipeline;
  const std::uint8_t axes = bitOf(Axis::Data);
  plan.groups.insert(plan.groups.end(), {{.name = "decision",
                                          .flow = Flow::Control,
                                          .operation = Collective::Broadcast,
                                          .axes = axes,
                                          .message = header},
                                         {.name = "gradients",
                                          .flow = Flow::Backward,
                                          .operation = model.sharded ? Collective::ReduceScatter
                                                                     : Collective::AllReduce,
                                          .axes = axes,
                                          .message = {.type = sumTypeOf(model.config.type)}},
                                         {.name = "all stats",
                                          .flow = Flow::Metrics,
                                          .operation = Collective::Gather,
                                          .axes = axes,
                                          .message = stats}});
  if (model.sharded)
    plan.groups.insert(plan.groups.end(), {{.name = "weights",
                                            .flow = Flow::Weights,
                                            .operation = Collective::Unshard,
                                            .axes = axes,
                                            .message = {.type = model.config.type}},
                                           {.name = "share squares",
                                            .flow = Flow::Metrics,
                                            .operation = Collective::ReduceSquares,
                                            .axes = axes,
                                            .message = {.type = DataType::Float64}}});
}

} // namespace

StepMessages messagesOf(const Job &job, const Plan &plan) {
  const Model &model = plan.models[0];
  const MicrobatchCaps caps = capsOf(job);
  const auto microbatches = mostMicrobatches(job);
  const std::size_t ofLoss = hasRounds(plan) ? sizeof(PolicyNumbers) : sizeof(double);
  return {.boundary = {.type = model.config.type,
                       .perToken =
                           stageSpec(model.config, model.stages[0], caps).boundaryBytesPerToken},
          .header = {.type = DataType::Byte,
                     .fixed = static_cast<std::uint32_t>(StepHeader::bytes(microbatches))},
          .samples = {.type = DataType::Int32, .fixed = extent(microbatches, caps.tokens * 4ull)},
          .segments = {.type = DataType::Int32,
                       .fixed = extent(microbatches, (caps.segments + 1) * 4ull)},
          .policy = {.type = DataType::Float64,
                     .fixed = extent(microbatches, policyRegion(caps.tokens, caps.segments).bytes)},
          .losses = {.type = DataType::Float64, .fixed = extent(microbatches, ofLoss)}};
}

void addTrainingGroups(const StepMessages &messages, std::uint32_t stages, Plan &plan) {
  const Model &model = plan.models[0];
  const Message squares{.type = DataType::Float64,
                        .fixed =
                            static_cast<std::uint32_t>(sizeof(double) * kSquareNumbers * stages)};
  const Message stats{.type = DataType::Byte,
                      .fixed = static_cast<std::uint32_t>(statsBytes(plan))};
  plan.groups = {
      {.name = "step",
       .flow = Flow::Control,
       .operation = Collective::Broadcast,
       .message = messages.header},
      {.name = "segments",
       .flow = Flow::Data,
       .operation = Collective::Broadcast,
       .message = messages.segments},
      {.name = "norm",
       .flow = Flow::Metrics,
       .operation = Collective::AllGather,
       .message = squares},
      {.name = "stats", .flow = Flow::Metrics, .operation = Collective::Gather, .message = stats},
  };
  if (plan.mesh.data > 1)
    addReplicaGroups(messages.header, stats, plan);
  if (copiesOf(model.stages) > 1)
    plan.groups.push_back({.name = "copies",
                           .flow = Flow::Backward,
                           .operation = Collective::AllReduce,
                           .axes = bitOf(Axis::Mirror),
                           .message = {.type = sumTypeOf(model.config.type)}});
}

} // namespace vime
