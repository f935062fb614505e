#include "tests/Interpreter/Memory.h"

namespace vime::interpreter {

std::vector<Piece> Memory::take(const Place &place) {
  std::vector<Piece> pieces;
  arena(place).forEach(
      place.begin, place.begin + place.bytes, [&](std::uint64_t at, const Content &content) {
        const std::uint64_t distance = at - place.begin;
        const bool goesOn = !pieces.empty() && pieces.back().value == content.value &&
                            pieces.back().offset + distance - pieces.back().at == content.offset;
        // Nothing has no bytes that could be in the wrong place.
        const bool nothing =
            !pieces.empty() && content.value == kNothing && pieces.back().value == kNothing;
        if (!goesOn && !nothing)
          pieces.push_back({distance, content.value, content.offset});
      });
  return pieces;
}

void Memory::put(const Place &place, const std::vector<Piece> &pieces) {
  for (std::size_t index = 0; index < pieces.size(); ++index) {
    const Piece &piece = pieces[index];
    const std::uint64_t end = index + 1 < pieces.size() ? pieces[index + 1].at : place.bytes;
    arena(place).forEach(place.begin + piece.at, place.begin + std::min(end, place.bytes),
                         [&](std::uint64_t at, Content &content) {
                           content = {piece.value, piece.offset + (at - place.begin - piece.at)};
                         });
  }
}

void Memory::write(const Place &place, Term value) { put(place, {{0, value, 0}}); }

Term Memory::read(const Place &place) {
  const std::vector<Piece> pieces = take(place);
  if (pieces.size() == 1 && (pieces[0].offset == 0 || pieces[0].value == kNothing))
    return pieces[0].value;
  std::vector<Term> parts;
  for (const Piece &piece : pieces)
    parts.push_back(
        terms.make(Op::Torn, {static_cast<std::uint32_t>(piece.offset)}, {piece.value}));
  return pieces.empty() ? kNothing : terms.make(Op::Torn, {}, parts);
}

std::vector<Term> Memory::readAll(const Place &place) {
  std::vector<Term> values;
  for (const Piece &piece : take(place))
    values.push_back(piece.offset == 0 ? piece.value : terms.make(Op::Torn, {}, {piece.value}));
  return values;
}

} // namespace vime::interpreter
