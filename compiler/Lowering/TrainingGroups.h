// TrainingGroups: what ranks that train tell each other in a step, and who meets for it.
//
//   const StepMessages messages = messagesOf(job, plan);
//   addTrainingGroups(messages, stages, plan);
//   programs.collective(Opcode::AllGather, kNormGroup, first);
//   programs.transfer({first}, {last}, Flow::Data, messages.samples, BufferKind::Labels);
#pragma once

#include "compiler/Frontend/Job.h"
#include "runtime/Plan/Plan.h"

namespace vime {

/// Places in Plan::groups of a training plan; those from `decision` on only with several replicas.
enum TrainingGroup : std::uint32_t {
  kStepGroup,
  kSegmentsGroup,
  kNormGroup,
  kStatsGroup,
  kDecisionGroup,
  kGradientsGroup,
  kAllStatsGroup,
  kWeightsGroup, // where replicas share the model
  kShareSquaresGroup
};

/// Where there are two copies of the model: the group that adds up their gradients, the last one.
constexpr std::uint32_t copiesGroup(const plan::Mesh &mesh) {
  return mesh.data > 1 ? kAllStatsGroup + 1 : kStatsGroup + 1;
}

/// For the most microbatches that a step may have.
struct StepMessages {
  plan::Message boundary; // activations of a microbatch, or their gradients
  plan::Message header, samples, segments, policy, losses; // whole buffers
};
/// The plan's mesh, models and settings of rounds are known.
StepMessages messagesOf(const Job &job, const plan::Plan &plan);

/// Appends the groups to the plan. `stages`: the most that a rank trains.
void addTrainingGroups(const StepMessages &messages, std::uint32_t stages, plan::Plan &plan);

} // namespace vime
