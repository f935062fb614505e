// Mutant: a plan on its way to be changed at random, in one place of one program.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "runtime/Plan/Plan.h"

namespace vime {

class Mutant {
public:
  Mutant(plan::Plan &plan, std::mt19937 &random);

  plan::Plan &plan;
  std::mt19937 &random;
  plan::Program &program;
  plan::Layout &layout;
  std::string what; // was changed, for messages

  std::uint32_t below(std::size_t count) {
    return count == 0 ? 0 : static_cast<std::uint32_t>(random() % count);
  }
  bool coin() { return random() % 2 == 0; }

  /// Notes where.
  plan::Action &action(std::uint32_t index);
  plan::Action &anyAction() { return action(below(program.actions.size())); }
  /// Null if there is none.
  plan::Wait *anyWait();
  plan::Buffer &anyBuffer();

  /// Loops and cases keep what they held.
  static void erase(plan::Program &from, std::uint32_t index);
  static void insert(plan::Program &into, std::uint32_t index, const plan::Action &action);
  /// In front of which the action stands afterwards.
  static void move(plan::Program &in, std::uint32_t from, std::uint32_t to);
};

} // namespace vime
