// Interpreter: runs a plan by compiler/docs/execution-model.md, on terms instead of bytes, and says
// whether it trains what its job asks for. A yardstick for the judges: it shares the plan and its
// reader with them and nothing else (tests/Layering sees to that).
//
//   Interpreter interpreter(plan);
//   const Verdict verdict = interpreter.judge();   // verdict.fault, verdict.text
//
// Transfers meet strictly: both ends stand at the heads of their queues. First every rank is one
// queue, which is the most that any transport serialises; `wander` merges lanes at random instead
// and fires at random. Races are found by vector clocks in the first run, whether or not they would
// ever show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime::interpreter {

/// The first of these that a run shows.
enum class Fault : std::uint8_t {
  None,
  Unreadable, // refused by the reader: no rank would begin
  Meeting,    // ends or members that meet disagree, or never could
  Clock,      // times do not ascend, or differ where ranks meet
  Decision,   // something is asked of a header that need not be there
  Race,       // two uses of a byte without an order
  Stuck,
  Tasks, // one runs too often or not at all
  Wrong  // what is left in the end is not what the job asks for
};
std::string_view nameOf(Fault fault);

struct Verdict {
  Fault fault = Fault::None;
  std::string text;
  /// Of a race: each pair of uses is ordered after all, but only through what other ranks do.
  bool orderedByPeers = false;
};

/// In the steps that a course (Course.h) decides, for so many of them.
Verdict judge(const plan::Plan &plan, std::uint32_t courses);

/// With queues merged and actions fired at random: `judge` by luck, to compare it with.
Verdict wander(const plan::Plan &plan, std::uint32_t course, std::uint32_t seed);

/// Courses after which every value of every decision has come next to every other.
std::uint32_t coursesOf(const plan::Plan &plan);

} // namespace vime::interpreter
