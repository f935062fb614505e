#include "runtime/Plan/CheckParts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "kernels/SumType.h"
#include "runtime/ModelSpec/Copies.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/Names.h"

namespace vime::plan {
namespace {

Status checkMesh(const Mesh &mesh) {
  if (mesh.pipeline < 1 || mesh.pipeline > kMostRanks)
    return unacceptable(fmt::format("the plan has {} ranks along `pp`", mesh.pipeline));
  if (mesh.data < 1 || std::uint64_t(mesh.pipeline) * mesh.data > kMostRanks)
    return unacceptable(fmt::format("the plan has {} ranks along `dp`", mesh.data));
  for (const std::uint32_t size : {mesh.context, mesh.tensor})
    if (size != 1)
      return unacceptable(
          fmt::format("the plan has {} ranks along `cp` or `tp`, this program knows only 1", size));
  if (mesh.engines > kMostRanks || (mesh.engines != 0 && mesh.data > 2))
    return unacceptable(
        fmt::format("the plan has {} engines beside {} replicas", mesh.engines, mesh.data));
  return Status();
}

/// Of whole operands: weights or their gradients in the type that they have, or squares.
bool isOfOperands(const Plan &plan, const Group &group) {
  const auto typeIn = [&](const Model &model) {
    switch (group.operation) {
    case Collective::Unshard:
      return model.config.type;
    case Collective::ReduceSquares:
      return DataType::Float64;
    default:
      return sumTypeOf(model.config.type);
    }
  };
  return group.message.fixed == 0 &&
         std::all_of(plan.models.begin(), plan.models.end(),
                     [&](const Model &model) { return group.message.type == typeIn(model); });
}

/// Between replicas alone, and only where there is something that they share.
bool isOfShares(Collective operation) {
  return operation == Collective::Unshard || operation == Collective::ReduceScatter ||
         operation == Collective::ReduceSquares;
}
bool sharesSomething(const Plan &plan) {
  return std::any_of(plan.models.begin(), plan.models.end(),
                     [](const Model &model) { return model.sharded; });
}

/// Of coordinator and engines, or of one that trains and the engines.
Status checkListedGroup(const Plan &plan, const Group &group) {
  const std::vector<std::uint32_t> &members = group.members;
  const bool ascend =
      std::adjacent_find(members.begin(), members.end(), std::greater_equal<>()) == members.end();
  if (!ascend || members.size() < 2 || members.back() >= plan.mesh.ranks() || group.axes != 0 ||
      group.root >= members.size())
    return unacceptable(fmt::format("group `{}` has no list of members", group.name));
  if (group.message.perToken != 0)
    return unacceptable(fmt::format("messages of group `{}` depend on a microbatch", group.name));
  const bool movesWeights = group.operation == Collective::BroadcastWeights;
  const bool isKnown = movesWeights || group.operation == Collective::Broadcast ||
                       group.operation == Collective::Gather;
  if (!isKnown || (movesWeights && (group.message.fixed == 0 ||
                                    group.message.type != plan.models.front().config.type)))
    return unacceptable(
        fmt::format("group `{}` moves something that its members have not", group.name));
  return Status();
}

Status checkGroup(const Plan &plan, std::size_t index) {
  const Group &group = plan.groups[index];
  if (group.name.empty() || !isCleanText(group.name))
    return unacceptable(fmt::format("group {} has no legible name", index));
  const auto same = [&](const Group &other) { return other.name == group.name; };
  if (std::count_if(plan.groups.begin(), plan.groups.end(), same) != 1)
    return unacceptable(fmt::format("several groups are called `{}`", group.name));
  if (!isEnumerator(group.flow) || !isEnumerator(group.operation) ||
      !isEnumerator(group.message.type))
    return unacceptable(
        fmt::format("flow, operation or type of group `{}` is unknown", group.name));
  if (!group.members.empty())
    return checkListedGroup(plan, group);
  const bool isMirrored = group.axes == bitOf(Axis::Mirror);
  if (!isMirrored && group.axes != bitOf(Axis::Pipeline) && group.axes != bitOf(Axis::Data))
    return unacceptable(fmt::format("group `{}` goes along neither `pp` nor `dp`", group.name));
  if (isMirrored && (plan.mesh.pipeline % 2 != 0 || group.operation != Collective::AllReduce))
    return unacceptable(fmt::format("group `{}` has no pairs of ranks that add up", group.name));
  const std::uint32_t members = memberCount(plan.mesh, group);
  if (group.root >= members)
    return unacceptable(
        fmt::format("the root of group `{}` is member {} of {}", group.name, group.root, members));
  if (group.message.perToken != 0)
    return unacceptable(fmt::format("messages of group `{}` depend on a microbatch", group.name));
  if (group.operation == Collective::BroadcastWeights)
    return unacceptable(fmt::format("group `{}` moves weights to nobody", group.name));
  if (isOfShares(group.operation) && (group.axes != bitOf(Axis::Data) || !sharesSomething(plan)))
    return unacceptable(fmt::format("group `{}` moves shares that no replica has", group.name));
  if (movesOperands(group.operation) && !isOfOperands(plan, group))
    return unacceptable(fmt::format(
        "group `{}` moves something else than whole weights, gradients or squares", group.name));
  return Status();
}

/// Far from where sums of a stage's regions could overflow; doubles, which cannot.
bool isTooLarge(const ModelConfig &config, const DataSettings &data) {
  const double width = double(config.hidden) + config.ffn +
                       (double(config.heads) + 2.0 * config.kvHeads) * (config.headWidth + 1.0);
  const double tokens = double(data.tokens) * data.slices;
  const double activations = tokens * (config.layers * width * 8 + config.vocab * 2.0);
  const double weights =
      config.layers * (width * 4 * config.hidden + double(config.layerElements)) +
      2.0 * config.vocab * config.hidden + double(config.embeddingElements) +
      double(config.headElements) + double(config.taskBytes);
  return (activations + weights) * 8 > double(kMostBytes);
}

/// Tokens are the bytes of the text; they and the labels index what has an entry per token.
constexpr std::uint32_t kByteTokens = 256;

Status checkModel(const Plan &plan, std::size_t index) {
  const auto &[config, stages, checkpoint, moduleFile, moduleHash, sharded] = plan.models[index];
  if (!isEnumerator(config.family) || !isEnumerator(config.type))
    return unacceptable(fmt::format("family or type of model {} is unknown", index));
  if (!isEnumerator(config.kernels))
    return unacceptable(fmt::format("the kernels of model {} are unknown", index));
  if (Status status = check(config); !status.ok())
    return unacceptable(fmt::format("model {}: {}", index, status.message()));
  if (isTooLarge(config, plan.data))
    return unacceptable(fmt::format("model {} is larger than any machine", index));
  const bool isEmpty = config.family == ModelFamily::Null || config.family == ModelFamily::Sleep;
  if (!isEmpty && config.vocab < kByteTokens)
    return unacceptable(fmt::format("model {} has a vocabulary of {}, the bytes of its text are {}",
                                    index, config.vocab, kByteTokens));
  if (!isCleanText(checkpoint))
    return unacceptable(fmt::format("the checkpoint of model {} has no legible name", index));
  if (!isCleanText(moduleFile) || moduleFile.empty() != (config.family != ModelFamily::TorchScript))
    return unacceptable(fmt::format("the module of model {} has no legible name", index));
  if (const auto stage = findMisplaced(stages))
    return unacceptable(
        fmt::format("stage {} of model {} does not continue the one before it", *stage, index));
  if (const std::uint32_t layers = stages.empty() ? 0 : stages.back().end; layers != config.layers)
    return unacceptable(fmt::format("the stages of model {} have {} of its {} layers", index,
                                    layers, config.layers));
  if (sharded && (plan.mesh.data < 2 || config.tiedHead || copiesOf(stages) > 1))
    return unacceptable(fmt::format(
        "model {} is sharded: it needs several replicas, one copy and a head of its own", index));
  if (copiesOf(stages) > 2)
    return unacceptable(fmt::format("the plan has {} copies of model {}, this program knows two",
                                    copiesOf(stages), index));
  return Status();
}

/// Whether there is room for so many samples at all.
bool holds(const DataSettings &data, std::uint64_t batch, std::uint32_t microbatches,
           std::uint32_t replicas) {
  return batch >= 1 &&
         (batch - 1) / data.samples < std::uint64_t(microbatches / data.slices) * replicas;
}

/// Slices are alike: samples all have one length, of which they have equal parts.
Status checkSlices(const Plan &plan) {
  const DataSettings &data = plan.data;
  if (data.slices == 1)
    return Status();
  if (data.slices < 1 || data.slices > kMostSlices || data.sequence % data.slices != 0 ||
      data.split != Split::Window ||
      std::uint64_t(data.tokens) * data.slices != std::uint64_t(data.sequence) * data.samples)
    return unacceptable(
        fmt::format("slices of samples: {} of {} tokens", data.slices, data.sequence));
  const bool areWhole = [&] {
    for (const std::uint32_t microbatches : valuesOf(plan, Decision::Microbatches))
      if (microbatches % data.slices != 0)
        return false;
    return data.microbatches % data.slices == 0 && plan.evaluation.microbatches % data.slices == 0;
  }();
  if (!areWhole)
    return unacceptable(
        fmt::format("a pass of microbatches that lack some of their {} slices", data.slices));
  for (const Model &model : plan.models)
    if (model.config.family == ModelFamily::TorchScript)
      return unacceptable("a user's module takes whole samples, the plan has slices of them");
  return Status();
}

Status checkData(const DataSettings &data, std::uint32_t replicas) {
  if (!isCleanText(data.text))
    return unacceptable("the text file has no legible name");
  const std::uint64_t whole = std::uint64_t(data.tokens) * data.slices;
  if (data.sequence < 1 || data.samples < 1 || whole < data.sequence ||
      data.samples > data.tokens || whole > std::uint64_t(data.sequence) * data.samples ||
      whole > kMostTokens)
    return unacceptable(fmt::format("a microbatch of {} tokens, {} samples of up to {}",
                                    data.tokens, data.samples, data.sequence));
  if (!isEnumerator(data.split))
    return unacceptable("what of the text is a sample is unknown");
  if (!isEnumerator(data.tail))
    return unacceptable("what becomes of the end of an epoch is unknown");
  if (data.microbatches < 1 || data.microbatches > kMostMicrobatches)
    return unacceptable(fmt::format("a step of {} microbatches", data.microbatches));
  if (const std::uint64_t ofAll = std::uint64_t(data.microbatches) * replicas;
      ofAll > std::numeric_limits<std::uint32_t>::max())
    return unacceptable(fmt::format("a step of {} microbatches of all replicas", ofAll));
  if (!holds(data, data.batch, data.microbatches, replicas))
    return unacceptable(fmt::format("a step of {} samples in {} microbatches of {} in each replica",
                                    data.batch, data.microbatches, data.samples));
  return Status();
}

Status checkEvaluation(const Plan &plan) {
  const EvaluationSettings &evaluation = plan.evaluation;
  if (evaluation == EvaluationSettings())
    return Status();
  if (evaluation.text.empty() || !isCleanText(evaluation.text))
    return unacceptable("the held-out text file has no legible name");
  if (evaluation.every < 1 || evaluation.microbatches < 1 ||
      evaluation.microbatches > kMostMicrobatches || !(evaluation.target >= 0) ||
      !std::isfinite(evaluation.target))
    return unacceptable(fmt::format("an evaluation of {} microbatches every {} steps",
                                    evaluation.microbatches, evaluation.every));
  if (!holds(plan.data, evaluation.batch, evaluation.microbatches, plan.mesh.data))
    return unacceptable(fmt::format("an evaluation of {} samples in {} microbatches of {} in each "
                                    "replica",
                                    evaluation.batch, evaluation.microbatches, plan.data.samples));
  return Status();
}

/// Values that the field of the header can have.
bool areValues(const Plan &plan, const DecisionRange &range) {
  const auto &[decision, values] = range;
  const bool ascend =
      std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
  if (!ascend || values.empty() || values.size() > kMostValues)
    return false;
  return decision == Decision::Microbatches
             ? values.front() >= 1 && values.back() == plan.data.microbatches
             : values.back() <= (decision == Decision::Verdict ? kRefused : 1);
}

Status checkDecisions(const Plan &plan) {
  for (std::size_t index = 0; index < plan.decisions.size(); ++index) {
    const DecisionRange &range = plan.decisions[index];
    if (!isEnumerator(range.decision) ||
        (index != 0 && plan.decisions[index - 1].decision >= range.decision) ||
        !areValues(plan, range))
      return unacceptable(fmt::format("decision {} has values that nothing decides", index));
  }
  if (plan.conditions.size() > kMostConditions)
    return unacceptable(fmt::format("the plan has {} conditions", plan.conditions.size()));
  for (std::size_t index = 0; index < plan.conditions.size(); ++index) {
    const Condition &condition = plan.conditions[index];
    if (!isEnumerator(condition.decision) || !isEnumerator(condition.comparison) ||
        valuesOf(plan, condition.decision).empty())
      return unacceptable(
          fmt::format("condition {} is about a decision that nobody makes", index + 1));
  }
  return Status();
}

Status checkCheckpoints(const CheckpointSettings &checkpoint) {
  const auto &[directory, every, keep] = checkpoint;
  if (!isCleanText(directory))
    return unacceptable("the directory of the checkpoints has no legible name");
  if (directory.empty() != (every == 0) || (directory.empty() && keep != 0))
    return unacceptable(fmt::format("checkpoints every {} steps, the newest {} of them, in `{}`",
                                    every, keep, directory));
  return Status();
}

/// So that a point in time behind it is a number, too.
constexpr double kMostSeconds = 1e9;

Status checkSettings(const Plan &plan) {
  const OptimizerSettings &o = plan.optimizer;
  const auto isFraction = [](double value) { return value >= 0 && value < 1; };
  const auto isAmount = [](double value) { return value >= 0 && std::isfinite(value); };
  if (!isAmount(o.learningRate) || !isFraction(o.beta1) || !isFraction(o.beta2) ||
      !isAmount(o.epsilon) || !isAmount(o.weightDecay) || !isAmount(o.clip) || !isAmount(o.floor) ||
      o.warmup > plan.run.steps || !isEnumerator(o.decay))
    return unacceptable("a setting of the optimizer is out of range");
  if (!isCleanText(plan.run.name) || !isCleanText(plan.run.exportTo) ||
      !isCleanText(plan.schedule) || !isCleanText(plan.compiler))
    return unacceptable(
        "the name of the run, its export, its schedule or the compiler is not legible");
  if (Status status = checkCheckpoints(plan.checkpoint); !status.ok())
    return status;
  if (plan.run.steps > 0xFFFFFFFFu)
    return unacceptable(fmt::format("a run of {} steps", plan.run.steps));
  const auto isLimit = [](double seconds) { return seconds > 0 && seconds <= kMostSeconds; };
  if (!isLimit(plan.limits.transferSeconds))
    return unacceptable("the longest wait for a peer is not a positive number of seconds");
  if (!isLimit(plan.limits.connectSeconds))
    return unacceptable("the time in which ranks meet is not a positive number of seconds");
  if (!isEnumerator(plan.gradientOrder))
    return unacceptable("gradients are added up in no known order");
  const Predictions &p = plan.predictions;
  const auto isShare = [](double share) { return share >= 0 && share <= 1; };
  if (!isAmount(p.stepUnits) || !isShare(p.bubble) || !isAmount(p.stepSeconds) ||
      !isShare(p.expectedBubble) || !isCleanText(p.costs))
    return unacceptable("a prediction is out of range");
  if (Status status = checkData(plan.data, plan.mesh.data); !status.ok())
    return status;
  if (Status status = checkSlices(plan); !status.ok())
    return status;
  return checkEvaluation(plan);
}

/// Every rank that stands for others has one of the `count` programs (layouts), every one of them
/// has a rank.
Status checkBinding(const Plan &plan, const std::vector<std::uint32_t> &binding, std::size_t count,
                    const char *what) {
  const std::uint32_t ranks = representatives(plan.mesh);
  if (binding.size() != ranks)
    return unacceptable(fmt::format("{} {}s are bound to {} ranks", binding.size(), what, ranks));
  std::vector<bool> used(count);
  for (std::size_t rank = 0; rank < binding.size(); ++rank) {
    if (binding[rank] >= count)
      return unacceptable(fmt::format("rank {} has {} {} of {}", rank, what, binding[rank], count));
    used[binding[rank]] = true;
  }
  const auto unused = std::find(used.begin(), used.end(), false);
  if (unused != used.end())
    return unacceptable(fmt::format("{} {} belongs to no rank", what, unused - used.begin()));
  return Status();
}

Status checkStageTables(const Plan &plan) {
  for (std::size_t program = 0; program < plan.programs.size(); ++program) {
    if (plan.programs[program].stages.size() >= kNoStage)
      return unacceptable(fmt::format("program {} has too many stages", program));
    for (const auto &[model, stage] : plan.programs[program].stages)
      if (model >= plan.models.size() || stage >= plan.models[model].stages.size())
        return unacceptable(fmt::format("program {} has stage {} of model {}, which does not exist",
                                        program, stage, model));
  }
  return Status();
}

Status checkConnect(const Plan &plan) {
  std::vector<std::uint32_t> busy(plan.mesh.ranks(), 0); // 1 + the latest round with the rank
  for (std::uint32_t round = 0; round < plan.connect.size(); ++round) {
    const auto &[inEveryReplica, allReplicas, pairs] = plan.connect[round];
    if (allReplicas && (inEveryReplica || !pairs.empty() || plan.mesh.data == 1))
      return unacceptable(fmt::format("connect round {} cannot connect all replicas", round));
    const std::uint32_t ranks = inEveryReplica ? plan.mesh.pipeline : plan.mesh.ranks();
    const auto joins = [&](std::uint32_t rank) {
      return std::exchange(busy[rank], round + 1) != round + 1;
    };
    for (const auto &[low, high] : pairs)
      if (low >= high || high >= ranks || !joins(low) || !joins(high))
        return unacceptable(
            fmt::format("connect round {} cannot connect ranks {} and {}", round, low, high));
  }
  return Status();
}

Status checkOrigins(const std::vector<Origin> &origins) {
  for (std::size_t index = 0; index < origins.size(); ++index) {
    const Origin &origin = origins[index];
    const bool ascends = index == 0 || origins[index - 1].opcode < origin.opcode;
    if (!findSignature(origin.opcode) || !ascends || !isCleanText(origin.key))
      return unacceptable(fmt::format("origin {} is of no action", index));
  }
  return Status();
}

} // namespace

Status checkCommon(const Plan &plan) {
  if (Status status = checkMesh(plan.mesh); !status.ok())
    return status;
  if (plan.groups.size() >= static_cast<std::size_t>(Wait::kMaxLanes))
    return unacceptable(fmt::format("the plan has {} groups", plan.groups.size()));
  for (std::size_t group = 0; group < plan.groups.size(); ++group)
    if (Status status = checkGroup(plan, group); !status.ok())
      return status;
  if (Status status = checkSettings(plan); !status.ok())
    return status;
  if (Status status = checkRound(plan); !status.ok())
    return status;
  if (Status status = checkDecisions(plan); !status.ok())
    return status;
  for (std::size_t model = 0; model < plan.models.size(); ++model)
    if (Status status = checkModel(plan, model); !status.ok())
      return status;
  if (Status status = checkBinding(plan, plan.programOf, plan.programs.size(), "program");
      !status.ok())
    return status;
  if (Status status = checkBinding(plan, plan.layoutOf, plan.layouts.size(), "layout");
      !status.ok())
    return status;
  if (Status status = checkStageTables(plan); !status.ok())
    return status;
  if (Status status = checkConnect(plan); !status.ok())
    return status;
  return checkOrigins(plan.origins);
}

} // namespace vime::plan
