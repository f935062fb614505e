#include "compiler/Lowering/FinishPlan.h"

#include <algorithm>
#include <set>

#include "runtime/Plan/Describe.h"

namespace vime {
namespace {

using Edge = std::array<std::uint32_t, 2>;

// Pairs of ranks that exchange anything: ends of channels, and each member of a group with its
// root.
std::set<Edge> edgesOf(const plan::Plan &plan) {
  std::set<Edge> edges;
  for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
    for (const plan::Lane &lane : plan::programOf(plan, rank)->lanes)
      if (lane.kind == plan::LaneKind::Send || lane.kind == plan::LaneKind::Receive) {
        const std::uint32_t peer = plan::resolvePeer(plan.mesh, rank, lane.peer);
        edges.insert({std::min(rank, peer), std::max(rank, peer)});
      }
  for (const plan::Group &group : plan.groups)
    for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
      if (rank != group.root)
        edges.insert({std::min(rank, group.root), std::max(rank, group.root)});
  return edges;
}

// Each edge in the first round in which both its ranks are free.
std::vector<plan::ConnectRound> roundsOf(const std::set<Edge> &edges, std::uint32_t ranks) {
  std::vector<plan::ConnectRound> rounds;
  std::vector<std::vector<char>> busy; // [round][rank]
  for (const Edge &edge : edges) {
    std::size_t round = 0;
    while (round < rounds.size() && (busy[round][edge[0]] || busy[round][edge[1]]))
      ++round;
    if (round == rounds.size()) {
      rounds.emplace_back();
      busy.emplace_back(ranks, 0);
    }
    rounds[round].pairs.push_back(edge);
    busy[round][edge[0]] = busy[round][edge[1]] = 1;
  }
  return rounds;
}

std::vector<plan::Origin> originsOf(const Job &job) {
  using plan::Opcode;
  std::vector<plan::Origin> origins;
  auto comesFrom = [&](std::string key, const SourceSpan &span,
                       std::initializer_list<Opcode> opcodes) {
    for (const Opcode opcode : opcodes)
      origins.push_back({.opcode = plan::code(opcode),
                         .line = static_cast<std::uint32_t>(span.line),
                         .column = static_cast<std::uint32_t>(span.column),
                         .length = static_cast<std::uint32_t>(span.length),
                         .key = key});
  };
  comesFrom("pipeline.schedule", job.pipeline.schedule.span,
            {Opcode::Forward, Opcode::Backward, Opcode::BackwardInput, Opcode::BackwardWeight,
             Opcode::Send, Opcode::Receive, Opcode::Copy, Opcode::Join});
  comesFrom("roles.actor.model", job.actor.model.span, {Opcode::Loss, Opcode::Initialize});
  comesFrom("optimizer.clip", job.optimizer.clip.span,
            {Opcode::SquareNorm, Opcode::AllGather, Opcode::Clip});
  comesFrom("optimizer.kind", job.optimizer.kind.span, {Opcode::ScaleGradients, Opcode::Optimize});
  comesFrom("data.text", job.data.text.span, {Opcode::Load});
  comesFrom("run.steps", job.run.steps.span,
            {Opcode::Decide, Opcode::Broadcast, Opcode::Gather, Opcode::Measure, Opcode::Report});
  comesFrom("run.export", job.run.exportTo.span, {Opcode::ExportShard, Opcode::ExportCommit});
  const Job::NamedModel &model = *job.model(job.actor.model.value);
  if (const auto tied = model.origins.find("tied"); tied != model.origins.end())
    comesFrom("models." + model.name + ".tied", tied->second.span, {Opcode::AddTied});
  comesFrom("checkpoint.dir", job.checkpoint.directory.span,
            {Opcode::Snapshot, Opcode::CheckpointShard, Opcode::CheckpointCommit});
  std::sort(origins.begin(), origins.end(),
            [](const auto &a, const auto &b) { return a.opcode < b.opcode; });
  return origins;
}

} // namespace

void finishPlan(plan::Plan &plan, const Job &job, const TextFacts &text,
                std::string compilerVersion) {
  plan.compiler = std::move(compilerVersion);
  plan.job = resolvedText(job);
  plan.data = {.text = job.data.text.value,
               .textBytes = text.bytes,
               .textHash = text.hash,
               .sequence = job.data.sequence.value,
               .samples = job.pipeline.samples.value,
               .microbatches = job.pipeline.microbatches.value};
  plan.optimizer = {.learningRate = job.optimizer.learningRate.value,
                    .beta1 = job.optimizer.beta1.value,
                    .beta2 = job.optimizer.beta2.value,
                    .epsilon = job.optimizer.epsilon.value,
                    .weightDecay = job.optimizer.weightDecay.value,
                    .clip = job.optimizer.clip.value};
  plan.checkpoint = {.directory = job.checkpoint.directory.value,
                     .every = job.checkpoint.every.value,
                     .keep = job.checkpoint.keep.value};
  plan.run = {.name = job.name.value,
              .steps = job.run.steps.value,
              .seed = job.run.seed.value,
              .exportTo = job.run.exportTo.value};
  const std::uint64_t device = job.cluster.memory.value, stated = job.pipeline.memoryLimit.value;
  plan.limits = {.transferSeconds = job.limits.transferSeconds.value,
                 .memoryBytes =
                     device && stated ? std::min(device, stated) : std::max(device, stated)};
  plan.connect = roundsOf(edgesOf(plan), plan.mesh.ranks());
  plan.origins = originsOf(job);
}

} // namespace vime
