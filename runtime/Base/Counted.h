// counted: an amount and its noun, as messages say it.
//
//   counted(1, "rank")         // "1 rank"
//   counted(3, "microbatch")   // "3 microbatches"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vime {

inline std::string counted(std::uint64_t count, std::string_view noun) {
  const char *ending = count == 1 ? "" : noun.ends_with("ch") ? "es" : "s";
  return std::to_string(count) + ' ' + std::string(noun) + ending;
}

} // namespace vime
