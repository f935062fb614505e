#include "tests/Interpreter/Operands.h"

namespace vime::interpreter {

using namespace plan;

const Use &named(const Firing &firing, std::string_view name) {
  const auto operands = findSignature(firing.action.opcode)->operands;
  std::size_t index = 0;
  while (operands[index].name != name)
    ++index;
  return firing.uses[index];
}

Term read(const Firing &firing, std::string_view name) {
  const Use &use = named(firing, name);
  return use.present && !use.places.empty() ? firing.memory.read(use.needs()) : kNothing;
}

std::vector<Term> readSlots(const Firing &firing, std::string_view name) {
  const Use &use = named(firing, name);
  std::vector<Term> values;
  for (std::size_t slot = 0; slot < use.places.size(); ++slot)
    values.push_back(firing.memory.read(use.needs(slot)));
  return values;
}

std::vector<Term> readMembers(const Firing &firing, std::string_view name) {
  const Use &use = named(firing, name);
  return use.present ? firing.memory.readAll(use.needs()) : std::vector<Term>();
}

void write(const Firing &firing, std::string_view name, Term value) {
  const Use &use = named(firing, name);
  if (use.present)
    for (const Place &place : use.places)
      firing.memory.write(place, value);
}

TaskInputs inputsOf(const Firing &firing, const Meaning &meaning) {
  TaskInputs in{.header = meaning.ofTask(read(firing, "header")),
                .segments = read(firing, "segments")};
  for (const OperandSignature &operand : findSignature(firing.action.opcode)->operands) {
    if (operand.name == "input")
      in.input = read(firing, "input");
    if (operand.name == "weights")
      in.weights = read(firing, "weights");
    if (operand.name == "tied_weights")
      in.tiedWeights = read(firing, "tied_weights");
    if (operand.name == "output_gradient")
      in.outputGradient = read(firing, "output_gradient");
    if (operand.name == "stash" && operand.access != plan::Access::Write)
      in.stash = read(firing, "stash");
    if (operand.name == "context" && named(firing, "context").reads)
      in.context = read(firing, "context");
    if (operand.name == "context_gradients" && named(firing, "context_gradients").reads)
      in.contextGradients = read(firing, "context_gradients");
  }
  return in;
}

} // namespace vime::interpreter
