#include "runtime/Exec/RankRun.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "runtime/Exec/CertificateCheck.h"
#include "runtime/Exec/Executor.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

std::vector<MessageSize> messagesOf(const plan::Plan &plan, const plan::Program &program) {
  std::vector<MessageSize> messages;
  for (const plan::Lane &lane : program.lanes) {
    const bool isGroup = lane.kind == plan::LaneKind::Group;
    const plan::Message &message = isGroup ? plan.groups[lane.group].message : lane.message;
    messages.push_back({message.fixed, message.perToken});
  }
  return messages;
}

bool runs(const plan::Program &program, plan::Opcode opcode) {
  return std::any_of(
      program.actions.begin(), program.actions.end(),
      [opcode](const plan::Action &action) { return action.opcode == plan::code(opcode); });
}

} // namespace

StatusOr<std::unique_ptr<RankRun>> RankRun::prepare(const RankJob &job) {
  if (Status status = checkCertificate(job.plan, job.rank); !status.ok())
    return status;
  std::unique_ptr<RankRun> run(new RankRun(job));
  StatusOr<RankEnds> ends = endsOf(job.plan, job.rank);
  if (!ends.ok())
    return ends.status();
  run->rankEnds = std::move(*ends);
  StatusOr<RankModel> model = makeRankModel(job.plan, job.rank, job.base, job.isa);
  if (!model.ok())
    return model.status();
  run->model = std::move(*model);
  if (Status status = run->openFiles(); !status.ok())
    return status;
  const plan::Layout &layout = *plan::layoutOf(job.plan, job.rank);
  if (Status status = run->reserve(layout); !status.ok())
    return status;
  if (job.plan.mesh.isEngine(job.rank)) {
    StatusOr<std::unique_ptr<EngineHost>> engine = EngineHost::make(
        job.plan, job.rank, *run->model.kernels, run->bufferOf(layout, plan::BufferKind::Records));
    if (!engine.ok())
      return engine.status();
    run->engine = std::move(*engine);
  }
  const ArenaBases bases{run->arenas[0].data(), run->arenas[1].data()};
  StatusOr<ResolvedProgram> program =
      resolve(*plan::programOf(job.plan, job.rank), layout, job.plan.data, bases,
              job.probe && job.probe->routines ? *job.probe->routines : trainingRoutines());
  if (!program.ok())
    return program.status();
  run->program = std::move(*program);
  if (!job.trace.folder.empty())
    run->tracer = std::make_unique<trace::Tracer>(job.trace, *plan::programOf(job.plan, job.rank));
  if (job.probe && job.probe->reserved)
    job.probe->reserved(job.rank, bases);
  return run;
}

/// What the run goes on from, the text where it is read and, on the coordinator, the place to save
/// itself.
Status RankRun::openFiles() {
  StatusOr<std::optional<Checkpoint>> resume = openResume(job.plan, job.resume);
  if (!resume.ok())
    return resume.status();
  model.resume = std::move(*resume);
  if (Status status = checkResume(); !status.ok())
    return status;
  if (Status status = openData(); !status.ok())
    return status;
  if (job.rank != 0)
    return Status();
  coordinator = std::make_unique<Coordinator>(job.plan, job.observer);
  if (model.resume)
    coordinator->resume(model.resume->manifest().progress);
  if (model.checkpointTo.empty())
    return Status();
  StatusOr<CheckpointClaim> claimed =
      CheckpointClaim::take(model.checkpointTo, job.resume.kind != ResumeWish::Kind::No);
  if (!claimed.ok())
    return claimed.status();
  claim = std::move(*claimed);
  return Status();
}

Status RankRun::checkResume() const {
  const std::uint64_t steps = model.resume ? model.resume->manifest().progress.steps : 0;
  if (steps == 0)
    return Status();
  const plan::Program &program = *plan::programOf(job.plan, job.rank);
  if (program.loops.empty() || !isLoopOverSteps(job.plan, program, program.loops.front()))
    return Status(StatusCode::Unacceptable,
                  "this plan cannot go on from a checkpoint: its steps are not one loop");
  if (const std::uint32_t ofRound = job.plan.round.rollout.steps;
      plan::hasRounds(job.plan) && steps % ofRound != 0)
    return Status(StatusCode::Unacceptable,
                  fmt::format("the checkpoint is of step {}, within a round of {}, whose samples "
                              "are gone\nhelp: go on from one that begins a round",
                              steps, ofRound));
  return Status();
}

/// Where samples or prompts are read.
Status RankRun::openData() {
  const plan::Program &program = *plan::programOf(job.plan, job.rank);
  if (runs(program, plan::Opcode::DrawPrompts) || runs(program, plan::Opcode::DrawEvaluation)) {
    StatusOr<RoundSources> opened = openRounds(job.plan, job.base, job.replay);
    if (!opened.ok())
      return opened.status();
    rounds = std::move(*opened);
  }
  if (runs(program, plan::Opcode::Load)) {
    StatusOr<TextDataset> opened = openText(job.plan, job.base);
    if (!opened.ok())
      return opened.status();
    text = std::move(*opened);
  }
  if (runs(program, plan::Opcode::LoadEvaluation)) {
    StatusOr<TextDataset> opened = openHeldOut(job.plan, job.base);
    if (!opened.ok())
      return opened.status();
    heldOut = std::move(*opened);
  }
  return Status();
}

Status RankRun::reserve(const plan::Layout &layout) {
  for (std::size_t tier = 0; tier < arenas.size(); ++tier) {
    StatusOr<Arena> arena = Arena::reserve(layout.arena[tier], job.edge);
    if (!arena.ok())
      return arena.status();
    arenas[tier] = std::move(*arena);
  }
  return Status();
}

/// Also of a run that failed: as far as it came.
Status RankRun::writeTrace() const {
  const std::int64_t now = flight::now();
  const auto wall = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  return trace::writeTrace({.planId = job.planId,
                            .rank = job.rank,
                            .ranks = job.plan.mesh.ranks(),
                            .startedAt = now,
                            .startedWall = wall.count(),
                            .lost = tracer->lost(),
                            .actions = tracer->take()},
                           job.trace.folder + "/" + trace::traceNameOf(job.rank));
}

/// A run that is resumed behind its last step receives no header any more, and evaluates all the
/// same.
void RankRun::rememberRound(std::uint64_t steps) const {
  std::byte *const header = bufferOf(*plan::layoutOf(job.plan, job.rank), plan::BufferKind::Header);
  if (header && steps > 0 && plan::hasRounds(job.plan))
    reinterpret_cast<plan::StepHeader *>(header)->round =
        (steps - 1) / job.plan.round.rollout.steps;
}

std::byte *RankRun::bufferOf(const plan::Layout &layout, plan::BufferKind kind) const {
  for (const plan::Buffer &buffer : layout.buffers)
    if (buffer.kind == kind)
      return arenas[static_cast<std::size_t>(buffer.tier)].data() + buffer.offset;
  return nullptr;
}

Status RankRun::execute(Transport &transport, Sleeper &sleeper) {
  if (job.recorder)
    job.recorder->enter(flight::State::Connecting);
  const std::uint64_t firstStep = model.resume ? model.resume->manifest().progress.steps : 0;
  agreement =
      std::make_unique<Agreement>(rankEnds, claimsOf(job.plan, job.rank, job.planId, firstStep));
  if (Status status = agreement->reach(transport); !status.ok())
    return status;
  const plan::Program &own = *plan::programOf(job.plan, job.rank);
  const plan::Layout &layout = *plan::layoutOf(job.plan, job.rank);
  RankState state{.plan = job.plan, .program = own, .layout = layout, .rank = job.rank};
  state.transport = &transport;
  state.model = &model;
  state.coordinator = coordinator.get();
  state.text = text ? &*text : nullptr;
  state.heldOut = heldOut ? &*heldOut : nullptr;
  state.rounds = rounds ? &*rounds : nullptr;
  state.engine = engine.get();
  state.sleeper = &sleeper;
  state.header =
      reinterpret_cast<const plan::StepHeader *>(bufferOf(layout, plan::BufferKind::Header));
  rememberRound(firstStep);
  state.scalars =
      reinterpret_cast<const plan::StepScalars *>(bufferOf(layout, plan::BufferKind::Scalars));
  state.messages = messagesOf(job.plan, own);
  state.recorder = job.recorder;
  state.tracer = tracer.get();
  state.firstStep = static_cast<std::uint32_t>(firstStep);
  state.saving.plan = plan::toHex(job.planId);
  Executor executor(state, std::move(program), sleeper, /*finishedBefore=*/1);
  Status status = executor.run();
  ownFailure = executor.failedItself();
  if (!status.ok()) { // now: a worker that still does something holds the executor's end up
    transport.abort();
    if (rounds)
      rounds->reward->cancel();
  }
  if (tracer)
    if (Status written = writeTrace(); status.ok())
      return written;
  return status;
}

} // namespace vime
