// Texts of a plan go to terminals and into JSON: nothing but well-formed UTF-8 gets past here.
#include "runtime/Plan/CheckParts.h"

namespace vime::plan {
namespace {

/// Bytes of the character that begins `text`, 0 if it is malformed (RFC 3629: no overlong forms, no
/// surrogates).
std::size_t characterBytes(std::string_view text) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned lead = byte(0);
  if (lead < 0x80)
    return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length)
    return 0;
  for (std::size_t index = 1; index < length; ++index)
    if ((byte(index) & 0xC0) != 0x80)
      return 0;
  const unsigned second = byte(1);
  const bool outside = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                       (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
  return outside ? 0 : length;
}

bool isControl(unsigned char character, bool lines) {
  const bool layout = character == '\n' || character == '\r' || character == '\t';
  return (character < 0x20 && !(lines && layout)) || character == 0x7F;
}

} // namespace

bool isCleanText(std::string_view text, bool lines) {
  while (!text.empty()) {
    const std::size_t length = characterBytes(text);
    if (length == 0 || isControl(static_cast<unsigned char>(text.front()), lines))
      return false;
    text.remove_prefix(length);
  }
  return true;
}

} // namespace vime::plan
