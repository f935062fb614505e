// Training: what a right run of a job leaves, whatever its order, ranks and lanes: step by step and
// stage by stage, as one would write it down without a pipeline.
#pragma once

#include <unordered_map>
#include <vector>

#include "tests/Interpreter/Meaning.h"

namespace vime::interpreter {

struct Trained {
  std::vector<Term> seen;                          // ascending
  std::unordered_map<Term, std::uint32_t> decided; // bad or the verdict, by the scalars of a step
};

Trained train(const plan::Plan &plan, const Course &course, const Meaning &meaning, Terms &terms);

/// What is found in the end.
inline Term finalOf(Terms &terms, plan::BufferKind kind, std::uint32_t stage, std::uint32_t replica,
                    Term value) {
  return terms.make(Op::Final, {static_cast<std::uint32_t>(kind), stage, replica}, {value});
}

} // namespace vime::interpreter
