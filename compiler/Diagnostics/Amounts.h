// Amounts: numbers as messages and tables print them.
#pragma once

#include <cstdint>
#include <string>

namespace vime {

/// `512 B`, `1.5 KiB`, `2.25 GiB`: at most three digits that matter, never rounded down.
std::string bytesInWords(std::uint64_t bytes);

} // namespace vime
