#include "tests/Fuzz/PlanEdits.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compiler/View/PlanText.h"
#include "compiler/View/PlanTextReader.h"
#include "tests/Fuzz/BasePlans.h"
#include "tests/Fuzz/InputReader.h"
#include "tests/plan/ForgedFile.h"

namespace vime::fuzz {
namespace {

constexpr std::uint8_t kRawFile = 0xFF;

std::vector<std::string_view> splitAt(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t end = 0; end != std::string_view::npos; text.remove_prefix(end + 1)) {
    end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      break;
  }
  return pieces;
}

std::string joined(const std::vector<std::string> &pieces, char separator) {
  std::string text;
  for (const std::string &piece : pieces)
    text.append(piece).push_back(separator);
  text.pop_back();
  return text;
}

/// Where ranges end, and beside what stood there.
std::string numberFor(const std::string &old, InputReader &input) {
  constexpr std::int64_t kNumbers[] = {0,     1,          2,           3,          64,
                                       127,   128,        255,         256,        1023,
                                       32767, 65535,      65536,       0x7FFFFFFF, 0x80000000,
                                       -1,    0xFFFFFFFF, 0x100000000, INT64_MAX,  INT64_MIN};
  const std::size_t choice = input.number<std::uint8_t>();
  if (choice < std::size(kNumbers))
    return std::to_string(kNumbers[choice]);
  const auto number = static_cast<std::int64_t>(std::strtoull(old.c_str(), nullptr, 10));
  switch (choice % 4) {
  case 0:
    return std::to_string(number + 1);
  case 1:
    return std::to_string(number - 1);
  case 2:
    return std::to_string(number + input.number<std::int8_t>());
  default:
    return std::to_string(input.number<std::uint16_t>());
  }
}

/// A word of a line becomes a number, or a word of another line.
void changeWord(std::vector<std::string> &lines, InputReader &input) {
  std::string &line = lines[input.below(lines.size())];
  std::vector<std::string> words;
  for (const std::string_view word : splitAt(line, ' '))
    words.emplace_back(word);
  std::string &word = words[input.number<std::uint8_t>() % words.size()];
  if (input.number<std::uint8_t>() % 4 != 0) {
    word = numberFor(word, input);
  } else {
    const std::vector<std::string_view> others = splitAt(lines[input.below(lines.size())], ' ');
    word = others[input.number<std::uint8_t>() % others.size()];
  }
  line = joined(words, ' ');
}

void changeLines(std::vector<std::string> &lines, InputReader &input) {
  const std::size_t one = input.below(lines.size()), other = input.below(lines.size());
  switch (input.number<std::uint8_t>() % 3) {
  case 0:
    return std::swap(lines[one], lines[other]);
  case 1:
    return void(lines.insert(lines.begin() + std::ptrdiff_t(one), std::string(lines[other])));
  default:
    if (lines.size() > 1)
      lines.erase(lines.begin() + std::ptrdiff_t(one));
  }
}

void changePart(ForgedFile &file, InputReader &input) {
  std::string &bytes = file.parts[input.below(file.parts.size())].bytes;
  const std::size_t at = input.below(bytes.size() + 1);
  const std::string_view patch = input.text(1 + input.number<std::uint8_t>() % 8);
  if (input.number<std::uint8_t>() % 8 == 0)
    bytes.resize(at);
  else
    bytes.replace(at, patch.size(), patch);
}

/// The base plan as its edited text says; as it was if that is no plan.
plan::Plan editedPlan(const plan::Plan &base, InputReader &input) {
  std::vector<std::string> lines;
  const std::string text = planText(base);
  for (const std::string_view line : splitAt(text, '\n'))
    lines.emplace_back(line.substr(0, line.find(" # ")));
  for (std::size_t edits = input.number<std::uint8_t>() % 6; edits != 0; --edits)
    if (input.number<std::uint8_t>() % 4 != 0)
      changeWord(lines, input);
    else
      changeLines(lines, input);
  StatusOr<plan::Plan> plan = parsePlanText(joined(lines, '\n'));
  if (plan.ok())
    return std::move(*plan);
  return base;
}

} // namespace

std::string editedPlanFile(std::string_view bytes) {
  InputReader input(bytes);
  const auto base = input.number<std::uint8_t>();
  if (base == kRawFile)
    return std::string(input.rest());
  ForgedFile file = ForgedFile::of(editedPlan(basePlans()[base % basePlans().size()], input));
  while (!input.isEmpty())
    changePart(file, input);
  return file.bytes();
}

} // namespace vime::fuzz
