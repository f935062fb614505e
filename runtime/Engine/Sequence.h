// Sequence: one sample of one prompt, from its request to its response.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "runtime/Engine/Draw.h"
#include "runtime/Engine/Sampler.h"

namespace vime {

inline constexpr std::size_t kMostStops = 8;

struct GenerationRequest {
  std::uint64_t prompt = 0; // with `sample` the sequence's name, and with `seed` its draws
  std::uint32_t sample = 0;
  std::uint64_t seed = 0;
  /// The prompt, and behind it what there is of a response that was aborted before.
  std::span<const std::int32_t> tokens;
  std::int32_t continued = 0; // tokens of that response
  std::int32_t mostNew = 0;   // of the whole response, those included
  Sampling sampling;
  std::span<const std::int32_t> stops; // tokens that end the response, as its last one
};

enum class Finish : std::uint8_t { Stop, Length, Aborted };

/// `stop`, `length`, `abort`.
const char *nameOf(Finish finish);

/// What a sequence has. Of a continued response the new part only, but for `tokens`.
struct Response {
  std::uint64_t prompt;
  std::uint32_t sample;
  std::span<const std::int32_t> tokens;                              // all, the prompt's first
  std::span<const std::int32_t> drawn;                               // those that are new
  std::span<const double> logProbabilities, sampledLogProbabilities; // Sampler.h
  std::span<const std::int64_t> versions;                            // of the weights, by token
  Finish finish;                                                     // of a finished sequence
};

/// A slot's part of the records.
struct SequenceRecord {
  std::int32_t *tokens;
  double *logProbabilities, *sampledLogProbabilities;
  std::int64_t *versions;
};

struct Sequence {
  enum class State : std::uint8_t { Free, Live, Finished };
  State state = State::Free;
  Finish finish = Finish::Aborted;
  std::uint64_t prompt = 0, seed = 0;
  std::uint32_t sample = 0;
  std::int32_t given = 0;  // tokens that came with the request
  std::int32_t length = 0; // tokens so far
  std::int32_t cached = 0; // of them, those whose keys and values are there
  std::int32_t most = 0;   // tokens that it may come to
  std::uint64_t arrival = 0;
  bool isCurrent = true; // what is cached is of the weights that are published now
  Sampling sampling;
  std::array<std::int32_t, kMostStops> stops{};
  std::uint32_t stopCount = 0;

  bool isLive() const { return state == State::Live; }
  bool isFinished() const { return state == State::Finished; }
  std::int32_t pending() const { return length - cached; }
  bool isNamed(std::uint64_t ofPrompt, std::uint32_t ofSample) const {
    return state != State::Free && prompt == ofPrompt && sample == ofSample;
  }
  bool stopsAt(std::int32_t token) const;
  /// Of the token behind the last one.
  DrawKey nextDraw() const { return {seed, prompt, sample, std::uint32_t(length)}; }
  Response response(const SequenceRecord &record) const;
};

} // namespace vime
