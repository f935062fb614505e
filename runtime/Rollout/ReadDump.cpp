#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/Data/TextFile.h"
#include "runtime/Engine/Sequence.h"
#include "runtime/Rollout/CompleteRound.h"
#include "runtime/Rollout/RoundDump.h"

namespace vime {
namespace {

using Json = nlohmann::json;

Status refuse(std::string what) { return {StatusCode::InvalidInput, std::move(what)}; }

/// Values of a line; the first that is not as it should be is kept as an error.
class Line {
public:
  explicit Line(std::string_view text) : json(Json::parse(text, nullptr, false)) {
    if (!json.is_object())
      fault = "no JSON object";
  }
  const std::optional<std::string> &wrong() const { return fault; }
  void complain(std::string what) {
    if (!fault)
      fault = std::move(what);
  }

  std::uint64_t natural(const char *key,
                        std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    const Json *value = find(key);
    if (value && value->is_number_unsigned() && value->get<std::uint64_t>() <= most)
      return value->get<std::uint64_t>();
    complain(fmt::format("`{}` is no whole number from 0 to {}", key, most));
    return 0;
  }
  bool truth(const char *key) {
    const Json *value = find(key);
    if (value && value->is_boolean())
      return value->get<bool>();
    complain(fmt::format("`{}` is neither true nor false", key));
    return false;
  }
  double number(const char *key) {
    const Json *value = find(key);
    return asNumber(value ? *value : Json(), key);
  }
  Finish finish() {
    const Json *value = find("finish");
    for (const Finish finish : {Finish::Stop, Finish::Length, Finish::Aborted})
      if (value && *value == nameOf(finish))
        return finish;
    complain("`finish` is none of stop, length and abort");
    return Finish::Aborted;
  }
  std::uint64_t lengthOf(const char *key) {
    const Json *list = find(key);
    return list && list->is_array() ? list->size() : 0;
  }
  void tokens(const char *key, std::uint32_t count, std::uint32_t vocabulary, std::int32_t *to) {
    const Json *list = findList(key, count);
    for (std::uint32_t index = 0; list && index < count; ++index) {
      const Json &token = (*list)[index];
      if (!token.is_number_unsigned() || token.get<std::uint64_t>() >= vocabulary)
        return complain(
            fmt::format("`{}` has no token from 0 to {} at place {}", key, vocabulary - 1, index));
      to[index] = token.get<std::int32_t>();
    }
  }
  void numbers(const char *key, std::uint32_t count, double *to) {
    const Json *list = findList(key, count);
    for (std::uint32_t index = 0; list && index < count; ++index)
      to[index] = asNumber((*list)[index], key);
  }

private:
  const Json *find(const char *key) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found == json.end() ? nullptr : &*found;
  }
  const Json *findList(const char *key, std::uint32_t count) {
    const Json *list = find(key);
    if (list && list->is_array() && list->size() == count)
      return list;
    complain(fmt::format("`{}` is no list of {}", key, count));
    return nullptr;
  }
  double asNumber(const Json &value, const char *key) {
    if (value.is_number() && std::isfinite(value.get<double>()))
      return value.get<double>();
    complain(fmt::format("`{}` has what is no number", key));
    return 0;
  }

  const Json json;
  std::optional<std::string> fault;
};

class Reading {
public:
  Reading(const plan::RolloutSettings &rollout, std::uint32_t vocabulary, std::uint64_t round,
          std::byte *buffer)
      : rollout(rollout), vocabulary(vocabulary), round(round), buffer(buffer),
        expected(std::uint64_t{rollout.prompts} * rollout.samples) {}

  void head(Line &line) {
    const auto expect = [&](const char *key, std::uint64_t wanted) {
      if (const std::uint64_t found = line.natural(key); found != wanted)
        line.complain(fmt::format("`{}` is {}, the run needs {}", key, found, wanted));
    };
    expect("round", round);
    expect("prompts", rollout.prompts);
    expect("samples_per_prompt", rollout.samples);
    lines = line.natural("samples");
  }

  void sample(Line &line) {
    ++seen;
    if (!line.truth("trained") || line.wrong())
      return;
    if (taken == expected)
      return line.complain(fmt::format("one more sample to train on than {}", expected));
    std::byte *bytes = plan::recordAt(buffer, plan::sampleStride(rollout), taken);
    auto &record = *reinterpret_cast<plan::SampleRecord *>(bytes);
    record = {.draw = line.natural("draw"),
              .prompt = line.natural("prompt"),
              .sample = static_cast<std::uint32_t>(line.natural("sample", rollout.samples - 1)),
              .promptTokens =
                  static_cast<std::uint32_t>(line.natural("prompt_tokens", rollout.maxPrompt)),
              .finish = static_cast<std::uint32_t>(line.finish()),
              .version = static_cast<std::int64_t>(line.natural("version", kMostVersion)),
              .reward = line.number("reward")};
    tokens(line, bytes, record);
    order(line, record);
    ++taken;
  }

  Status finish() const {
    if (seen != lines)
      return refuse(fmt::format("{} samples, and the first line says {}", seen, lines));
    if (taken != expected)
      return refuse(fmt::format("{} samples to train on, the run needs {}", taken, expected));
    return {};
  }
  std::uint64_t count() const { return taken; }

private:
  static constexpr std::uint64_t kMostVersion = std::numeric_limits<std::int64_t>::max();

  void tokens(Line &line, std::byte *bytes, plan::SampleRecord &record) {
    const std::uint32_t given = record.promptTokens;
    const std::uint64_t all = line.lengthOf("tokens");
    if (given == 0 || all <= given || all - given > rollout.maxNew)
      return line.complain(fmt::format("{} tokens behind a prompt of {}, expected 1 to {}",
                                       std::int64_t(all) - given, given, rollout.maxNew));
    record.tokens = static_cast<std::uint32_t>(all);
    const std::uint32_t response = record.tokens - given;
    line.tokens("tokens", record.tokens, vocabulary, plan::tokensOf(bytes, rollout));
    line.numbers("log_probabilities", response, plan::logProbabilitiesOf(bytes));
    line.numbers("sampled_log_probabilities", response, plan::sampledOf(bytes, rollout));
  }

  /// Groups lie together, each with all its samples.
  void order(Line &line, const plan::SampleRecord &record) {
    const bool begins = taken % rollout.samples == 0;
    const bool follows = begins ? taken == 0 || record.draw > lastDraw : record.draw == lastDraw;
    if (!follows || record.sample != taken % rollout.samples)
      line.complain(fmt::format("sample {} of draw {} stands where another one should",
                                record.sample, record.draw));
    lastDraw = record.draw;
  }

  const plan::RolloutSettings &rollout;
  const std::uint32_t vocabulary;
  const std::uint64_t round;
  std::byte *const buffer;
  const std::uint64_t expected;
  std::uint64_t lines = 0, seen = 0, taken = 0, lastDraw = 0;
};

} // namespace

Status readDump(const std::string &path, const plan::RoundSettings &settings,
                std::uint32_t vocabulary, std::uint64_t round, std::byte *buffer) {
  const StatusOr<std::shared_ptr<const TextFile>> file = TextFile::open(path);
  if (!file.ok())
    return file.status();
  const auto bytes = (*file)->bytes();
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  std::memset(buffer, 0, plan::roundBytes(settings));
  Reading reading(settings.rollout, vocabulary, round, buffer);
  for (std::size_t number = 1; number == 1 || !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    Line line(text.substr(0, end));
    if (number == 1)
      reading.head(line);
    else
      reading.sample(line);
    if (line.wrong())
      return refuse(fmt::format("dump `{}`, line {}: {}", path, number, *line.wrong()));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  if (Status status = reading.finish(); !status.ok())
    return refuse(fmt::format("dump `{}`: {}", path, status.message()));
  const plan::BatchHeader header{.count = reading.count()};
  std::memcpy(buffer, &header, sizeof(header));
  return completeRound(settings, buffer);
}

} // namespace vime
