// Memory: the arenas of a rank, with terms instead of bytes.
//
//   memory.write(place, term);                   // the bytes of a value, from its first one
//   memory.read(place)                           // that term, or Torn where it is not whole
//   memory.put(place, other.take(place));        // what a message moves, whatever it is
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/Plan/Plan.h"
#include "tests/Interpreter/Intervals.h"
#include "tests/Interpreter/Terms.h"

namespace vime::interpreter {

/// Bytes of an arena.
struct Place {
  plan::Tier tier = plan::Tier::Device;
  std::uint64_t begin = 0, bytes = 0;
};

/// A part of a value, at a distance from the start of what is moved.
struct Piece {
  std::uint64_t at = 0;
  Term value = kNothing;
  std::uint64_t offset = 0; // of its first byte in the value
};

class Memory {
public:
  Memory(Terms &terms, const plan::Layout &layout)
      : terms(terms),
        arenas{Intervals<Content>(layout.arena[0]), Intervals<Content>(layout.arena[1])} {}

  Term read(const Place &place);
  /// The values that lie there one behind the other.
  std::vector<Term> readAll(const Place &place);
  void write(const Place &place, Term value);
  std::vector<Piece> take(const Place &place);
  void put(const Place &place, const std::vector<Piece> &pieces);

private:
  struct Content {
    Term value = kNothing;
    std::uint64_t offset = 0;
    Content startingAt(std::uint64_t distance) const { return {value, offset + distance}; }
  };
  Intervals<Content> &arena(const Place &place) {
    return arenas[static_cast<std::size_t>(place.tier)];
  }

  Terms &terms;
  std::array<Intervals<Content>, 2> arenas;
};

} // namespace vime::interpreter
