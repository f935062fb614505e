// Hash128: XXH3-128 of a file's bytes, as a plan remembers what it was made for.
#pragma once

#include <array>
#include <cstdint>

namespace vime::plan {

using Hash128 = std::array<std::uint64_t, 2>; // low, high

} // namespace vime::plan
