// Course: what is decided while a run goes on, chosen beforehand: of every step the number of
// microbatches, how many of them have tokens in each replica, whether an evaluation, a checkpoint
// or the end follows, whether its gradients are bad, and what the verdict on an early optimizer is.
//
//   const Course course(plan, /*seed=*/0);
//   course[2].microbatches
//
// Courses of different seeds take different values; the steps of one go from value to value.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/Plan/Plan.h"

namespace vime::interpreter {

struct Step {
  std::uint32_t microbatches = 0;
  std::uint32_t evaluate = 0, save = 0, stop = 0, bad = 0; // what is decided; 1: it is so
  std::uint32_t pending = 0, settle = 0;                   // where the optimizer runs early
  std::uint32_t verdict = 0;                               // on this step, likewise
  std::uint32_t rollout = 0;                               // it begins a round
  bool evaluationStops = false;                            // the evaluation behind it ends the run
  std::vector<std::uint32_t> filled;       // microbatches with tokens, of each replica
  std::vector<std::uint32_t> filledOfText; // of the evaluation
};

class Course {
public:
  Course(const plan::Plan &plan, std::uint32_t seed);

  /// Those that run.
  std::uint32_t steps() const { return static_cast<std::uint32_t>(all.size()); }
  const Step &operator[](std::uint32_t step) const {
    return all[step < all.size() ? step : all.size() - 1];
  }
  /// Whether a microbatch can be without tokens.
  bool mayBeEmpty() const { return empties; }

private:
  std::vector<Step> all;
  bool empties = false;
};

/// How far a header has come.
enum class Phase : std::uint8_t { Decided, Loaded, Settled, Evaluating, Reported, Packed };

} // namespace vime::interpreter
