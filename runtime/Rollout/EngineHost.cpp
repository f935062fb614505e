#include "runtime/Rollout/EngineHost.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "runtime/Plan/BatchCaps.h"

namespace vime {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Status refuse(std::string what) { return {StatusCode::Unacceptable, std::move(what)}; }

const plan::PromptRecord &promptAt(const std::byte *bytes) {
  return *reinterpret_cast<const plan::PromptRecord *>(bytes);
}

Sampling samplingOf(const plan::SamplingSettings &settings) {
  return {.temperature = settings.temperature,
          .topP = settings.topP,
          .topK = static_cast<std::int32_t>(settings.topK)};
}

template <typename Number> void copy(std::span<const Number> from, Number *to) {
  std::copy(from.begin(), from.end(), to);
}

} // namespace

struct EngineHost::Batch {
  std::vector<const std::byte *> prompts; // this engine's, ascending
  std::uint32_t samples = 0;              // of each
  bool isEvaluation = false;
  Sampling sampling;
  std::vector<std::int32_t> stops;

  std::uint32_t count() const { return static_cast<std::uint32_t>(prompts.size()) * samples; }
  const std::byte *promptOf(std::uint32_t place) const { return prompts[place / samples]; }
};

StatusOr<std::unique_ptr<EngineHost>> EngineHost::make(const plan::Plan &plan, std::uint32_t rank,
                                                       const Kernels &kernels, std::byte *records) {
  if (!plan.mesh.isEngine(rank) || !records)
    return refuse(fmt::format("rank {} is no engine of the plan, or has no records", rank));
  const plan::Model &model = plan.models.front();
  StatusOr<std::unique_ptr<Engine>> engine =
      Engine::make(model.config, model.stages, plan::capsOf(plan.round.rollout), kernels, records);
  if (!engine.ok())
    return refuse(engine.status().message());
  return std::unique_ptr<EngineHost>(
      new EngineHost(plan, rank - plan.mesh.trainers(), std::move(*engine)));
}

EngineHost::EngineHost(const plan::Plan &plan, std::uint32_t engine, std::unique_ptr<Engine> core)
    : settings(plan.round), seed(plan.run.seed), own(engine),
      vocabulary(plan.models.front().config.vocab), engine(std::move(core)),
      placeOf(plan.round.rollout.slots) {}

Status EngineHost::wake(std::byte *cache) { return engine->wake(cache); }

Status EngineHost::pause() {
  pausedAt = now();
  return engine->pause(Pause::Abort);
}

Status EngineHost::flush() { return engine->flush(); }

Status EngineHost::install(std::uint32_t stage, const std::byte *weights) {
  return engine->install(stage, weights);
}

Status EngineHost::publish(std::int64_t version) { return engine->publish(version); }

Status EngineHost::resume() {
  syncSeconds = now() - pausedAt;
  return engine->resume();
}

StatusOr<EngineHost::Batch> EngineHost::read(const std::byte *prompts) const {
  const plan::RolloutSettings &rollout = settings.rollout;
  const auto &header = *reinterpret_cast<const plan::BatchHeader *>(prompts);
  const bool isEvaluation = header.isEvaluation == 1;
  const std::uint32_t expected = isEvaluation ? settings.evaluation.count : rollout.candidates;
  const bool isReplayed = !isEvaluation && header.count == 0; // the round comes from a dump
  if (header.isEvaluation > 1 || (header.count != expected && !isReplayed))
    return refuse(fmt::format("{} prompts came, expected {}", header.count, expected));
  Batch batch{.samples = isEvaluation ? settings.evaluation.samples : rollout.samples,
              .isEvaluation = isEvaluation,
              .sampling =
                  samplingOf(isEvaluation ? settings.evaluation.sampling : rollout.sampling),
              .stops = {rollout.stops.begin(), rollout.stops.end()}};
  for (std::uint64_t index = own; index < header.count; index += rollout.engines) {
    const std::byte *const at = plan::recordAt(prompts, plan::promptStride(rollout), index);
    const plan::PromptRecord &prompt = promptAt(at);
    if (prompt.samples != batch.samples)
      return refuse(fmt::format("{} samples of draw {} are wanted, expected {}", prompt.samples,
                                prompt.draw, batch.samples));
    if (!batch.prompts.empty() && prompt.draw <= promptAt(batch.prompts.back()).draw)
      return refuse(fmt::format("draw {} comes behind draw {}, expected them to ascend",
                                prompt.draw, promptAt(batch.prompts.back()).draw));
    if (prompt.tokens < 1 || prompt.tokens > rollout.maxPrompt)
      return refuse(fmt::format("the prompt of draw {} has {} tokens, expected 1 to {}",
                                prompt.draw, prompt.tokens, rollout.maxPrompt));
    batch.prompts.push_back(at);
  }
  return batch;
}

/// The engine copies what it is given, and looks at it: no token is read that it has no word for.
Status EngineHost::admit(const Batch &batch, std::uint32_t place) {
  const std::byte *const at = batch.promptOf(place);
  const plan::PromptRecord &prompt = promptAt(at);
  const auto *tokens = reinterpret_cast<const std::int32_t *>(at + sizeof(plan::PromptRecord));
  const StatusOr<int> slot =
      engine->admit({.prompt = prompt.draw,
                     .sample = place % batch.samples,
                     .seed = seed,
                     .tokens = {tokens, prompt.tokens},
                     .mostNew = static_cast<std::int32_t>(settings.rollout.maxNew),
                     .sampling = batch.sampling,
                     .stops = batch.stops});
  if (!slot.ok()) // what came is wrong, no file of the user's
    return slot.status().code() == StatusCode::InvalidInput ? refuse(slot.status().message())
                                                            : slot.status();
  placeOf[static_cast<std::size_t>(*slot)] = place;
  return Status();
}

Status EngineHost::takeFinished(const Batch &batch, std::byte *samples, std::uint32_t &finished) {
  const plan::RolloutSettings &rollout = settings.rollout;
  while (const std::optional<int> slot = engine->finishedSlot()) {
    const Response response = engine->response(*slot);
    const std::uint32_t place = placeOf[static_cast<std::size_t>(*slot)];
    std::byte *const record = plan::recordAt(samples, plan::sampleStride(rollout), place);
    const plan::PromptRecord &prompt = promptAt(batch.promptOf(place));
    *reinterpret_cast<plan::SampleRecord *>(record) = {
        .draw = prompt.draw,
        .prompt = prompt.prompt,
        .sample = response.sample,
        .promptTokens = prompt.tokens,
        .tokens = static_cast<std::uint32_t>(response.tokens.size()),
        .finish = static_cast<std::uint32_t>(response.finish),
        .version = response.versions.empty() ? 0 : response.versions.front()};
    copy(response.logProbabilities, plan::logProbabilitiesOf(record));
    copy(response.sampledLogProbabilities, plan::sampledOf(record, rollout));
    copy(response.tokens, plan::tokensOf(record, rollout));
    if (Status status = engine->release(*slot); !status.ok())
      return status;
    ++finished;
  }
  return Status();
}

Status EngineHost::run(const Batch &batch, std::byte *workspace, std::byte *samples,
                       const GoesOn &goesOn) {
  const std::uint32_t count = batch.count();
  for (std::uint32_t admitted = 0, finished = 0; finished < count;) {
    for (std::uint32_t free = engine->freeSlots(); free > 0 && admitted < count; --free)
      if (Status status = admit(batch, admitted++); !status.ok())
        return status;
    const StatusOr<StepCounts> done = engine->step(workspace);
    if (!done.ok())
      return done.status();
    if (done->rows == 0)
      return Status(StatusCode::Internal,
                    fmt::format("the engine stands still with {} of {} samples", finished, count));
    if (Status status = takeFinished(batch, samples, finished); !status.ok())
      return status;
    if (!goesOn())
      return Status(StatusCode::Interrupted, "stopped because the run is over");
  }
  return Status();
}

Status EngineHost::generate(const std::byte *prompts, std::byte *workspace, std::byte *samples,
                            const GoesOn &goesOn) {
  const double start = now();
  const StatusOr<Batch> batch = read(prompts);
  if (!batch.ok())
    return batch.status();
  if (Status status = run(*batch, workspace, samples, goesOn); !status.ok())
    return status;
  *reinterpret_cast<plan::BatchHeader *>(samples) = {
      .count = batch->count(),
      .isEvaluation = batch->isEvaluation ? std::uint64_t{1} : std::uint64_t{0},
      .generationSeconds = now() - start,
      .syncSeconds = syncSeconds};
  return Status();
}

} // namespace vime
