#include "compiler/Reference/FieldWords.h"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/Frontend/FieldRows.h"

namespace vime {

namespace {

// Of fields that have no default: what a small job says.
constexpr std::array<std::pair<std::string_view, std::string_view>, 28> kExamples = {{
    {"version", "1"},
    {"name", "text-1f1b"},
    {"cluster.ranks", "4"},
    {"models.*.family", "llama"},
    {"models.*.layers", "8"},
    {"models.*.hidden", "256"},
    {"models.*.heads", "8"},
    {"models.*.kv_heads", "4"},
    {"models.*.head_width", "32"},
    {"models.*.ffn", "688"},
    {"models.*.vocab", "256"},
    {"roles.actor.model", "policy"},
    {"pipeline.schedule", "1f1b"},
    {"pipeline.schedule_hash", "3e8515764cf6f37d06efd88220c88769"},
    {"pipeline.costs", "[10, 12, 8]"},
    {"pipeline.microbatches", "8"},
    {"pipeline.microbatch", "4 samples"},
    {"data.text", "corpus.txt"},
    {"data.sequence", "128 tokens"},
    {"data.prompts", "train.jsonl"},
    {"rollout.max_new", "24 tokens"},
    {"reward.pattern", "=\\d+$"},
    {"reward.command", "python3 judge.py"},
    {"reward.url", "http://127.0.0.1:8000/score"},
    {"roles.rollout.ranks", "4-5"},
    {"algorithm.dual_clip", "3"},
    {"optimizer.lr", "3.0e-4"},
    {"run.steps", "200"},
}};

// A limit that nobody reaches is none.
bool isUnlimited(const FieldSpec &field) {
  return field.most >= (field.type == FieldType::Number ? kMostReal : kMostWhole);
}

std::string limit(const FieldSpec &field, double value) {
  switch (field.type) {
  case FieldType::Bytes:
    return printValue(field, static_cast<std::uint64_t>(value));
  case FieldType::Seconds:
    return value == 0 ? "0s" : printValue(field, value);
  default:
    return fmt::format("{}", value);
  }
}

std::string withinRange(const FieldSpec &field) {
  const double least = std::max(field.least, 1.0);
  switch (field.type) {
  case FieldType::Count: {
    const auto count = static_cast<std::uint64_t>(std::min(least * 2, field.most));
    return printValue(field, count);
  }
  case FieldType::Bytes:
    return "64GiB";
  case FieldType::Seconds:
    return "10 ms";
  case FieldType::Ranks:
    return "0-3";
  case FieldType::Pair:
    return "[0.9, 0.95]";
  case FieldType::Counts:
    return "[3, 2, 2, 1]";
  case FieldType::PerRank:
    return "3";
  case FieldType::Tokens:
    return "[10, 59]";
  case FieldType::Amount:
    return printValue(field, Quantity{static_cast<std::uint64_t>(least), false});
  case FieldType::Path:
    return "out/" + std::string(field.key());
  case FieldType::Word:
    return std::string(field.words.front());
  case FieldType::Name:
    return "policy";
  default:
    return fmt::format("{}", std::min(least, field.most));
  }
}

} // namespace

std::string kindOf(const FieldSpec &field) {
  switch (field.type) {
  case FieldType::Section:
    return "a section";
  case FieldType::Count:
    return field.unit.empty() ? "a whole number" : fmt::format("a number of {}", field.unit);
  case FieldType::Number:
    return "a number";
  case FieldType::Bytes:
    return "a size with its unit";
  case FieldType::Seconds:
    return "a duration with its unit";
  case FieldType::Word:
    return (field.words.size() == 1 ? fmt::format("`{}`", field.words.front())
                                    : fmt::format("one of `{}`", fmt::join(field.words, "`, `"))) +
           (field.fileEnding.empty() ? ""
                                     : fmt::format(", or a file ending in `{}`", field.fileEnding));
  case FieldType::Name:
    return "a name: letters, digits, `.`, `_` and `-`";
  case FieldType::Path:
    return "a path, relative ones from the job's folder";
  case FieldType::Ranks:
    return "a range of ranks";
  case FieldType::Pair:
    return field.oneForBoth ? "a number, or a list of two" : "a list of two numbers";
  case FieldType::Counts:
    if (field.layoutText)
      return "a list of whole numbers, or a layout string of Megatron's";
    return field.mostItems == 0
               ? "a list of whole numbers"
               : fmt::format("a list of {} to {} whole numbers", field.leastItems, field.mostItems);
  case FieldType::Amount:
    return fmt::format("a number of {} or {}", field.unit, field.otherUnit);
  case FieldType::PerRank:
    return fmt::format("`{}`, a whole number, or a list with one for each rank of the pipeline",
                       field.fallback);
  case FieldType::Text:
    return "a text";
  case FieldType::Tokens:
    return "tokens: a list of numbers and of texts of one byte";
  }
  return {};
}

std::string rangeOf(const FieldSpec &field) {
  const bool isNumber = field.type != FieldType::Section && field.type != FieldType::Word &&
                        field.type != FieldType::Name && field.type != FieldType::Path &&
                        field.type != FieldType::Text;
  if (!isNumber || (field.least == 0 && field.most == 0))
    return {};
  const std::string least = limit(field, field.least);
  if (field.type == FieldType::Amount)
    return fmt::format("{} to {} {} or {} {}", least, limit(field, field.most), field.unit,
                       limit(field, field.mostOther), field.otherUnit);
  if (!field.above && !field.below && !isUnlimited(field))
    return field.least == field.most ? least
                                     : fmt::format("{} to {}", least, limit(field, field.most));
  std::string range = field.above ? "above " + least : "at least " + least;
  if (!isUnlimited(field))
    range += (field.below ? ", below " : ", at most ") + limit(field, field.most);
  return range;
}

std::string originOf(const FieldSpec &field) {
  if (!field.fallback.empty())
    return fmt::format("`{}`", field.fallback);
  if (!field.derivedFrom.empty())
    return fmt::format("derived from {}", field.derivedFrom);
  return field.optional ? "none: it may be left out" : "none: it must be stated";
}

std::string exampleValueOf(const FieldSpec &field) {
  for (const auto &[path, value] : kExamples)
    if (path == field.path)
      return std::string(value);
  return field.fallback.empty() ? withinRange(field) : std::string(field.fallback);
}

std::string exampleOf(const FieldSpec &field) {
  std::string example = exampleValueOf(field), path(field.path);
  for (std::string_view rest = path; !rest.empty(); rest = sectionOf(rest)) {
    const std::string key(rest.substr(rest.rfind('.') + 1));
    const std::string value = rest.size() == path.size() ? example : '{' + example + '}';
    example = (key == "*" ? "policy" : key) + ": " + value;
  }
  return example;
}

std::string shownPath(const FieldSpec &field) {
  std::string path(field.path);
  if (const std::size_t star = path.find('*'); star != path.npos)
    path.replace(star, 1, "NAME");
  return path;
}

} // namespace vime
