// The fields of a plan's tables, and what the ops hold that have a body. See runtime/Plan/Plan.h
// for their meaning.
#pragma once

#include <string>
#include <vector>

#include "dialects/Plan/ActionRecord.h"
#include "runtime/Plan/Plan.h"
#include "runtime/Plan/RoundFields.h"

namespace vime::ir {

struct PlanHead {
  std::string schedule, compiler;
  plan::GradientOrder gradientOrder = plan::GradientOrder::Ascending;
  bool operator==(const PlanHead &) const = default;
};

struct ProgramHead {
  std::string name; // of the first rank that runs it
  bool operator==(const ProgramHead &) const = default;
};

struct LayoutHead {
  std::string name;
  std::uint64_t device = 0, host = 0; // bytes of the arenas
  bool operator==(const LayoutHead &) const = default;
};

struct LoopHead {
  std::uint32_t id = 0, trips = 0;
  std::int64_t start = 0, period = 0;
  std::uint8_t until = 0;
  std::uint32_t perTrip = 0;
  bool operator==(const LoopHead &) const = default;
};

struct CaseHead {
  std::uint8_t condition = 0;
  bool operator==(const CaseHead &) const = default;
};

struct RanksRecord {
  std::vector<std::uint32_t> programs, layouts;
  bool operator==(const RanksRecord &) const = default;
};

struct JobText {
  std::vector<std::string> lines;
  bool operator==(const JobText &) const = default;
};

/// Place of an opcode in plan::signatures(), so that it can be written as its name.
enum class OpcodeWord : std::uint8_t {};
template <> struct Words<OpcodeWord> {
  static std::span<const std::string_view> all();
};
OpcodeWord wordOf(std::uint16_t opcode);
std::uint16_t opcodeOf(OpcodeWord word);

// ---- fields ----------------------------------------------------------------------------------------------------------

template <typename Fields> void visitFields(Fields &fields, PlanHead &plan) {
  fields.named("schedule", plan.schedule);
  fields.named("compiler", plan.compiler);
  fields.optional("gradients", plan.gradientOrder, plan::GradientOrder::Ascending);
}
template <typename Fields> void visitFields(Fields &fields, ProgramHead &program) {
  fields.symbol("name", program.name);
}
template <typename Fields> void visitFields(Fields &fields, LayoutHead &layout) {
  fields.symbol("name", layout.name);
  fields.named("device", layout.device);
  fields.named("host", layout.host);
}
template <typename Fields> void visitFields(Fields &fields, LoopHead &loop) {
  fields.named("id", loop.id);
  fields.named("trips", loop.trips);
  fields.named("start", loop.start);
  fields.named("period", loop.period);
  fields.optional("until", loop.until, std::uint8_t{0});
  fields.optional("per_trip", loop.perTrip, std::uint32_t{0});
}
template <typename Fields> void visitFields(Fields &fields, CaseHead &one) {
  fields.named("condition", one.condition);
}
template <typename Fields> void visitFields(Fields &fields, RanksRecord &ranks) {
  fields.list("programs", ranks.programs);
  fields.list("layouts", ranks.layouts);
}
template <typename Fields> void visitFields(Fields &fields, JobText &job) {
  fields.list("lines", job.lines);
}

template <typename Fields> void visitFields(Fields &fields, plan::Mesh &mesh) {
  fields.named("pp", mesh.pipeline);
  fields.named("dp", mesh.data);
  fields.named("cp", mesh.context);
  fields.named("tp", mesh.tensor);
  fields.optional("engines", mesh.engines, 0u);
}
template <typename Fields> void visitFields(Fields &fields, plan::Peer &peer) {
  fields.leading("axis", peer.axis);
  fields.flag("plus", peer.relative);
  fields.leading("value", peer.value);
}
template <typename Fields> void visitFields(Fields &fields, plan::Message &message) {
  fields.leading("type", message.type);
  fields.optional("fixed", message.fixed, 0u);
  fields.optional("per_token", message.perToken, 0u);
}
template <typename Fields> void visitFields(Fields &fields, plan::Group &group) {
  fields.leading("name", group.name);
  fields.named("flow", group.flow);
  fields.named("operation", group.operation);
  fields.named("axes", group.axes);
  fields.named("root", group.root);
  fields.record("message", group.message);
  fields.list("members", group.members);
}
template <typename Fields> void visitFields(Fields &fields, plan::DecisionRange &range) {
  fields.leading("decision", range.decision);
  fields.list("values", range.values);
}
template <typename Fields> void visitFields(Fields &fields, plan::Condition &condition) {
  fields.leading("decision", condition.decision);
  fields.leading("comparison", condition.comparison);
  fields.leading("value", condition.value);
}
template <typename Fields> void visitFields(Fields &fields, plan::ConnectRound &round) {
  fields.flag("in_every_replica", round.inEveryReplica);
  fields.flag("all_replicas", round.allReplicas);
  std::vector<ColonPair> pairs;
  for (const auto &[low, high] : round.pairs)
    pairs.push_back({low, high});
  fields.list("pairs", pairs);
  if constexpr (Fields::kReads) {
    round.pairs.clear();
    for (const auto &[low, high] : pairs)
      round.pairs.push_back({low, high});
  }
}
template <typename Fields> void visitFields(Fields &fields, plan::Lane &lane) {
  fields.leading("kind", lane.kind);
  if (lane.kind == plan::LaneKind::Group)
    fields.leading("group", lane.group);
  if (lane.kind != plan::LaneKind::Send && lane.kind != plan::LaneKind::Receive)
    return;
  fields.named("flow", lane.flow);
  fields.record("peer", lane.peer);
  fields.record("message", lane.message);
  fields.optional("slots", lane.slots, 0u);
}
template <typename Fields> void visitFields(Fields &fields, plan::LocalStage &stage) {
  fields.named("model", stage.model);
  fields.named("stage", stage.stage);
}
template <typename Fields> void visitFields(Fields &fields, plan::Buffer &buffer) {
  fields.leading("kind", buffer.kind);
  fields.optional("stage", buffer.stage, plan::kNoStage);
  fields.named("tier", buffer.tier);
  fields.named("count", buffer.count);
  fields.named("bytes", buffer.bytes);
  fields.named("stride", buffer.stride);
  fields.named("offset", buffer.offset);
}

template <typename Fields> void visitFields(Fields &fields, StageRange &stage) {
  fields.named("first", stage.first);
  fields.named("end", stage.end);
  fields.flag("embedding", stage.embedding);
  fields.flag("head", stage.head);
}
template <typename Fields> void visitFields(Fields &fields, ModelConfig &config) {
  fields.leading("family", config.family);
  fields.named("type", config.type);
  fields.named("layers", config.layers);
  fields.optional("hidden", config.hidden, 0u);
  fields.optional("heads", config.heads, 0u);
  fields.optional("kv_heads", config.kvHeads, 0u);
  fields.optional("head_width", config.headWidth, 0u);
  fields.optional("ffn", config.ffn, 0u);
  fields.optional("vocab", config.vocab, 0u);
  fields.named("rope_theta", config.ropeTheta);
  fields.named("norm_epsilon", config.normEpsilon);
  fields.flag("tied_head", config.tiedHead);
  fields.flag("recomputes_layers", config.recomputesLayers);
  fields.optional("kernels", config.kernels, KernelLibrary::Native);
  fields.optional("forward_seconds", config.forwardSeconds, 0.0);
  fields.optional("backward_input_seconds", config.backwardInputSeconds, 0.0);
  fields.optional("backward_weight_seconds", config.backwardWeightSeconds, 0.0);
  fields.optional("embedding_elements", config.embeddingElements, std::uint64_t{0});
  fields.optional("layer_elements", config.layerElements, std::uint64_t{0});
  fields.optional("head_elements", config.headElements, std::uint64_t{0});
  fields.optional("task_bytes", config.taskBytes, std::uint64_t{0});
}
template <typename Fields> void visitFields(Fields &fields, plan::Model &model) {
  visitFields(fields, model.config);
  fields.optional("checkpoint", model.checkpoint, std::string());
  fields.optional("module", model.moduleFile, std::string());
  fields.optional("module_hash_low", model.moduleHash[0], std::uint64_t{0});
  fields.optional("module_hash_high", model.moduleHash[1], std::uint64_t{0});
  fields.flag("sharded", model.sharded);
  fields.list("stages", model.stages);
}
template <typename Fields> void visitFields(Fields &fields, plan::DataSettings &data) {
  fields.leading("text", data.text);
  fields.named("bytes", data.textBytes);
  fields.named("hash_low", data.textHash[0]);
  fields.named("hash_high", data.textHash[1]);
  fields.named("sequence", data.sequence);
  fields.named("samples", data.samples);
  fields.named("tokens", data.tokens);
  fields.named("microbatches", data.microbatches);
  fields.optional("slices", data.slices, 1u);
  fields.named("batch", data.batch);
  fields.optional("split", data.split, plan::Split::Window);
  fields.optional("tail", data.tail, plan::Tail::Join);
}
template <typename Fields> void visitFields(Fields &fields, plan::EvaluationSettings &evaluation) {
  fields.leading("text", evaluation.text);
  fields.named("bytes", evaluation.textBytes);
  fields.named("hash_low", evaluation.textHash[0]);
  fields.named("hash_high", evaluation.textHash[1]);
  fields.named("every", evaluation.every);
  fields.named("batch", evaluation.batch);
  fields.named("microbatches", evaluation.microbatches);
  fields.optional("patience", evaluation.patience, 0u);
  fields.optional("target", evaluation.target, 0.0);
}
template <typename Fields> void visitFields(Fields &fields, plan::RoundSettings &round) {
  plan::visitRound(round, [&](std::string_view name, auto &value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, plan::Hash128>) {
      fields.named(std::string(name) + "_low", value[0]);
      fields.named(std::string(name) + "_high", value[1]);
    } else if constexpr (std::is_same_v<T, std::vector<std::uint32_t>>)
      fields.list(name, value);
    else if constexpr (std::is_same_v<T, bool>)
      fields.flag(name, value);
    else
      fields.named(name, value);
  });
}
template <typename Fields> void visitFields(Fields &fields, plan::OptimizerSettings &optimizer) {
  fields.named("learning_rate", optimizer.learningRate);
  fields.named("beta1", optimizer.beta1);
  fields.named("beta2", optimizer.beta2);
  fields.named("epsilon", optimizer.epsilon);
  fields.named("weight_decay", optimizer.weightDecay);
  fields.named("clip", optimizer.clip);
  fields.optional("warmup", optimizer.warmup, std::uint64_t{0});
  fields.optional("decay", optimizer.decay, plan::Decay::Constant);
  fields.optional("floor", optimizer.floor, 0.0);
}
template <typename Fields> void visitFields(Fields &fields, plan::CheckpointSettings &checkpoint) {
  fields.leading("directory", checkpoint.directory);
  fields.named("every", checkpoint.every);
  fields.optional("keep", checkpoint.keep, 0u);
}
template <typename Fields> void visitFields(Fields &fields, plan::RunSettings &run) {
  fields.leading("name", run.name);
  fields.named("steps", run.steps);
  fields.named("seed", run.seed);
  fields.optional("export", run.exportTo, std::string());
}
template <typename Fields> void visitFields(Fields &fields, plan::Limits &limits) {
  fields.named("connect_seconds", limits.connectSeconds);
  fields.named("transfer_seconds", limits.transferSeconds);
  fields.named("memory_bytes", limits.memoryBytes);
}
template <typename Fields> void visitFields(Fields &fields, plan::Predictions &predictions) {
  fields.named("step_units", predictions.stepUnits);
  fields.named("bubble", predictions.bubble);
  fields.named("peak_live", predictions.peakLive);
  fields.optional("costs", predictions.costs, std::string());
  fields.optional("step_seconds", predictions.stepSeconds, 0.0);
  fields.optional("expected_bubble", predictions.expectedBubble, 0.0);
}
template <typename Fields> void visitFields(Fields &fields, plan::Origin &origin) {
  OpcodeWord opcode = wordOf(origin.opcode);
  fields.named("of", opcode);
  fields.leading("key", origin.key);
  fields.named("line", origin.line);
  fields.named("column", origin.column);
  fields.named("length", origin.length);
  if constexpr (Fields::kReads)
    origin.opcode = opcodeOf(opcode);
}

} // namespace vime::ir
