// Blocks: a program's loops and cases as a tree, in which a dispatcher goes from block to block.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime::interpreter {

/// The whole program, a loop or a case.
struct Block {
  std::uint32_t begin = 0, end = 0; // actions
  const plan::Loop *loop = nullptr;
  const plan::Case *one = nullptr;
  bool overSteps = false; // of a loop
  std::vector<Block> inside;
};

Block blocksOf(const plan::Program &program);

} // namespace vime::interpreter
