// StricterRules: what the judges refuse though it runs well: each code with the reason why its rule
// is right to ask for more. A refusal of a harmless mutant that is not listed here is wrong.
#pragma once

#include <span>
#include <string_view>

namespace vime {

struct StricterRule {
  std::string_view code;
  std::string_view reason;
  std::string_view mutation = {}; // of classes with this in their name; empty: of any
};

std::span<const StricterRule> stricterRules();
/// Why the code is right to refuse a harmless mutant of this class; empty if it is not.
std::string_view reasonFor(std::string_view code, std::string_view mutation);

inline constexpr std::string_view kOrderedByPeers =
    "uses of the same bytes are ordered by waits of their rank (M2, M3), so that it can be judged "
    "alone; here one follows the other only by way of messages through other ranks";

} // namespace vime
