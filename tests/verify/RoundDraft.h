// RoundDraft: a plan with rounds on its way to break a rule, and nothing else.
//
//   RoundDraft draft;                                  // two ranks train, two answer prompts
//   draft.move(2, "generate", 1, "broadcast `prompts`");
//   draft.codes()                                      // "S0113"
//
// Every action is made to wait for all before it on its rank, and the clock is laid again: what is
// left to be found is what the plan does, not when.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tests/Mutation/Mutant.h"
#include "tests/Mutation/Reclock.h"
#include "tests/lowering/Lowered.h"
#include "tests/verify/Judged.h"

namespace vime {

/// Ranks 0 and 1 train, 2 and 3 are engines; each of them has two parts of every stage.
inline JobShape roundShape() {
  return {.microbatches = 2,
          .layers = 2,
          .engines = 2,
          .stepsOfRound = 2,
          .hasReference = true,
          .evaluatesPrompts = true};
}

struct RoundDraft {
  plan::Plan plan;

  explicit RoundDraft(const JobShape &shape = roundShape()) : plan(unshared(lowered(shape))) {}

  plan::Program &program(std::uint32_t rank) { return plan.programs[rank]; }
  /// Of the actions of a rank that are described so the `time`-th one, from 0.
  std::uint32_t indexOf(std::uint32_t rank, std::string_view description, std::uint32_t time = 0);
  plan::Action &action(std::uint32_t rank, std::string_view description, std::uint32_t time = 0) {
    return program(rank).actions[indexOf(rank, description, time)];
  }
  std::uint32_t &operand(std::uint32_t rank, std::string_view description, std::uint32_t index,
                         std::uint32_t time = 0) {
    return program(rank).operands[action(rank, description, time).operands + index];
  }
  std::uint32_t bufferOf(std::uint32_t rank, std::string_view description);

  void remove(std::uint32_t rank, std::string_view description, std::uint32_t time = 0) {
    Mutant::erase(program(rank), indexOf(rank, description, time));
  }
  void repeat(std::uint32_t rank, std::string_view description, std::uint32_t time = 0) {
    const std::uint32_t index = indexOf(rank, description, time);
    Mutant::insert(program(rank), index + 1, plan::Action(program(rank).actions[index]));
  }
  void move(std::uint32_t rank, std::uint32_t from, std::uint32_t to) {
    Mutant::move(program(rank), from, to);
  }
  /// In front of another action.
  void move(std::uint32_t rank, std::string_view what, std::uint32_t time, std::string_view before,
            std::uint32_t its = 0) {
    move(rank, indexOf(rank, what, time), indexOf(rank, before, its));
  }
  void swap(std::uint32_t rank, std::uint32_t one, std::uint32_t other) {
    std::swap(program(rank).actions[one], program(rank).actions[other]);
  }
  /// Nothing in its place.
  void joinAt(std::uint32_t rank, std::uint32_t index);
  void replaceByJoin(std::uint32_t rank, std::string_view description) {
    joinAt(rank, indexOf(rank, description));
  }
  /// On every engine.
  template <typename Change> void onEngines(Change change) {
    for (std::uint32_t rank = plan.mesh.trainers(); rank < plan.mesh.ranks(); ++rank)
      change(rank);
  }

  /// Waits for everything, under a clock of its own.
  void settle();
  std::string codes() {
    settle();
    return codesOf(plan);
  }
  std::string findings() {
    settle();
    return judged(plan);
  }
};

/// The findings on a plan that breaks a rule by one change.
std::string findingsAfter(const std::function<void(RoundDraft &)> &change);
std::string codesAfter(const std::function<void(RoundDraft &)> &change);
/// The same change on every engine.
std::string onEngines(const std::function<void(RoundDraft &, std::uint32_t)> &change);

} // namespace vime
