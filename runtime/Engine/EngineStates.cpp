// The states of an engine, and what may follow what.
#include "runtime/Engine/Engine.h"

#include <fmt/format.h>

namespace vime {
namespace {

/// A plan that was proved does not come to this.
Status wrongOrder(std::string text) { return Status(StatusCode::Internal, std::move(text)); }

} // namespace

std::optional<std::int64_t> Engine::version() const {
  return published ? std::optional(lastVersion) : std::nullopt;
}

Status Engine::pause(Pause kind) {
  paused = true;
  if (kind == Pause::Abort)
    while (!order.empty())
      finish(sequences[std::size_t(order.back())], Finish::Aborted);
  return Status();
}

Status Engine::flush() {
  if (!paused)
    return wrongOrder("the cache is flushed while the engine runs");
  for (Sequence &sequence : sequences) {
    sequence.cached = 0;
    sequence.isCurrent = true;
  }
  return Status();
}

Status Engine::resume() {
  if (!isAwake())
    return wrongOrder("the engine is resumed while it sleeps");
  if (!published)
    return wrongOrder(weights.isEmpty() ? "the engine is resumed without weights"
                                        : "the engine is resumed before its weights are published");
  paused = false;
  return Status();
}

Status Engine::sleep() {
  if (!isAwake())
    return wrongOrder("the engine is put to sleep while it sleeps");
  if (!paused)
    return wrongOrder("the engine is put to sleep while it runs");
  cache = nullptr;
  return flush();
}

Status Engine::wake(void *memory) {
  if (isAwake())
    return wrongOrder("the engine is woken while it is awake");
  if (!memory)
    return wrongOrder("the engine is woken without a cache");
  cache = static_cast<std::byte *>(memory);
  return Status();
}

Status Engine::install(std::uint32_t stage, const void *memory) {
  if (!paused)
    return wrongOrder("weights are installed while the engine runs");
  if (stage >= weights.count())
    return wrongOrder(fmt::format("stage {} of {} is installed", stage, weights.count()));
  if (!memory)
    return wrongOrder(fmt::format("stage {} is installed without weights", stage));
  weights.install(stage, memory);
  published = false;
  return Status();
}

Status Engine::publish(std::int64_t version) {
  if (!paused)
    return wrongOrder(fmt::format("version {} is published while the engine runs", version));
  if (const std::optional<std::uint32_t> missing = weights.missing())
    return wrongOrder(
        fmt::format("version {} is published without new weights of stage {}", version, *missing));
  if (version <= lastVersion)
    return wrongOrder(
        fmt::format("version {} is published after version {}", version, lastVersion));
  lastVersion = version;
  published = true;
  weights.publish();
  for (Sequence &sequence : sequences)
    sequence.isCurrent = sequence.cached == 0;
  return Status();
}

} // namespace vime
