// Every struct is taken apart by a structured binding: a field added to the plan and forgotten here
// does not compile.
#include "runtime/Plan/EncodeParts.h"

#include <numeric>

namespace vime::plan {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

template <typename Enum> constexpr std::uint32_t raw(Enum value) {
  return static_cast<std::uint32_t>(value);
}

std::string_view bytesOf(const flatbuffers::DetachedBuffer &buffer) {
  return {reinterpret_cast<const char *>(buffer.data()), buffer.size()};
}

template <typename T> std::string_view bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

file::Message encode(const Message &message) {
  const auto &[type, fixed, perToken] = message;
  return {raw(type), fixed, perToken};
}

file::Hash encode(const Hash128 &hash) { return {hash[0], hash[1]}; }

Offset<file::Group> encode(FlatBufferBuilder &builder, const Group &group) {
  const auto &[name, flow, operation, axes, root, message, members] = group;
  const auto nameText = builder.CreateString(name);
  const file::Message messageStruct = encode(message);
  const auto memberVector = members.empty() ? 0 : builder.CreateVector(members);
  return file::CreateGroup(builder, nameText, raw(flow), raw(operation), axes, root, &messageStruct,
                           memberVector);
}

Offset<file::Decision> encode(FlatBufferBuilder &builder, const DecisionRange &range) {
  const auto &[decision, values] = range;
  return file::CreateDecision(builder, raw(decision), builder.CreateVector(values));
}

Offset<file::Model> encode(FlatBufferBuilder &builder, const Model &model) {
  const auto &[config, stages, checkpoint, moduleFile, moduleHash, sharded] = model;
  const auto &[family, type, layers, hidden, heads, kvHeads, headWidth, ffn, vocab, ropeTheta,
               normEpsilon, tiedHead, recomputesLayers, kernels, forwardSeconds,
               backwardInputSeconds, backwardWeightSeconds, embeddingElements, layerElements,
               headElements, taskBytes] = config;
  std::vector<file::StageRange> ranges;
  for (const auto &[first, end, embedding, head] : stages)
    ranges.emplace_back(first, end, embedding, head);
  const auto stageVector = builder.CreateVectorOfStructs(ranges);
  const auto checkpointText = builder.CreateString(checkpoint);
  const auto moduleText = builder.CreateString(moduleFile);
  const file::Hash hash = encode(moduleHash);
  return file::CreateModel(builder, raw(family), raw(type), layers, hidden, heads, kvHeads,
                           headWidth, ffn, vocab, ropeTheta, normEpsilon, forwardSeconds,
                           backwardInputSeconds, backwardWeightSeconds, stageVector, checkpointText,
                           tiedHead, recomputesLayers, raw(kernels), moduleText, &hash,
                           embeddingElements, layerElements, headElements, taskBytes, sharded);
}

Offset<file::Data> encode(FlatBufferBuilder &builder, const DataSettings &data) {
  const auto &[text, textBytes, textHash, sequence, samples, tokens, microbatches, slices, batch,
               split, tail] = data;
  const auto path = builder.CreateString(text);
  const file::Hash hash = encode(textHash);
  return file::CreateData(builder, path, textBytes, &hash, sequence, samples, tokens, microbatches,
                          batch, raw(split), raw(tail), slices);
}

Offset<file::Evaluation> encode(FlatBufferBuilder &builder, const EvaluationSettings &evaluation) {
  const auto &[text, textBytes, textHash, every, batch, microbatches, patience, target] =
      evaluation;
  const auto path = builder.CreateString(text);
  const file::Hash hash = encode(textHash);
  return file::CreateEvaluation(builder, path, textBytes, &hash, every, batch, microbatches,
                                patience, target);
}

file::Sampling encode(const SamplingSettings &sampling) {
  const auto &[temperature, topP, topK] = sampling;
  return {temperature, topP, topK, 0};
}

Offset<file::Prompts> encode(FlatBufferBuilder &builder, const PromptSettings &prompts) {
  const auto &[file, bytes, hash] = prompts;
  const auto path = builder.CreateString(file);
  const file::Hash hashStruct = encode(hash);
  return file::CreatePrompts(builder, path, bytes, &hashStruct);
}

Offset<file::Rollout> encode(FlatBufferBuilder &builder, const RolloutSettings &rollout) {
  const auto &[engines, steps, prompts, candidates, samples, maxPrompt, maxNew, slots, stepTokens,
               sampling, stops, dropsEqualRewards, dump] = rollout;
  const auto stopVector = builder.CreateVector(stops);
  const auto dumpText = builder.CreateString(dump);
  const file::Sampling samplingStruct = encode(sampling);
  return file::CreateRollout(builder, engines, steps, prompts, candidates, samples, maxPrompt,
                             maxNew, slots, stepTokens, &samplingStruct, stopVector,
                             dropsEqualRewards, dumpText);
}

Offset<file::Reward> encode(FlatBufferBuilder &builder, const RewardSettings &reward) {
  const auto &[kind, what, timeoutSeconds, retries, workers, minWorkers] = reward;
  const auto whatText = builder.CreateString(what);
  return file::CreateReward(builder, raw(kind), whatText, timeoutSeconds, retries, workers,
                            minWorkers);
}

Offset<file::Algorithm> encode(FlatBufferBuilder &builder, const AlgorithmSettings &algorithm) {
  const auto &[advantage, objective, unit, clipLow, clipHigh, dualClip, klCoefficient, klInReward,
               klEstimator, entropy, correction, correctionLow, correctionHigh] = algorithm;
  return file::CreateAlgorithm(builder, raw(advantage), raw(objective), raw(unit), clipLow,
                               clipHigh, dualClip, klCoefficient, raw(klEstimator), entropy,
                               raw(correction), correctionLow, correctionHigh, klInReward);
}

Offset<file::PromptEvaluation> encode(FlatBufferBuilder &builder,
                                      const PromptEvaluation &evaluation) {
  const auto &[prompts, every, count, samples, sampling] = evaluation;
  const auto promptTable = encode(builder, prompts);
  const file::Sampling samplingStruct = encode(sampling);
  return file::CreatePromptEvaluation(builder, promptTable, every, count, samples, &samplingStruct);
}

Offset<file::Round> encode(FlatBufferBuilder &builder, const RoundSettings &round) {
  const auto &[rollout, prompts, reward, algorithm, sync, evaluation] = round;
  const auto &[bucket] = sync;
  const auto rolloutTable = encode(builder, rollout);
  const auto promptTable = encode(builder, prompts);
  const auto rewardTable = encode(builder, reward);
  const auto algorithmTable = encode(builder, algorithm);
  const auto evaluationTable = encode(builder, evaluation);
  return file::CreateRound(builder, rolloutTable, promptTable, rewardTable, algorithmTable, bucket,
                           evaluationTable);
}

Offset<file::Optimizer> encode(FlatBufferBuilder &builder, const OptimizerSettings &optimizer) {
  const auto &[learningRate, beta1, beta2, epsilon, weightDecay, clip, warmup, decay, floor] =
      optimizer;
  return file::CreateOptimizer(builder, learningRate, beta1, beta2, epsilon, weightDecay, clip,
                               warmup, raw(decay), floor);
}

Offset<file::Checkpoint> encode(FlatBufferBuilder &builder, const CheckpointSettings &checkpoint) {
  const auto &[directory, every, keep] = checkpoint;
  const auto directoryText = builder.CreateString(directory);
  return file::CreateCheckpoint(builder, directoryText, every, keep);
}

Offset<file::Run> encode(FlatBufferBuilder &builder, const RunSettings &run) {
  const auto &[name, steps, seed, exportTo] = run;
  const auto nameText = builder.CreateString(name);
  const auto exportText = builder.CreateString(exportTo);
  return file::CreateRun(builder, nameText, steps, seed, exportText);
}

flatbuffers::DetachedBuffer encodeCommon(const Plan &plan) {
  FlatBufferBuilder builder;
  std::vector<Offset<file::Group>> groups;
  for (const Group &group : plan.groups)
    groups.push_back(encode(builder, group));
  std::vector<Offset<file::Decision>> decisions;
  for (const DecisionRange &range : plan.decisions)
    decisions.push_back(encode(builder, range));
  std::vector<file::Condition> conditions;
  for (const auto &[decision, comparison, value] : plan.conditions)
    conditions.emplace_back(raw(decision), raw(comparison), value);
  std::vector<Offset<file::Model>> models;
  for (const Model &model : plan.models)
    models.push_back(encode(builder, model));
  std::vector<file::LocalStage> stages;
  std::vector<std::uint32_t> stageEnds;
  for (const Program &program : plan.programs) {
    for (const auto &[model, stage] : program.stages)
      stages.emplace_back(model, stage);
    stageEnds.push_back(static_cast<std::uint32_t>(stages.size()));
  }
  const auto &[pipeline, data, context, tensor, engines] = plan.mesh;
  const file::Mesh mesh(pipeline, data, context, tensor, engines);
  const auto &[connectSeconds, transferSeconds, memoryBytes] = plan.limits;
  // One statement each: what is written first lies last, and the order of evaluation of arguments
  // is free.
  const auto schedule = builder.CreateString(plan.schedule);
  const auto groupVector = builder.CreateVector(groups);
  const auto decisionVector = builder.CreateVector(decisions);
  const auto conditionVector = builder.CreateVectorOfStructs(conditions);
  const auto modelVector = builder.CreateVector(models);
  const auto dataTable = encode(builder, plan.data);
  const auto evaluationTable = encode(builder, plan.evaluation);
  const auto optimizerTable = encode(builder, plan.optimizer);
  const auto checkpointTable = encode(builder, plan.checkpoint);
  const auto runTable = encode(builder, plan.run);
  const auto limitsTable =
      file::CreateLimits(builder, connectSeconds, transferSeconds, memoryBytes);
  const auto stageVector = builder.CreateVectorOfStructs(stages);
  const auto endVector = builder.CreateVector(stageEnds);
  const auto programOf = builder.CreateVector(plan.programOf);
  const auto layoutOf = builder.CreateVector(plan.layoutOf);
  const auto round = plan.round == RoundSettings() ? 0 : encode(builder, plan.round);
  builder.Finish(file::CreateCommon(
      builder, schedule, raw(plan.gradientOrder), &mesh, groupVector, decisionVector,
      conditionVector, modelVector, dataTable, evaluationTable, optimizerTable, checkpointTable,
      runTable, limitsTable, stageVector, endVector,
      static_cast<std::uint32_t>(plan.layouts.size()), programOf, layoutOf, round));
  return builder.Release();
}

file::Lane encode(const Lane &lane) {
  const auto &[kind, flow, peer, message, slots, group] = lane;
  const auto &[relative, axis, value] = peer;
  return {static_cast<std::uint8_t>(kind),
          static_cast<std::uint8_t>(flow),
          relative,
          static_cast<std::uint8_t>(axis),
          value,
          encode(message),
          slots,
          group};
}

flatbuffers::DetachedBuffer encodeProgram(const Program &program) {
  FlatBufferBuilder builder;
  std::vector<file::Lane> lanes;
  for (const Lane &lane : program.lanes)
    lanes.push_back(encode(lane));
  std::vector<file::Loop> loops;
  for (const auto &[id, begin, end, trips, start, period, until, perTrip] : program.loops)
    loops.emplace_back(id, begin, end, trips, start, period, until, perTrip);
  std::vector<file::Case> cases;
  for (const auto &[begin, end, condition] : program.cases)
    cases.emplace_back(begin, end, condition);
  const auto laneVector = builder.CreateVectorOfStructs(lanes);
  const auto loopVector = builder.CreateVectorOfStructs(loops);
  const auto caseVector = builder.CreateVectorOfStructs(cases);
  builder.Finish(file::CreateProgram(builder, laneVector, loopVector, caseVector));
  return builder.Release();
}

flatbuffers::DetachedBuffer encodeLayout(const Layout &layout) {
  FlatBufferBuilder builder;
  std::vector<file::Buffer> buffers;
  for (const auto &[kind, tier, stage, count, bytes, stride, offset] : layout.buffers)
    buffers.emplace_back(static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(tier), stage,
                         count, bytes, stride, offset);
  const auto bufferVector = builder.CreateVectorOfStructs(buffers);
  builder.Finish(file::CreateLayout(builder, bufferVector, layout.arena[0], layout.arena[1]));
  return builder.Release();
}

Offset<file::Tensor> encode(FlatBufferBuilder &builder, const TensorSpec &tensor,
                            std::uint32_t model, std::uint32_t stage, DataType type) {
  std::vector<Offset<file::Source>> sources;
  for (const auto &[name, row, rows] : tensor.sources)
    sources.push_back(file::CreateSource(builder, builder.CreateString(name), row, rows));
  const auto name = builder.CreateString(tensor.name);
  const auto shape = builder.CreateVector(tensor.shape);
  const auto sourceVector = builder.CreateVector(sources);
  return file::CreateTensor(builder, name, model, stage, raw(type), shape, tensor.offset,
                            sourceVector);
}

flatbuffers::DetachedBuffer encodeConnect(const std::vector<ConnectRound> &rounds) {
  FlatBufferBuilder builder;
  std::vector<file::Pair> pairs;
  std::vector<std::uint32_t> ends;
  std::vector<std::uint8_t> flags;
  for (const auto &[inEveryReplica, allReplicas, ofRound] : rounds) {
    for (const auto &[low, high] : ofRound)
      pairs.emplace_back(low, high);
    ends.push_back(static_cast<std::uint32_t>(pairs.size()));
    flags.push_back(allReplicas ? kAllReplicas : std::uint8_t{inEveryReplica});
  }
  const auto pairVector = builder.CreateVectorOfStructs(pairs);
  const auto endVector = builder.CreateVector(ends);
  const auto flagVector = builder.CreateVector(flags);
  builder.Finish(file::CreateConnect(builder, pairVector, endVector, flagVector));
  return builder.Release();
}

flatbuffers::DetachedBuffer encodePredictions(const Predictions &predictions) {
  FlatBufferBuilder builder;
  const auto &[stepUnits, bubble, peakLive, costs, stepSeconds, expectedBubble] = predictions;
  builder.Finish(file::CreatePredictions(builder, stepUnits, bubble, peakLive,
                                         builder.CreateString(costs), stepSeconds, expectedBubble));
  return builder.Release();
}

flatbuffers::DetachedBuffer encodeOrigins(const std::vector<Origin> &origins) {
  FlatBufferBuilder builder;
  std::vector<Offset<file::Origin>> tables;
  for (const auto &[opcode, line, column, length, key] : origins) {
    const auto keyText = builder.CreateString(key);
    tables.push_back(file::CreateOrigin(builder, opcode, line, column, length, keyText));
  }
  builder.Finish(file::CreateOrigins(builder, builder.CreateVector(tables)));
  return builder.Release();
}

} // namespace

flatbuffers::DetachedBuffer encodeTensors(const Plan &plan) {
  FlatBufferBuilder builder;
  std::vector<Offset<file::Tensor>> tensors;
  for (std::uint32_t model = 0; model < plan.models.size(); ++model) {
    const auto &[config, stages, checkpoint, moduleFile, moduleHash, sharded] = plan.models[model];
    if (!check(config).ok())
      continue; // no such model has tensors; the reader will refuse it
    for (std::uint32_t stage = 0; stage < stages.size(); ++stage)
      if (stages[stage].end <= config.layers)
        for (const TensorSpec &tensor : stageSpec(config, stages[stage], {1, 1, 1}).tensors)
          tensors.push_back(encode(builder, tensor, model, stage, config.type));
  }
  builder.Finish(file::CreateTensors(builder, builder.CreateVector(tensors)));
  return builder.Release();
}

PlanParts encodeParts(const Plan &plan) {
  PlanParts result;
  const auto view = [&](file::PartKind kind, std::uint32_t index, std::string_view bytes) {
    result.parts.push_back({kind, index, bytes});
  };
  const auto own = [&](file::PartKind kind, std::uint32_t index,
                       flatbuffers::DetachedBuffer bytes) {
    result.owned.push_back(std::move(bytes));
    view(kind, index, bytesOf(result.owned.back()));
  };
  const auto programs = static_cast<std::uint32_t>(plan.programs.size());
  const auto layouts = static_cast<std::uint32_t>(plan.layouts.size());
  view(file::PartKind::Job, 0, plan.job);
  own(file::PartKind::Common, 0, encodeCommon(plan));
  for (std::uint32_t program = 0; program < programs; ++program)
    own(file::PartKind::Program, program, encodeProgram(plan.programs[program]));
  for (std::uint32_t program = 0; program < programs; ++program)
    view(file::PartKind::Actions, program, bytesOf(plan.programs[program].actions));
  for (std::uint32_t program = 0; program < programs; ++program)
    view(file::PartKind::Operands, program, bytesOf(plan.programs[program].operands));
  for (std::uint32_t layout = 0; layout < layouts; ++layout)
    own(file::PartKind::Layout, layout, encodeLayout(plan.layouts[layout]));
  own(file::PartKind::Tensors, 0, encodeTensors(plan));
  own(file::PartKind::Connect, 0, encodeConnect(plan.connect));
  own(file::PartKind::Predictions, 0, encodePredictions(plan.predictions));
  own(file::PartKind::Origins, 0, encodeOrigins(plan.origins));
  return result;
}

} // namespace vime::plan
