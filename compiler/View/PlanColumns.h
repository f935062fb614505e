// PlanColumns: what each line of a plan's text form says, in which order. The writer and the reader
// visit the same columns, so that a field that is added here is printed and read back.
//
//   visit("steps", run.steps)                    ` steps 3`
//   visit.optional("step", action.step, shown)   the same where `shown`, else nothing
//   visit.value(lane.kind)                       ` compute`
//   visit.flag("head", range.head)               ` head` if it is set
//   visit.bits("axes", group.axes, axisName, …)  ` axes pp,dp`
//   visit.opcode(action.opcode)                  ` forward`
//   visit.finds("type", shown)                   whether columns that start with `type` come
//
// Grammar: compiler/docs/plan-format.md, "As text". Included by PlanText.cpp and
// PlanTextReader.cpp.
#pragma once

#include <concepts>
#include <type_traits>

#include "runtime/Plan/Names.h"
#include "runtime/Plan/Plan.h"
#include "runtime/Plan/RoundFields.h"

namespace vime {

/// A record to print, or one to fill.
template <typename Record, typename T>
concept Of = std::same_as<std::remove_const_t<Record>, T>;

inline std::string_view axisName(std::size_t bit) {
  const auto names = plan::namesOf<plan::Axis>();
  return bit < names.size() ? names[bit] : "?";
}

void columns(Of<plan::Mesh> auto &mesh, auto &visit) {
  visit("pp", mesh.pipeline);
  visit("dp", mesh.data);
  visit("cp", mesh.context);
  visit("tp", mesh.tensor);
  visit.optional("engines", mesh.engines, mesh.engines != 0);
}

void columns(Of<plan::RunSettings> auto &run, auto &visit) {
  visit("name", run.name);
  visit("steps", run.steps);
  visit("seed", run.seed);
  visit("export_to", run.exportTo);
}

void columns(Of<plan::DataSettings> auto &data, auto &visit) {
  visit("text", data.text);
  visit("text_bytes", data.textBytes);
  visit("text_hash", data.textHash);
  visit("sequence", data.sequence);
  visit("samples", data.samples);
  visit("tokens", data.tokens);
  visit("microbatches", data.microbatches);
  visit.optional("slices", data.slices, data.slices != 1);
  visit("batch", data.batch);
  visit("split", data.split);
  visit("tail", data.tail);
}

void columns(Of<plan::EvaluationSettings> auto &held, auto &visit) {
  visit("text", held.text);
  visit("text_bytes", held.textBytes);
  visit("text_hash", held.textHash);
  visit("every", held.every);
  visit("batch", held.batch);
  visit("microbatches", held.microbatches);
  visit("patience", held.patience);
  visit("target", held.target);
}

void columns(Of<plan::RoundSettings> auto &round, auto &visit) { plan::visitRound(round, visit); }

void columns(Of<plan::OptimizerSettings> auto &optimizer, auto &visit) {
  visit("learning_rate", optimizer.learningRate);
  visit("beta1", optimizer.beta1);
  visit("beta2", optimizer.beta2);
  visit("epsilon", optimizer.epsilon);
  visit("weight_decay", optimizer.weightDecay);
  visit("clip", optimizer.clip);
  visit("warmup", optimizer.warmup);
  visit("decay", optimizer.decay);
  visit("floor", optimizer.floor);
}

void columns(Of<plan::CheckpointSettings> auto &checkpoint, auto &visit) {
  visit("directory", checkpoint.directory);
  visit("every", checkpoint.every);
  visit("keep", checkpoint.keep);
}

void columns(Of<plan::Limits> auto &limits, auto &visit) {
  visit("connect_seconds", limits.connectSeconds);
  visit("transfer_seconds", limits.transferSeconds);
  visit("memory_bytes", limits.memoryBytes);
}

void columns(Of<plan::Predictions> auto &predictions, auto &visit) {
  visit("step_units", predictions.stepUnits);
  visit("bubble", predictions.bubble);
  visit("peak_live", predictions.peakLive);
  visit.optional("costs", predictions.costs, !predictions.costs.empty());
  visit.optional("step_seconds", predictions.stepSeconds, predictions.stepSeconds != 0);
  visit.optional("expected_bubble", predictions.expectedBubble, predictions.expectedBubble != 0);
}

void columns(Of<ModelConfig> auto &config, auto &visit) {
  visit("family", config.family);
  visit("type", config.type);
  visit("layers", config.layers);
  visit("hidden", config.hidden);
  visit("heads", config.heads);
  visit("kv_heads", config.kvHeads);
  visit("head_width", config.headWidth);
  visit("ffn", config.ffn);
  visit("vocab", config.vocab);
  visit("rope_theta", config.ropeTheta);
  visit("norm_epsilon", config.normEpsilon);
  visit("tied_head", config.tiedHead);
  visit("recomputes_layers", config.recomputesLayers);
  visit("kernels", config.kernels);
  visit("forward_seconds", config.forwardSeconds);
  visit("backward_input_seconds", config.backwardInputSeconds);
  visit("backward_weight_seconds", config.backwardWeightSeconds);
  visit.optional("embedding_elements", config.embeddingElements, config.embeddingElements != 0);
  visit.optional("layer_elements", config.layerElements, config.layerElements != 0);
  visit.optional("head_elements", config.headElements, config.headElements != 0);
  visit.optional("task_bytes", config.taskBytes, config.taskBytes != 0);
}

void columns(Of<StageRange> auto &range, auto &visit) {
  visit("layers", range.first);
  visit("to", range.end);
  visit.flag("embedding", range.embedding);
  visit.flag("head", range.head);
}

void columns(Of<plan::Message> auto &message, auto &visit) {
  visit("type", message.type);
  visit("fixed", message.fixed);
  visit("per_token", message.perToken);
}

void columns(Of<plan::Group> auto &group, auto &visit) {
  visit("name", group.name);
  visit("flow", group.flow);
  visit("operation", group.operation);
  visit.bits("axes", group.axes, axisName, true);
  visit("root", group.root);
  columns(group.message, visit);
  visit.optional("members", group.members, !group.members.empty());
}

void columns(Of<plan::DecisionRange> auto &range, auto &visit) {
  visit.value(range.decision);
  visit("values", range.values);
}

void columns(Of<plan::Condition> auto &condition, auto &visit) {
  visit.value(condition.decision);
  visit.value(condition.comparison);
  visit.value(condition.value);
}

void columns(Of<plan::Origin> auto &origin, auto &visit) {
  visit.opcode(origin.opcode);
  visit("line", origin.line);
  visit("column", origin.column);
  visit("length", origin.length);
  visit("key", origin.key);
}

/// What a lane of its kind does not use is left out unless it is there all the same.
void columns(Of<plan::Lane> auto &lane, auto &visit) {
  const plan::Lane unset;
  visit.value(lane.kind);
  const bool isGroup = lane.kind == plan::LaneKind::Group;
  const bool transfers = lane.kind == plan::LaneKind::Send || lane.kind == plan::LaneKind::Receive;
  if (isGroup)
    visit.value(lane.group);
  visit.optional("flow", lane.flow, transfers || lane.flow != unset.flow);
  visit.optional("peer", lane.peer, transfers || lane.peer != unset.peer);
  if (visit.finds("type", transfers || lane.message != unset.message))
    columns(lane.message, visit);
  visit.optional("slots", lane.slots, transfers || lane.slots != unset.slots);
  visit.optional("group", lane.group, !isGroup && lane.group != unset.group);
}

void columns(Of<plan::LocalStage> auto &stage, auto &visit) {
  visit("is", stage.stage);
  visit.word("of");
  visit("model", stage.model);
}

void columns(Of<plan::Loop> auto &loop, auto &visit) {
  visit.value(loop.id);
  visit("begin", loop.begin);
  visit("end", loop.end);
  visit("trips", loop.trips);
  visit("start", loop.start);
  visit("period", loop.period);
  visit.optional("until", loop.until, loop.until != 0);
  visit.optional("per_trip", loop.perTrip, loop.perTrip != 0);
}

void columns(Of<plan::Case> auto &one, auto &visit) {
  visit("begin", one.begin);
  visit("end", one.end);
  visit("condition", one.condition);
}

/// Waits and operands stand behind them.
void columns(Of<plan::Action> auto &action, auto &visit) {
  visit.opcode(action.opcode);
  const plan::Signature *signature = plan::findSignature(action.opcode);
  visit("lane", action.lane);
  visit("time", action.time);
  visit.optional("stage", action.stage, action.stage != 0 || (signature && signature->perStage));
  visit.optional("microbatch", action.microbatch,
                 action.microbatch != 0 || (signature && signature->perMicrobatch));
  visit.optional("step", action.step, action.step != 0);
  visit.optional("guard", action.guard, action.guard != 0);
  visit.optional("immediate", action.immediate, action.immediate != 0);
  visit.bits("flags", action.flags, plan::flagName, action.flags != 0);
}

void columns(Of<plan::Buffer> auto &buffer, auto &visit) {
  visit.value(buffer.kind);
  visit("tier", buffer.tier);
  visit.optional("stage", buffer.stage, buffer.stage != plan::kNoStage);
  visit("count", buffer.count);
  visit("bytes", buffer.bytes);
  visit("stride", buffer.stride);
  visit("offset", buffer.offset);
}

} // namespace vime
