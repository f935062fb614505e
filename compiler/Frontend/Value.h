// Value: one value of a job as its key's type reads it, and its canonical text.
//
//   parseValue(field("run.steps"), "200")          // 200
//   parseValue(field("limits.transfer"), "10 min") // 600 (seconds)
//   printValue(field("limits.transfer"), 600.0)    // "600s"
//
// Strict: whole numbers are digits (no `1e3`, `0x10`, `1_000`, `+1`, `007`), units are never
// guessed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/Diagnostics/JobCodes.h"

namespace vime {

struct FieldSpec;

/// Ranks first, first + 1, …: `4-7`.
struct RankRange {
  std::uint32_t first = 0, count = 0;
  bool operator==(const RankRange &) const = default;
};

/// Of a field with two units: `512 tokens`, where the other one is samples.
struct Quantity {
  std::uint64_t count = 0;
  bool inOther = false; // counted in FieldSpec::otherUnit
  bool operator==(const Quantity &) const = default;
};

using NumberPair = std::pair<double, double>;
using CountList = std::vector<std::uint64_t>;
using Value =
    std::variant<std::uint64_t, double, std::string, RankRange, NumberPair, CountList, Quantity>;

/// Why a text is no value of a field.
struct ValueProblem {
  JobCode code = JobCode::WrongType;
  std::string message; // without the field's name: `is 0, must be at least 1`
  std::string label;
  std::string help;
};

/// The text as YAML gives it, without quotes; a list is `[0.9, 0.95]`.
std::variant<Value, ValueProblem> parseValue(const FieldSpec &field, std::string_view text);

std::string printValue(const FieldSpec &field, const Value &value);

} // namespace vime
