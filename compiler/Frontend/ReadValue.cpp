// parseValue: the values that are words, and the choice of the reader.
#include "compiler/Frontend/ReadValue.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Frontend/FieldTable.h"
#include "compiler/Frontend/Numbers.h"
#include "runtime/Base/Nearest.h"

namespace vime {

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  const std::string shown = printable(text);
  if (characterCount(shown) <= kLongest)
    return '`' + shown + '`';
  std::string_view rest = shown;
  for (std::size_t count = 0; count < kLongest; ++count)
    rest.remove_prefix(characterAt(rest).bytes);
  return '`' + shown.substr(0, shown.size() - rest.size()) + "…`";
}

namespace {

std::string list(const std::vector<std::string_view> &words) {
  std::string text;
  for (const std::string_view word : words)
    text += (text.empty() ? "" : ", ") + ('`' + std::string(word) + '`');
  return text;
}

Parsed parseName(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  const bool legal = std::all_of(text.begin(), text.end(), [](char letter) {
    return isDigit(letter) || (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z') || letter == '_' || letter == '-' || letter == '.';
  });
  if (text.empty() || !legal || text.size() > kLongest)
    return ValueProblem{JobCode::Name,
                        "is no name: " + quoted(text),
                        "1 to 100 letters, digits, `.`, `_` or `-`",
                        {}};
  return Value(std::string(text));
}

Parsed parseLine(std::string_view text, std::string_view kind) {
  constexpr std::size_t kLongest = 4096;
  std::string_view rest = text;
  bool legal = !text.empty() && text.size() <= kLongest;
  while (!rest.empty()) {
    const Character character = characterAt(rest);
    legal = legal && character.legal && !isControl(character.code);
    rest.remove_prefix(character.bytes);
  }
  if (!legal)
    return ValueProblem{JobCode::WrongType,
                        fmt::format("is no {}: {}", kind, quoted(text)),
                        text.empty() ? "empty"
                        : text.size() > kLongest
                            ? fmt::format("more than {} bytes", kLongest)
                            : fmt::format("a {} has no control characters", kind),
                        {}};
  return Value(std::string(text));
}

Parsed parsePath(std::string_view text) { return parseLine(text, "path"); }

// Our word for another system's, or "".
std::string_view ourWord(const FieldSpec &field, std::string_view word) {
  for (std::string_view rest = field.otherWords; !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find(' '));
    if (pair.substr(0, pair.find('=')) == word)
      return pair.substr(pair.find('=') + 1);
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
  }
  return {};
}

Parsed parseWord(const FieldSpec &field, std::string_view text) {
  if (std::find(field.words.begin(), field.words.end(), text) != field.words.end())
    return Value(std::string(text));
  if (!field.fileEnding.empty() && text.ends_with(field.fileEnding))
    return parsePath(text);
  std::string known = (field.words.size() == 1 ? "only " : "one of ") + list(field.words);
  if (!field.fileEnding.empty())
    known += ", or a file ending in `" + std::string(field.fileEnding) + '`';
  if (std::find(field.laterWords.begin(), field.laterWords.end(), text) != field.laterWords.end())
    return ValueProblem{JobCode::LaterValue,
                        "asks for something vime cannot do yet: " + quoted(text), "not there yet",
                        "what there is: " + list(field.words)};
  ValueProblem problem{JobCode::UnknownWord, "cannot be " + quoted(text), known, {}};
  if (const std::string_view ours = ourWord(field, text); !ours.empty())
    problem.help = fmt::format("`{}` is what other systems call `{}`", ours, text);
  else if (const auto near = nearest(text, field.words))
    problem.help = fmt::format("a similar word exists: `{}`", *near);
  return problem;
}

} // namespace

Parsed parseValue(const FieldSpec &field, std::string_view text) {
  switch (field.type) {
  case FieldType::Section:
    break;
  case FieldType::Count:
    return parseCount(field, text);
  case FieldType::Number:
    return parseNumber(field, text);
  case FieldType::Bytes:
    return parseBytes(field, text);
  case FieldType::Seconds:
    return parseSeconds(field, text);
  case FieldType::Word:
    return parseWord(field, text);
  case FieldType::Name:
    return parseName(text);
  case FieldType::Path:
    return parsePath(text);
  case FieldType::Ranks:
    return parseRanks(field, text);
  case FieldType::Pair:
    return parsePair(field, text);
  case FieldType::Counts:
    return parseCounts(field, text);
  case FieldType::Amount:
    return parseAmount(field, text);
  case FieldType::PerRank:
    return parsePerRank(field, text);
  case FieldType::Text:
    return parseLine(text, "text");
  case FieldType::Tokens:
    return parseCounts(field, text);
  }
  return ValueProblem{.code = JobCode::NotASection,
                      .message = "must be a mapping of keys to values"};
}

} // namespace vime
