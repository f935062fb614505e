// UTF-8 decoding and the width of characters.
#include "compiler/Diagnostics/Utf8.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace vime {

namespace {

constexpr Character kIllegal{.code = 0xFFFD, .bytes = 1, .legal = false};

struct Range {
  char32_t first, last;
};

bool contains(const auto &ranges, char32_t code) {
  const auto behind =
      std::upper_bound(ranges.begin(), ranges.end(), code,
                       [](char32_t wanted, const Range &range) { return wanted < range.first; });
  return behind != ranges.begin() && code <= std::prev(behind)->last;
}

// The blocks that matter in comments and names, not all of Unicode's table.
constexpr std::array<Range, 8> kZeroWidth{{{0x300, 0x36F},
                                           {0x483, 0x489},
                                           {0x591, 0x5BD},
                                           {0x64B, 0x65F},
                                           {0x200B, 0x200F},
                                           {0x20D0, 0x20FF},
                                           {0xFE00, 0xFE0F},
                                           {0xFE20, 0xFE2F}}};
constexpr std::array<Range, 9> kWide{{{0x1100, 0x115F},
                                      {0x2E80, 0x303E},
                                      {0x3041, 0xA4CF},
                                      {0xAC00, 0xD7A3},
                                      {0xF900, 0xFAFF},
                                      {0xFE30, 0xFE6F},
                                      {0xFF00, 0xFF60},
                                      {0x1F300, 0x1FAFF},
                                      {0x20000, 0x3FFFD}}};

} // namespace

Character characterAt(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80)
    return {.code = lead};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes)
    return kIllegal;
  char32_t code = lead & (0xFF >> (bytes + 1));
  for (std::size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xC0) != 0x80)
      return kIllegal;
    code = code << 6 | (byte(at) & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
    return kIllegal;
  return {.code = code, .bytes = bytes};
}

int displayWidth(char32_t code) {
  return contains(kZeroWidth, code) ? 0 : contains(kWide, code) ? 2 : 1;
}

std::size_t characterCount(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count)
    text.remove_prefix(characterAt(text).bytes);
  return count;
}

bool isControl(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Character character = characterAt(text);
    if (text[0] == '\n' || text[0] == '\t')
      shown += ' ';
    else if (!character.legal || isControl(character.code))
      shown += "\uFFFD";
    else
      shown += text.substr(0, character.bytes);
    text.remove_prefix(character.bytes);
  }
  return shown;
}

} // namespace vime
