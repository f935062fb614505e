// ReadValue: one reader for each type of field; used by parseValue only.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "compiler/Frontend/Value.h"

namespace vime {

using Parsed = std::variant<Value, ValueProblem>;

Parsed parseCount(const FieldSpec &field, std::string_view text);
Parsed parseAmount(const FieldSpec &field, std::string_view text);
Parsed parseNumber(const FieldSpec &field, std::string_view text);
Parsed parseBytes(const FieldSpec &field, std::string_view text);
Parsed parseSeconds(const FieldSpec &field, std::string_view text);
Parsed parseRanks(const FieldSpec &field, std::string_view text);
Parsed parsePair(const FieldSpec &field, std::string_view text);
Parsed parseCounts(const FieldSpec &field, std::string_view text);
Parsed parsePerRank(const FieldSpec &field, std::string_view text);

/// The user's text in backticks, printable and not too long.
std::string quoted(std::string_view text);

} // namespace vime
