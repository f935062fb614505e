#include "runtime/Data/TextSamples.h"

#include <algorithm>
#include <cstring>

namespace vime {
namespace {

/// The byte behind the line that begins at `begin`.
std::uint64_t endOfLine(std::span<const std::byte> text, std::uint64_t begin) {
  const void *found = std::memchr(text.data() + begin, '\n', text.size() - begin);
  return found ? static_cast<std::uint64_t>(static_cast<const std::byte *>(found) - text.data()) + 1
               : text.size();
}

bool isEmpty(std::span<const std::byte> line) {
  return std::all_of(line.begin(), line.end(), [](std::byte byte) {
    return byte == std::byte('\n') || byte == std::byte('\r');
  });
}

/// Visits [begin, end) of each line or paragraph. What is between paragraphs, and empty lines,
/// comes as what has nothing but its end.
template <typename Visit>
void forEachPart(std::span<const std::byte> text, plan::Split split, Visit visit) {
  std::uint64_t begin = 0; // of the line or paragraph under way
  for (std::uint64_t line = 0, end = 0; line < text.size(); line = end) {
    end = endOfLine(text, line);
    const bool empty = isEmpty(text.subspan(line, end - line));
    if (empty || split == plan::Split::Line) {
      visit(begin, line, /*isEmpty=*/false);
      begin = line;
    }
    if (empty) {
      visit(line, end, /*isEmpty=*/true);
      begin = end;
    }
  }
  visit(begin, text.size(), /*isEmpty=*/false);
}

} // namespace

TextSamples TextSamples::cut(std::span<const std::byte> text, plan::Split split,
                             std::uint32_t sequence) {
  TextSamples samples(sequence);
  if (split == plan::Split::Window) {
    const std::uint64_t window = std::uint64_t(sequence) + 1;
    samples.total = text.size() / window;
    samples.unused = text.size() % window;
    return samples;
  }
  forEachPart(text, split, [&](std::uint64_t begin, std::uint64_t end, bool isEmpty) {
    if (isEmpty || end - begin < 2)
      samples.unused += end - begin;
    else
      samples.total += (end - begin - 1 + sequence - 1) / sequence;
  });
  samples.first.reserve(samples.total);
  samples.tokens.reserve(samples.total);
  forEachPart(text, split, [&](std::uint64_t begin, std::uint64_t end, bool isEmpty) {
    if (!isEmpty)
      samples.add(begin, end);
  });
  return samples;
}

void TextSamples::add(std::uint64_t begin, std::uint64_t end) {
  for (; end - begin >= 2; begin += tokens.back()) {
    first.push_back(begin);
    tokens.push_back(
        static_cast<std::uint32_t>(std::min<std::uint64_t>(sequence, end - begin - 1)));
  }
}

} // namespace vime
