// Which sequences there are.
#include "runtime/Engine/Engine.h"

#include <algorithm>

#include <fmt/format.h>

namespace vime {
namespace {

Status refuse(std::string text) { return Status(StatusCode::InvalidInput, std::move(text)); }

std::unique_ptr<std::byte[]> makeRopeTable(const ModelConfig &config, EngineCaps caps,
                                           const Kernels &kernels) {
  auto table = std::make_unique<std::byte[]>(std::size_t(caps.rows) * config.headWidth *
                                             sizeOf(kernels.sumType()));
  kernels.ropeTable(caps.rows, std::int32_t(config.headWidth), config.ropeTheta, table.get());
  return table;
}

} // namespace

StatusOr<std::unique_ptr<Engine>> Engine::make(const ModelConfig &config,
                                               std::span<const StageRange> stages, EngineCaps caps,
                                               const Kernels &kernels, void *records) {
  for (Status status : {check(config), check(caps), checkStages(config, stages)})
    if (!status.ok())
      return status;
  if (!isDecoder(config.family))
    return refuse(fmt::format("the family `{}` generates nothing", nameOf(config.family)));
  if (kernels.type() != config.type)
    return refuse(
        fmt::format("a {} model on {} kernels", nameOf(config.type), nameOf(kernels.type())));
  return std::unique_ptr<Engine>(new Engine(config, stages, caps, kernels, records));
}

Engine::Engine(const ModelConfig &config, std::span<const StageRange> stages, EngineCaps caps,
               const Kernels &kernels, void *records)
    : config(config), caps(caps), regions(engineRegions(config, caps)), kernels(kernels),
      ropeTable(makeRopeTable(config, caps, kernels)),
      layer(this->config, kernels, ropeTable.get(), /*hasFewTokens=*/true),
      records(static_cast<std::byte *>(records)), sequences(caps.slots), weights(config, stages) {
  order.reserve(caps.slots);
  parts.reserve(caps.slots);
  ends.reserve(caps.slots);
}

std::uint32_t Engine::freeSlots() const {
  return std::uint32_t(std::count_if(sequences.begin(), sequences.end(), [](const Sequence &one) {
    return one.state == Sequence::State::Free;
  }));
}

Status Engine::checkFits(const GenerationRequest &request) const {
  const auto named = [&] {
    return fmt::format("sample {} of prompt {}", request.sample, request.prompt);
  };
  const auto given = std::int64_t(request.tokens.size());
  if (request.continued < 0 || request.continued >= given)
    return refuse(fmt::format("{} has {} tokens, {} of them of its response", named(), given,
                              request.continued));
  if (request.mostNew <= request.continued)
    return refuse(fmt::format("{} may have {} new tokens and has {}", named(), request.mostNew,
                              request.continued));
  if (const std::int64_t all = given - request.continued + request.mostNew; all > caps.rows)
    return refuse(fmt::format("{} has a prompt of {} tokens and up to {} new ones, room for {}",
                              named(), given - request.continued, request.mostNew, caps.rows));
  if (request.stops.size() > kMostStops)
    return refuse(fmt::format("{} stops at any of {} tokens, room for {}", named(),
                              request.stops.size(), kMostStops));
  for (const std::int32_t token : request.tokens)
    if (token < 0 || std::uint32_t(token) >= config.vocab)
      return refuse(
          fmt::format("{} has token {} of a vocabulary of {}", named(), token, config.vocab));
  for (const Sequence &other : sequences)
    if (other.isNamed(request.prompt, request.sample))
      return refuse(fmt::format("{} is there already", named()));
  return check(request.sampling);
}

StatusOr<int> Engine::admit(const GenerationRequest &request) {
  const auto free = std::find_if(sequences.begin(), sequences.end(), [](const Sequence &one) {
    return one.state == Sequence::State::Free;
  });
  if (free == sequences.end())
    return Status(StatusCode::Internal, fmt::format("all {} slots are taken", caps.slots));
  if (Status status = checkFits(request); !status.ok())
    return status;
  const int slot = int(free - sequences.begin());
  const auto given = std::int32_t(request.tokens.size());
  *free = {.state = Sequence::State::Live,
           .prompt = request.prompt,
           .seed = request.seed,
           .sample = request.sample,
           .given = given,
           .length = given,
           .most = given - request.continued + request.mostNew,
           .arrival = arrivals++,
           .sampling = request.sampling,
           .stopCount = std::uint32_t(request.stops.size())};
  std::copy(request.stops.begin(), request.stops.end(), free->stops.begin());
  std::copy(request.tokens.begin(), request.tokens.end(), recordOf(slot).tokens);
  order.push_back(slot);
  return slot;
}

std::optional<int> Engine::finishedSlot() const {
  const auto found = std::find_if(sequences.begin(), sequences.end(),
                                  [](const Sequence &one) { return one.isFinished(); });
  return found == sequences.end() ? std::nullopt : std::optional(int(found - sequences.begin()));
}

SequenceRecord Engine::recordOf(int slot) const {
  std::byte *record = records + std::uint64_t(slot) * regions.slotRecord;
  return {reinterpret_cast<std::int32_t *>(record + regions.tokens),
          reinterpret_cast<double *>(record + regions.logProbabilities),
          reinterpret_cast<double *>(record + regions.sampledLogProbabilities),
          reinterpret_cast<std::int64_t *>(record + regions.versions)};
}

Response Engine::response(int slot) const {
  return sequences[std::size_t(slot)].response(recordOf(slot));
}

Status Engine::release(int slot) {
  if (slot < 0 || std::uint32_t(slot) >= caps.slots || !isFinished(slot))
    return Status(StatusCode::Internal,
                  fmt::format("slot {} is released, whose sequence has not finished", slot));
  sequences[std::size_t(slot)] = {};
  return Status();
}

int Engine::abort(std::uint64_t prompt, std::optional<std::uint32_t> sample) {
  int count = 0;
  for (Sequence &sequence : sequences)
    if (sequence.isLive() && sequence.prompt == prompt && (!sample || sequence.sample == *sample)) {
      finish(sequence, Finish::Aborted);
      ++count;
    }
  return count;
}

void Engine::finish(Sequence &sequence, Finish reason) {
  sequence.state = Sequence::State::Finished;
  sequence.finish = reason;
  order.erase(std::find(order.begin(), order.end(), int(&sequence - sequences.data())));
}

} // namespace vime
