#include "compiler/Lowering/RolloutWriter.h"

#include <fmt/format.h>

#include "runtime/ModelSpec/Copies.h"
#include "runtime/ModelSpec/StageShare.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/RolloutRecords.h"

namespace vime {

using namespace plan;

namespace {

constexpr std::uint32_t kCoordinator = 0;

std::vector<std::uint32_t> withEngines(const Mesh &mesh, std::uint32_t rank) {
  std::vector<std::uint32_t> members = {rank};
  for (std::uint32_t engine = mesh.trainers(); engine < mesh.ranks(); ++engine)
    members.push_back(engine);
  return members;
}

} // namespace

RolloutGroups addRolloutGroups(Plan &plan, const Message &header) {
  const auto place = [&] { return static_cast<std::uint32_t>(plan.groups.size()); };
  const auto bytes = [](std::size_t count) {
    return Message{.type = DataType::Byte, .fixed = static_cast<std::uint32_t>(count)};
  };
  const auto add = [&](std::string name, Flow flow, Collective operation, Message message,
                       std::uint32_t rank) {
    plan.groups.push_back({.name = std::move(name),
                           .flow = flow,
                           .operation = operation,
                           .axes = 0,
                           .message = message,
                           .members = withEngines(plan.mesh, rank)});
    return place() - 1;
  };
  RolloutGroups groups{};
  groups.header = add("rounds", Flow::Control, Collective::Broadcast, header, kCoordinator);
  groups.prompts = add("prompts", Flow::Data, Collective::Broadcast,
                       bytes(promptsBytes(plan.round)), kCoordinator);
  groups.samples =
      add("samples", Flow::Data, Collective::Gather, bytes(samplesBytes(plan.round)), kCoordinator);
  if (plan.mesh.data > 1) {
    groups.round = place();
    plan.groups.push_back({.name = "round",
                           .flow = Flow::Data,
                           .operation = Collective::Broadcast,
                           .axes = bitOf(Axis::Data),
                           .message = bytes(roundBytes(plan.round))});
  }
  groups.sync = place();
  const Message bucket{.type = plan.models.front().config.type,
                       .fixed = static_cast<std::uint32_t>(plan.round.sync.bucket)};
  for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank)
    add(fmt::format("sync {}", rank), Flow::Weights, Collective::BroadcastWeights, bucket, rank);
  return groups;
}

void RolloutWriter::placeStages(Plan &to) const {
  std::vector<LocalStage> all;
  for (std::uint32_t stage = 0; stage < depthOf(plan.models.front().stages); ++stage)
    all.push_back({.model = 0, .stage = stage});
  forEachEngine([&](std::uint32_t rank) { to.programs[rank].stages = all; });
}

void RolloutWriter::wake() {
  forEachEngine([&](std::uint32_t rank) { programs.local(rank, Opcode::Wake); });
}

void RolloutWriter::shareHeader() {
  programs.collective(Opcode::Broadcast, groups.header, kCoordinator, Waiting::AllButRoot);
}

void RolloutWriter::sync(bool behindLastRound) {
  forEachEngine([&](std::uint32_t rank) {
    programs.local(rank, Opcode::Pause);
    programs.local(rank, Opcode::Flush);
  });
  for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank)
    for (std::uint32_t chunk = 0; chunk < localStages[rank].size(); ++chunk)
      if (isTrained(localStages[rank][chunk]))
        sendStage(rank, chunk);
  forEachEngine([&](std::uint32_t rank) {
    for (std::uint32_t stage = 0; stage < depthOf(plan.models.front().stages); ++stage)
      programs.local(rank, Opcode::Install, stage);
    programs.local(rank, Opcode::Publish, 0, {}, behindLastRound ? kBehindLastRound : 0);
    programs.local(rank, Opcode::Resume);
  });
}

void RolloutWriter::sendStage(std::uint32_t rank, std::uint32_t chunk) {
  const Model &model = plan.models.front();
  const std::uint32_t stage = localStages[rank][chunk].stage;
  const StageSpec spec = stageSpec(model.config, model.stages[stage], {1, 1, 1});
  const std::uint64_t bytes = regionsOf(spec, model.config.type, /*sharers=*/1).weightBytes;
  std::vector<ProgramWriter::End> members = {{rank, chunk}};
  forEachEngine([&](std::uint32_t engine) { members.push_back({engine, stage}); });
  for (std::uint64_t part = 0; part * plan.round.sync.bucket < bytes; ++part)
    programs.collective(Opcode::BroadcastWeights, groups.sync + rank, members, Waiting::Nobody,
                        static_cast<std::uint16_t>(part));
}

void RolloutWriter::generate() { exchange(Opcode::DrawPrompts, Opcode::Score); }

void RolloutWriter::evaluate() { exchange(Opcode::DrawEvaluation, Opcode::ScoreEvaluation); }

void RolloutWriter::exchange(Opcode draw, Opcode score) {
  programs.local(kCoordinator, draw);
  programs.collective(Opcode::Broadcast, groups.prompts, kCoordinator);
  forEachEngine([&](std::uint32_t rank) { programs.local(rank, Opcode::Generate); });
  programs.collective(Opcode::Gather, groups.samples, kCoordinator);
  programs.local(kCoordinator, score);
}

} // namespace vime
