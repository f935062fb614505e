// Plans for programs: small tables are made as JSON values, actions are written.
#include "compiler/View/PlanText.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/View/Quote.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Names.h"
#include "runtime/Plan/PlanFile.h"
#include "runtime/Plan/RoundFields.h"

namespace vime {
namespace {

using namespace plan;
using Json = nlohmann::ordered_json;

std::string textOf(const Json &value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json messageJson(const Message &message) {
  return {
      {"type", wordOf(message.type)}, {"fixed", message.fixed}, {"per_token", message.perToken}};
}

Json groupJson(const Group &group) {
  Json json = {
      {"name", group.name}, {"flow", nameOf(group.flow)}, {"operation", nameOf(group.operation)},
      {"axes", group.axes}, {"root", group.root},         {"message", messageJson(group.message)}};
  if (!group.members.empty())
    json["members"] = group.members;
  return json;
}

Json roundJson(const RoundSettings &round) {
  Json json = Json::object();
  visitRound(round, [&](std::string_view name, const auto &value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, Hash128>)
      json[std::string(name)] = toHex(value);
    else if constexpr (std::is_enum_v<T>)
      json[std::string(name)] = wordOf(value);
    else
      json[std::string(name)] = value;
  });
  return json;
}

Json tensorJson(const TensorSpec &tensor) {
  Json sources = Json::array();
  for (const SourceTensor &source : tensor.sources)
    sources.push_back({{"name", source.name}, {"row", source.row}, {"rows", source.rows}});
  return {{"name", tensor.name},
          {"shape", tensor.shape},
          {"offset", tensor.offset},
          {"sources", sources}};
}

Json modelJson(const Model &model) {
  const ModelConfig &c = model.config;
  Json json = {{"family", wordOf(c.family)},
               {"type", wordOf(c.type)},
               {"layers", c.layers},
               {"hidden", c.hidden},
               {"heads", c.heads},
               {"kv_heads", c.kvHeads},
               {"head_width", c.headWidth},
               {"ffn", c.ffn},
               {"vocab", c.vocab},
               {"rope_theta", c.ropeTheta},
               {"norm_epsilon", c.normEpsilon},
               {"tied_head", c.tiedHead},
               {"recomputes_layers", c.recomputesLayers},
               {"kernels", wordOf(c.kernels)},
               {"forward_seconds", c.forwardSeconds},
               {"backward_input_seconds", c.backwardInputSeconds},
               {"backward_weight_seconds", c.backwardWeightSeconds},
               {"embedding_elements", c.embeddingElements},
               {"layer_elements", c.layerElements},
               {"head_elements", c.headElements},
               {"task_bytes", c.taskBytes},
               {"module_hash", toHex(model.moduleHash)},
               {"checkpoint", model.checkpoint},
               {"module", model.moduleFile},
               {"sharded", model.sharded},
               {"stages", Json::array()}};
  for (const StageRange &range : model.stages) {
    Json tensors = Json::array();
    for (const TensorSpec &tensor : stageSpec(c, range, {1, 1, 1}).tensors)
      tensors.push_back(tensorJson(tensor));
    json["stages"].push_back({{"first", range.first},
                              {"end", range.end},
                              {"embedding", range.embedding},
                              {"head", range.head},
                              {"tensors", tensors}});
  }
  return json;
}

Json settingsJson(const Plan &plan) {
  const OptimizerSettings &optimizer = plan.optimizer;
  const DataSettings &data = plan.data;
  return {{"run",
           {{"name", plan.run.name},
            {"steps", plan.run.steps},
            {"seed", plan.run.seed},
            {"export_to", plan.run.exportTo}}},
          {"data",
           {{"text", data.text},
            {"text_bytes", data.textBytes},
            {"text_hash", toHex(data.textHash)},
            {"sequence", data.sequence},
            {"samples", data.samples},
            {"tokens", data.tokens},
            {"microbatches", data.microbatches},
            {"slices", data.slices},
            {"batch", data.batch},
            {"split", wordOf(data.split)},
            {"tail", wordOf(data.tail)}}},
          {"evaluation",
           {{"text", plan.evaluation.text},
            {"text_bytes", plan.evaluation.textBytes},
            {"text_hash", toHex(plan.evaluation.textHash)},
            {"every", plan.evaluation.every},
            {"batch", plan.evaluation.batch},
            {"microbatches", plan.evaluation.microbatches},
            {"patience", plan.evaluation.patience},
            {"target", plan.evaluation.target}}},
          {"optimizer",
           {{"learning_rate", optimizer.learningRate},
            {"beta1", optimizer.beta1},
            {"beta2", optimizer.beta2},
            {"epsilon", optimizer.epsilon},
            {"weight_decay", optimizer.weightDecay},
            {"clip", optimizer.clip},
            {"warmup", optimizer.warmup},
            {"decay", wordOf(optimizer.decay)},
            {"floor", optimizer.floor}}},
          {"checkpoint",
           {{"directory", plan.checkpoint.directory},
            {"every", plan.checkpoint.every},
            {"keep", plan.checkpoint.keep}}},
          {"limits",
           {{"connect_seconds", plan.limits.connectSeconds},
            {"transfer_seconds", plan.limits.transferSeconds},
            {"memory_bytes", plan.limits.memoryBytes}}},
          {"predictions",
           {{"step_units", plan.predictions.stepUnits},
            {"bubble", plan.predictions.bubble},
            {"peak_live", plan.predictions.peakLive},
            {"costs", plan.predictions.costs},
            {"step_seconds", plan.predictions.stepSeconds},
            {"expected_bubble", plan.predictions.expectedBubble}}}};
}

Json headJson(const Plan &plan) {
  Json json = {{"format", 1},
               {"id", toHex(planId(plan))},
               {"compiler", plan.compiler},
               {"schedule", plan.schedule},
               {"gradients", wordOf(plan.gradientOrder)},
               {"mesh",
                {{"pp", plan.mesh.pipeline},
                 {"dp", plan.mesh.data},
                 {"cp", plan.mesh.context},
                 {"tp", plan.mesh.tensor},
                 {"engines", plan.mesh.engines}}}};
  json.update(settingsJson(plan));
  if (plan.round != RoundSettings())
    json["round"] = roundJson(plan.round);
  json["models"] = Json::array();
  for (const Model &model : plan.models)
    json["models"].push_back(modelJson(model));
  json["groups"] = Json::array();
  for (const Group &group : plan.groups)
    json["groups"].push_back(groupJson(group));
  json["decisions"] = Json::array();
  for (const auto &[decision, values] : plan.decisions)
    json["decisions"].push_back({{"decision", wordOf(decision)}, {"values", values}});
  json["conditions"] = Json::array();
  for (const auto &[decision, comparison, value] : plan.conditions)
    json["conditions"].push_back(
        {{"decision", wordOf(decision)}, {"comparison", wordOf(comparison)}, {"value", value}});
  json["program_of"] = plan.programOf;
  json["layout_of"] = plan.layoutOf;
  json["connect"] = Json::array();
  for (const ConnectRound &round : plan.connect)
    json["connect"].push_back({{"in_every_replica", round.inEveryReplica},
                               {"all_replicas", round.allReplicas},
                               {"pairs", round.pairs}});
  json["origins"] = Json::array();
  for (const Origin &origin : plan.origins) {
    const Signature *signature = findSignature(origin.opcode);
    json["origins"].push_back({{"opcode", signature ? signature->name : "?"},
                               {"line", origin.line},
                               {"column", origin.column},
                               {"length", origin.length},
                               {"key", origin.key}});
  }
  json["job"] = plan.job;
  return json;
}

Json laneJson(const Plan &plan, std::uint32_t rank, std::uint32_t index) {
  const Lane &lane = programOf(plan, rank)->lanes[index];
  return {{"kind", wordOf(lane.kind)},
          {"flow", nameOf(lane.flow)},
          {"peer",
           {{"relative", lane.peer.relative},
            {"axis", nameOf(lane.peer.axis)},
            {"value", lane.peer.value}}},
          {"message", messageJson(lane.message)},
          {"slots", lane.slots},
          {"group", lane.group},
          {"text", describeLane(plan, rank, index)}};
}

/// `null` stands for no buffer.
Json bufferJson(std::uint32_t operand) { return operand == kNoBuffer ? Json() : Json(operand); }

/// Actions, of which there may be a million, without a value for each.
class ActionWriter {
public:
  ActionWriter(const Plan &plan, std::uint32_t rank)
      : plan(plan), rank(rank), program(*programOf(plan, rank)) {}

  /// Each on a line of its own behind `indent`.
  std::string write(const char *indent) {
    for (std::uint32_t index = 0; index < program.actions.size(); ++index) {
      put("{}{}", index == 0 ? "" : ",", indent);
      action(index);
    }
    return fmt::to_string(text);
  }

private:
  void action(std::uint32_t index) {
    const Action &action = program.actions[index];
    const Signature *signature = findSignature(action.opcode);
    put(R"({{"index": {}, "opcode": "{}", "lane": {}, "time": {}, "flags": )", index,
        signature ? signature->name : "?", action.lane, action.time);
    flags(action.flags);
    put(R"(, "waits": )");
    waits(action);
    put(R"(, "stage": {}, "guard": {}, "step": {}, "microbatch": {}, "immediate": {})",
        action.stage, action.guard, action.step, action.microbatch, action.immediate);
    put(R"(, "first_operand": {}, "operands": )", action.operands);
    operands(action, signature);
    put(R"(, "text": {}}})", quote(describe(plan, rank, index)));
  }

  template <typename... T> void put(fmt::format_string<T...> format, T &&...values) {
    fmt::format_to(std::back_inserter(text), format, std::forward<T>(values)...);
  }

  void flags(std::uint8_t flags) {
    const char *separator = "[";
    for (std::size_t bit = 0; bit < 8; ++bit)
      if (flags >> bit & 1) {
        put(R"({}"{}")", separator, flagName(bit));
        separator = ", ";
      }
    put("{}", flags == 0 ? "[]" : "]");
  }

  /// Empty places behind the last wait are left out, others are `null`.
  void waits(const Action &action) {
    std::size_t count = action.waits.size();
    while (count != 0 && action.waits[count - 1].empty())
      --count;
    text.push_back('[');
    for (std::size_t wait = 0; wait < count; ++wait) {
      put("{}", wait == 0 ? "" : ", ");
      if (action.waits[wait].empty())
        put("null");
      else
        put(R"({{"lane": {}, "distance": {}}})", action.waits[wait].lane(),
            action.waits[wait].distance());
    }
    text.push_back(']');
  }

  void operands(const Action &action, const Signature *signature) {
    text.push_back('{');
    for (std::size_t operand = 0; operand < action.operandCount; ++operand) {
      const std::size_t entry = action.operands + operand;
      if (!signature || operand >= signature->operands.size() || entry >= program.operands.size())
        break; // no plan that was read has such an action
      put(R"({}"{}": )", operand == 0 ? "" : ", ", signature->operands[operand].name);
      if (program.operands[entry] == kNoBuffer)
        put("null");
      else
        put("{}", program.operands[entry]);
    }
    text.push_back('}');
  }

  const Plan &plan;
  std::uint32_t rank;
  const Program &program;
  fmt::memory_buffer text;
};

void appendProgram(const Plan &plan, std::uint32_t index, std::string &text) {
  const Program &program = plan.programs[index];
  const auto rank = static_cast<std::uint32_t>(
      std::find(plan.programOf.begin(), plan.programOf.end(), index) - plan.programOf.begin());
  Json stages = Json::array(), lanes = Json::array(), loops = Json::array(), cases = Json::array();
  for (const auto &[model, stage] : program.stages)
    stages.push_back({{"model", model}, {"stage", stage}});
  for (std::uint32_t lane = 0; lane < program.lanes.size(); ++lane)
    lanes.push_back(laneJson(plan, rank, lane));
  for (const auto &[id, begin, end, trips, start, period, until, perTrip] : program.loops)
    loops.push_back({{"id", id},
                     {"begin", begin},
                     {"end", end},
                     {"trips", trips},
                     {"start", start},
                     {"period", period},
                     {"until", until},
                     {"per_trip", perTrip}});
  for (const auto &[begin, end, condition] : program.cases)
    cases.push_back({{"begin", begin}, {"end", end}, {"condition", condition}});
  Json pool = Json::array();
  for (const std::uint32_t operand : program.operands)
    pool.push_back(bufferJson(operand));
  text += "    {\n      \"stages\": " + textOf(stages) + ",\n      \"lanes\": " + textOf(lanes) +
          ",\n      \"loops\": " + textOf(loops) + ",\n      \"cases\": " + textOf(cases) +
          ",\n      \"operands\": " + textOf(pool) + ",\n      \"actions\": [";
  text += ActionWriter(plan, rank).write("\n        ");
  text += "\n      ]\n    }";
}

void appendLayout(const Plan &plan, std::uint32_t index, std::string &text) {
  const Layout &layout = plan.layouts[index];
  const auto rank = static_cast<std::uint32_t>(
      std::find(plan.layoutOf.begin(), plan.layoutOf.end(), index) - plan.layoutOf.begin());
  text += "    {\n      \"arena\": " +
          textOf(Json{{"device", layout.arena[0]}, {"host", layout.arena[1]}}) +
          ",\n      \"buffers\": [";
  for (std::uint32_t buffer = 0; buffer < layout.buffers.size(); ++buffer) {
    const auto &[kind, tier, stage, count, bytes, stride, offset] = layout.buffers[buffer];
    const Json json = {{"kind", nameOf(kind)},
                       {"tier", nameOf(tier)},
                       {"stage", stage == kNoStage ? Json() : Json(stage)},
                       {"count", count},
                       {"bytes", bytes},
                       {"stride", stride},
                       {"offset", offset},
                       {"text", describeBuffer(plan, rank, buffer)}};
    text += (buffer == 0 ? "\n        " : ",\n        ") + textOf(json);
  }
  text += "\n      ]\n    }";
}

template <typename Append>
void appendList(const char *name, std::size_t count, std::string &text, const Append &append) {
  text += std::string(",\n  \"") + name + "\": [";
  for (std::uint32_t index = 0; index < count; ++index) {
    text += index == 0 ? "\n" : ",\n";
    append(index);
  }
  text += "\n  ]";
}

} // namespace

std::string quote(std::string_view text) { return textOf(Json(text)); }

std::string planJson(const Plan &plan) {
  std::string text = "{";
  const char *separator = "\n  ";
  const Json head = headJson(plan);
  for (const auto &[key, value] : head.items()) {
    text += separator + quote(key) + ": " + textOf(value);
    separator = ",\n  ";
  }
  appendList("programs", plan.programs.size(), text,
             [&](std::uint32_t index) { appendProgram(plan, index, text); });
  appendList("layouts", plan.layouts.size(), text,
             [&](std::uint32_t index) { appendLayout(plan, index, text); });
  return text + "\n}";
}

} // namespace vime
