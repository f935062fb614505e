// Operands: what an action about to fire finds and leaves, by the names of its signature.
#pragma once

#include <string_view>
#include <vector>

#include "tests/Interpreter/Meaning.h"
#include "tests/Interpreter/Uses.h"

namespace vime::interpreter {

/// An action of a rank about to fire.
struct Firing {
  const plan::Action &action;
  std::uint32_t rank;
  std::uint32_t replica;
  std::uint32_t microbatch;
  std::uint32_t stage; // stageNumber, where it has one
  const std::vector<Use> &uses;
  Memory &memory;
};

const Use &named(const Firing &firing, std::string_view name);
/// kNothing where it has none.
Term read(const Firing &firing, std::string_view name);
std::vector<Term> readSlots(const Firing &firing, std::string_view name);
/// Values one behind the other.
std::vector<Term> readMembers(const Firing &firing, std::string_view name);
void write(const Firing &firing, std::string_view name, Term value);
TaskInputs inputsOf(const Firing &firing, const Meaning &meaning);

} // namespace vime::interpreter
