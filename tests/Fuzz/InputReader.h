// InputReader: takes numbers and texts off the bytes that a fuzzer makes; zeros when there are none
// left.
//
//   InputReader input(bytes);
//   const std::size_t part = input.below(parts.size());
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace vime::fuzz {

class InputReader {
public:
  explicit InputReader(std::string_view bytes) : left(bytes) {}

  bool isEmpty() const { return left.empty(); }

  template <typename Number> Number number() {
    static_assert(std::is_trivially_copyable_v<Number>);
    Number value{};
    const std::string_view bytes = text(sizeof value);
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  /// 0 ≤ result < count; 0 of none.
  std::size_t below(std::size_t count) {
    const auto value = number<std::uint16_t>();
    return count == 0 ? 0 : value % count;
  }
  std::string_view text(std::size_t length) {
    const std::string_view taken = left.substr(0, length);
    left.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() { return text(left.size()); }

private:
  std::string_view left;
};

/// Bytes by chance, the same every time: of inputs that are lists of edits, each is a list.
inline void addRandomInputs(std::vector<std::string> &inputs, int count, std::size_t length) {
  std::mt19937 random(count);
  for (; count > 0; --count) {
    std::string &input = inputs.emplace_back(1 + random() % length, '\0');
    for (char &byte : input)
      byte = static_cast<char>(random());
  }
}

} // namespace vime::fuzz
