// Effects: an action fires. What it reads is taken from the memory of its rank, what it makes of
// that (Meaning.h) is put there, and what can be seen from outside is noted.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tests/Interpreter/Operands.h"
#include "tests/Interpreter/Rounds.h"

namespace vime::interpreter {

class Effects {
public:
  /// `verdicts`: by the scalars of a step.
  Effects(const plan::Plan &plan, const Meaning &meaning, Terms &terms,
          const std::unordered_map<Term, std::uint32_t> &verdicts)
      : meaning(meaning), terms(terms), verdicts(verdicts), rounds(plan, meaning, terms) {}

  /// Of everything but transfers and collectives.
  void fire(const Firing &firing);
  /// Ascending.
  std::vector<Term> seen() const;
  void see(Term term) { events.push_back(term); }
  /// A part of its weights is about to arrive at an engine.
  void arrive(std::uint32_t rank) { rounds.arrive(rank); }

private:
  void initialize(const Firing &firing);
  void load(const Firing &firing, bool evaluates);
  void forward(const Firing &firing, bool evaluates);
  void loss(const Firing &firing, bool evaluates);
  void backward(const Firing &firing);
  void backwardInput(const Firing &firing);
  void backwardWeight(const Firing &firing);
  void accumulate(const Firing &firing, const TaskInputs &in, bool isRight);
  void squareNorm(const Firing &firing);
  void optimize(const Firing &firing);
  void optimizeEarly(const Firing &firing);
  void settle(const Firing &firing);
  void redo(const Firing &firing);
  void measure(const Firing &firing);
  void name(const Firing &firing);
  void reportEvaluation(const Firing &firing);
  /// What the replica keeps of the whole, and back.
  Term kept(const Firing &firing, Term whole) const;
  Term whole(const Firing &firing, std::string_view name) const;
  void put(const Firing &firing, std::string_view record, std::uint32_t kind, std::uint32_t key,
           Term value);

  const Meaning &meaning;
  Terms &terms;
  const std::unordered_map<Term, std::uint32_t> &verdicts;
  std::uint32_t decisions = 0;
  Term latest = kNothing; // checkpoint that has a name
  std::vector<Term> events;
  Rounds rounds;
};

} // namespace vime::interpreter
