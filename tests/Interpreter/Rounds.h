// Rounds: what coordinator and engines do, action by action, and what an engine is meanwhile. What
// it refuses (runtime/Engine/EngineStates.cpp) is seen as a strange thing.
#pragma once

#include <map>
#include <vector>

#include "tests/Interpreter/Operands.h"

namespace vime::interpreter {

class Rounds {
public:
  Rounds(const plan::Plan &plan, const Meaning &meaning, Terms &terms)
      : plan(plan), meaning(meaning), terms(terms) {}

  /// False if it is none of rounds.
  bool fire(const Firing &firing);
  /// A part of its weights is about to arrive at an engine.
  void arrive(std::uint32_t rank);
  std::vector<Term> events; // that can be seen from outside

private:
  struct Engine {
    bool isAwake = false, isPaused = true, isPublished = false;
    std::uint32_t version = 0;
    std::map<std::uint32_t, Place> weights; // by stage, where they were installed
    std::map<std::uint32_t, bool> isNew;    // since the latest version
  };

  void draw(const Firing &firing, bool heldOut);
  void score(const Firing &firing);
  void pack(const Firing &firing);
  void load(const Firing &firing);
  void policyLoss(const Firing &firing);
  void advantage(const Firing &firing);
  void infer(const Firing &firing);
  void logProbabilities(const Firing &firing);
  void publish(const Firing &firing);
  void generate(const Firing &firing);
  bool isRound(Term round, Term header) const;
  void require(bool holds, const Firing &firing) {
    if (!holds)
      events.push_back(terms.make(Op::Other, {firing.rank, firing.action.opcode}));
  }

  const plan::Plan &plan;
  const Meaning &meaning;
  Terms &terms;
  std::map<std::uint32_t, Engine> engines; // by rank
};

} // namespace vime::interpreter
