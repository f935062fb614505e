// Tally: how often each task ran (S1): in every step each stage one forward of each microbatch and
// one backward, or an input and a weight gradient in its place, the last stage a loss; the replica
// loads its samples once; and likewise what belongs to an evaluation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "tests/Interpreter/Course.h"

namespace vime::interpreter {

class Tally {
public:
  Tally(const plan::Plan &plan, const Course &course) : plan(plan), course(course) {}

  void count(plan::Opcode opcode, std::uint32_t step, std::uint32_t replica, std::uint32_t stage,
             std::uint32_t microbatch);
  /// What ran too often or not at all; empty if nothing.
  std::string fault() const;

private:
  using Task = std::tuple<plan::Opcode, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::uint32_t times(const Task &task) const;
  std::string ofPass(std::uint32_t step, std::uint32_t replica, bool evaluates,
                     std::uint64_t &found) const;
  static std::string words(const Task &task);

  const plan::Plan &plan;
  const Course &course;
  std::map<Task, std::uint32_t> counts;
};

} // namespace vime::interpreter
