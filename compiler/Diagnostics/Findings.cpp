// Findings: collecting, and the spelling of codes.
#include "compiler/Diagnostics/Findings.h"

#include <array>
#include <utility>

namespace vime {

std::string_view nameOf(Rule rule) {
  constexpr std::array<std::string_view, 24> kNames = {
      "J",  "S1", "S2", "S3", "S4", "C1", "C2", "C3", "C4", "D1", "D2", "D3",
      "D4", "D5", "D6", "M1", "M2", "M3", "W1", "W2", "W3", "Q1", "Q2", "K1"};
  static_assert(kNames.size() == static_cast<std::size_t>(Rule::K1) + 1);
  return kNames[static_cast<std::size_t>(rule)];
}

// A letter and four digits: the label's own digit, if it has one, and the number share them.
std::string codeOf(Rule rule, int number) {
  const std::string_view label = nameOf(rule);
  const int digits = (label.size() > 1 ? (label[1] - '0') * 100 : 0) + number;
  const std::string text = std::to_string(digits);
  const std::size_t zeros = text.size() < 4 ? 4 - text.size() : 0;
  return label[0] + std::string(zeros, '0') + text;
}

Finding &Finding::at(SourceSpan place, std::string label) {
  span = std::move(place);
  spanLabel = std::move(label);
  return *this;
}

Finding &Finding::note(std::string text, std::optional<SourceSpan> place) {
  notes.push_back({.text = std::move(text), .span = std::move(place)});
  return *this;
}

Finding &Finding::from(ActionPlace place, std::string what) {
  notes.push_back({.text = std::move(what), .action = place, .end = Note::End::From});
  return *this;
}

Finding &Finding::to(ActionPlace place, std::string what) {
  notes.push_back({.text = std::move(what), .action = place, .end = Note::End::To});
  return *this;
}

Finding &Finding::withHelp(std::string text) {
  help = std::move(text);
  return *this;
}

Finding &Findings::error(Rule rule, int number, std::string message) {
  return list.emplace_back(Finding{.rule = rule, .number = number, .message = std::move(message)});
}

} // namespace vime
