#include "compiler/Driver/Lengths.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Driver/Output.h"
#include "runtime/Base/Counted.h"
#include "runtime/Data/RoundPlan.h"

namespace vime {
namespace {

using Json = nlohmann::json;

Status refuse(std::string what) { return {StatusCode::InvalidInput, std::move(what)}; }

std::optional<std::uint32_t> numberIn(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}

/// The two numbers around the sign.
std::optional<std::pair<std::uint32_t, std::uint32_t>> pairIn(std::string_view text, char sign) {
  const std::size_t at = text.find(sign);
  if (at == std::string_view::npos)
    return std::nullopt;
  const auto one = numberIn(text.substr(0, at)), other = numberIn(text.substr(at + 1));
  return one && other ? std::optional(std::pair(*one, *other)) : std::nullopt;
}

std::optional<LengthHistogram> uniformIn(std::string_view text) {
  const auto range = pairIn(text, '-');
  if (!range || range->first > range->second || range->second - range->first > (1u << 24))
    return std::nullopt;
  LengthHistogram histogram;
  for (std::uint32_t tokens = range->first; tokens <= range->second; ++tokens)
    histogram.responses.push_back({tokens, 1});
  return histogram;
}

std::optional<LengthHistogram> histogramIn(std::string_view text) {
  LengthHistogram histogram;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto bar = pairIn(text.substr(0, comma), ':');
    if (!bar || bar->second == 0)
      return std::nullopt;
    histogram.responses.push_back({bar->first, static_cast<double>(bar->second)});
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return histogram.responses.empty() ? std::nullopt : std::optional(histogram);
}

// ---- a dump ---------------------------------------------------------------------------------------------------------

Status readDumped(const std::string &path, Lengths &lengths) {
  const StatusOr<std::string> text = readFile(path);
  if (!text.ok())
    return text.status();
  std::vector<EngineSequence> *round = nullptr;
  std::uint64_t number = 0;
  for (std::size_t begin = 0; begin < text->size(); ++number) {
    const std::size_t end = std::min(text->find('\n', begin), text->size());
    const Json line = Json::parse(text->begin() + static_cast<std::ptrdiff_t>(begin),
                                  text->begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    begin = end + 1;
    const auto natural = [&](const char *key) -> std::optional<std::uint32_t> {
      const bool isThere = line.is_object() && line.contains(key) &&
                           line[key].is_number_unsigned() &&
                           line[key].get<std::uint64_t>() < (std::uint64_t{1} << 32);
      return isThere ? std::optional(line[key].get<std::uint32_t>()) : std::nullopt;
    };
    if (number == 0) {
      const auto first = natural("round");
      if (!first)
        return refuse(fmt::format("`{}` is no dump of a round", path));
      round = &lengths.rounds[*first];
      continue;
    }
    const auto draw = natural("draw"), prompt = natural("prompt_tokens");
    const std::size_t tokens =
        line.is_object() && line.contains("tokens") && line["tokens"].is_array()
            ? line["tokens"].size()
            : 0;
    if (!draw || !prompt || *prompt == 0 || tokens <= *prompt)
      return refuse(fmt::format("`{}`, line {} is no sample of a round", path, number + 1));
    round->push_back({*draw, *prompt, static_cast<std::uint32_t>(tokens) - *prompt});
  }
  return Status();
}

StatusOr<Lengths> dumpedIn(const std::string &place) {
  Lengths lengths;
  std::vector<std::string> files;
  if (!std::filesystem::is_directory(place))
    files.push_back(place);
  else
    for (const auto &entry : std::filesystem::directory_iterator(place))
      if (entry.path().extension() == ".jsonl")
        files.push_back(entry.path().string());
  std::ranges::sort(files);
  for (const std::string &file : files)
    if (const Status status = readDumped(file, lengths); !status.ok())
      return status;
  std::map<std::uint32_t, double> prompts, responses;
  std::size_t count = 0;
  for (const auto &[round, sequences] : lengths.rounds)
    for (const EngineSequence &one : sequences) {
      ++prompts[one.prompt];
      ++responses[one.response];
      ++count;
    }
  if (count == 0)
    return refuse(fmt::format("`{}` holds no dump of a round", place));
  for (const auto &[tokens, weight] : prompts)
    lengths.histogram.prompts.push_back({tokens, weight});
  for (const auto &[tokens, weight] : responses)
    lengths.histogram.responses.push_back({tokens, weight});
  lengths.origin = fmt::format("{} of {} in {}", counted(count, "response"),
                               counted(lengths.rounds.size(), "round"), place);
  return lengths;
}

// ---- whether the plan can have them ---------------------------------------------------------------------------------

Status checkFit(const std::vector<LengthWeight> &lengths, const char *what, std::uint32_t most,
                const char *field) {
  for (const LengthWeight &length : lengths)
    if (length.tokens < 1 || length.tokens > most)
      return refuse(fmt::format("a {} of {} tokens, the plan has 1 to {} (`{}`)", what,
                                length.tokens, most, field));
  return Status();
}

} // namespace

StatusOr<Lengths> readLengths(const std::string &text, const plan::Plan &plan) {
  Lengths lengths;
  constexpr std::string_view kUniform = "uniform:";
  const auto said = text.starts_with(kUniform)
                        ? uniformIn(std::string_view(text).substr(kUniform.size()))
                        : histogramIn(text);
  if (said) {
    lengths.histogram = *said;
    lengths.origin = fmt::format("{}, prompts as long as they may be", text);
  } else if (std::filesystem::exists(text)) {
    StatusOr<Lengths> dumped = dumpedIn(text);
    if (!dumped.ok())
      return dumped;
    lengths = std::move(*dumped);
  } else {
    return Status(StatusCode::Usage,
                  fmt::format("`--lengths` takes lengths and how often they occur, or a dump, not "
                              "`{}`\nhelp: `uniform:1-24`, `4:10,8:20`, or the folder that a run "
                              "wrote for `rollout.dump`",
                              text));
  }
  const plan::RolloutSettings &rollout = plan.round.rollout;
  if (Status status =
          checkFit(lengths.histogram.responses, "response", rollout.maxNew, "rollout.max_new");
      !status.ok())
    return status;
  if (Status status =
          checkFit(lengths.histogram.prompts, "prompt", rollout.maxPrompt, "data.max_prompt");
      !status.ok())
    return status;
  return lengths;
}

StepPacking packingOf(const plan::Plan &plan) {
  return [&plan](std::span<const std::uint32_t> inputs) -> StatusOr<std::uint32_t> {
    std::vector<RoundSample> samples;
    for (const std::uint32_t tokens : inputs)
      samples.push_back({static_cast<std::uint32_t>(samples.size()), tokens});
    const StatusOr<std::vector<RoundStep>> steps =
        planRound(samples, {.rollouts = static_cast<std::uint32_t>(samples.size()),
                            .replicas = plan.mesh.data,
                            .most = plan.data.microbatches,
                            .room = {.tokens = plan.data.tokens, .samples = plan.data.samples}});
    if (!steps.ok())
      return steps.status();
    return static_cast<std::uint32_t>(steps->front().replicas.front().size());
  };
}

StatusOr<EngineCosts> fittedEngine(const plan::Plan &plan, const Lengths &lengths,
                                   const std::vector<TracedRound> &rounds) {
  const plan::RolloutSettings &rollout = plan.round.rollout;
  std::vector<EngineObservation> observations;
  for (const TracedRound &round : rounds) {
    const auto dumped = lengths.rounds.find(round.round);
    if (dumped == lengths.rounds.end())
      continue;
    const std::uint32_t first = dumped->second.front().draw;
    for (std::uint32_t engine = 0; engine < rollout.engines; ++engine) {
      std::vector<EngineSequence> queue;
      for (const EngineSequence &one : dumped->second)
        if ((one.draw - first) % rollout.engines == engine)
          queue.push_back(one);
      const EngineSums sums = engineSums(queue, {rollout.slots, rollout.stepTokens}, {});
      observations.push_back(
          {sums.steps, sums.rows, static_cast<double>(round.generation[engine]) * 1e-9});
    }
  }
  if (observations.empty())
    return refuse("none of the rounds that were traced is in the dump\nhelp: a run that is traced "
                  "and has `rollout.dump` says both");
  return fitEngine(observations);
}

} // namespace vime
