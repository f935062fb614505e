#include "compiler/Frontend/LayoutText.h"

#include <optional>

#include <fmt/format.h>

#include "compiler/Frontend/Numbers.h"
#include "compiler/Frontend/ReadValue.h"

namespace vime {

namespace {

constexpr std::size_t kMostParts = 1 << 17; // layers, stages and their ends
constexpr int kDeepest = 8;                 // groups in groups

ValueProblem noLayout(std::string message, std::string label, std::string help = {}) {
  return {.message = std::move(message), .label = std::move(label), .help = std::move(help)};
}

// Writes groups out: `(t|)*2` is `t|t|`.
class Expansion {
public:
  explicit Expansion(std::string_view text) : rest(text) {}

  std::variant<std::string, ValueProblem> run() {
    std::string all = items(0);
    if (!problem && !rest.empty())
      problem = noLayout("closes a group that it never opened", "a `)` too many");
    if (problem)
      return *problem;
    return all;
  }

private:
  std::string items(int depth) {
    std::string all;
    for (skip(); !problem && !rest.empty() && rest.front() != ')'; skip()) {
      std::string item = next(depth);
      const std::uint64_t times = problem ? 1 : repeats();
      if (!problem && (times > kMostParts || all.size() + item.size() * times > kMostParts))
        problem = noLayout("is of more parts than a model has", "too many of them");
      for (std::uint64_t time = 0; !problem && time < times; ++time)
        all += item;
    }
    return all;
  }

  void skip() {
    while (!rest.empty() && (rest.front() == ',' || rest.front() == ' '))
      rest.remove_prefix(1);
  }

  std::string next(int depth) {
    const char letter = rest.front();
    rest.remove_prefix(1);
    if (letter == 'm')
      problem = ValueProblem{JobCode::LaterValue,
                             "asks for something vime cannot do yet: layers that predict several "
                             "tokens, `m`",
                             "not there yet",
                             {}};
    else if (letter == '(')
      return group(depth + 1);
    else if (std::string_view("EtL|").find(letter) == std::string_view::npos)
      problem = noLayout("has a part that is none: " + quoted(std::string_view(&letter, 1)),
                         "parts are E, t, L and |");
    return std::string(1, letter);
  }

  std::string group(int depth) {
    std::string all;
    if (depth <= kDeepest)
      all = items(depth);
    if (!problem && (rest.empty() || depth > kDeepest))
      problem = noLayout(depth > kDeepest ? "has groups in groups, too deep"
                                          : "opens a group that it never closes",
                         "a `)` is missing");
    else if (!problem)
      rest.remove_prefix(1);
    return all;
  }

  std::uint64_t repeats() {
    skip();
    if (rest.empty() || rest.front() != '*')
      return 1;
    const std::size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    const auto number = wholeNumber(rest.substr(1, end - 1));
    rest.remove_prefix(end);
    if (!number || *number == 0)
      problem = noLayout("repeats a part by no number", "`*` takes a number from 1");
    return number.value_or(1);
  }

  std::string_view rest;
  std::optional<ValueProblem> problem;
};

// The ends of the model stand where they are: in the first and in the last stage.
std::optional<ValueProblem> withoutEnds(std::string &parts) {
  const bool hasEnds = parts.size() > 1 && parts.front() == 'E' && parts.back() == 'L';
  if (hasEnds)
    parts = parts.substr(1, parts.size() - 2);
  if (!hasEnds || parts.find_first_of("EL") != parts.npos)
    return noLayout("must begin with `E`, the embedding, and end with `L`, the head, once each",
                    "a layout such as Et*3|(tt|)*2tL");
  return std::nullopt;
}

} // namespace

std::variant<CountList, ValueProblem> readLayoutText(std::string_view text) {
  auto expanded = Expansion(text).run();
  if (auto *wrong = std::get_if<ValueProblem>(&expanded))
    return std::move(*wrong);
  std::string &parts = std::get<std::string>(expanded);
  if (auto wrong = withoutEnds(parts))
    return std::move(*wrong);
  CountList layers(1);
  for (const char part : parts)
    if (part == '|')
      layers.push_back(0);
    else
      ++layers.back();
  for (std::size_t stage = 0; stage < layers.size(); ++stage)
    if (layers[stage] == 0)
      return noLayout(fmt::format("has no layer in stage {}", stage), "a stage needs a layer");
  return layers;
}

} // namespace vime
