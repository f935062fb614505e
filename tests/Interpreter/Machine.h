// Machine: all ranks of a plan on their way through it, node by node.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/Interpreter/Dispatcher.h"
#include "tests/Interpreter/Effects.h"
#include "tests/Interpreter/Interpreter.h"
#include "tests/Interpreter/Meetings.h"
#include "tests/Interpreter/PeerOrder.h"
#include "tests/Interpreter/Tally.h"
#include "tests/Interpreter/Training.h"

namespace vime::interpreter {

class Machine {
public:
  /// Without a seed every rank has one queue; with one, lanes are merged at random.
  Machine(const plan::Plan &plan, const Course &course, Terms &terms,
          std::optional<std::uint32_t> seed);

  Verdict run();

private:
  struct Instance {
    Dispatched dispatched;
    std::vector<Use> uses;
  };
  class Rank;

  void dispatch(Rank &rank);
  void judgeUses(Rank &rank, const Instance &instance);
  bool isReady(const Seat &seat) const;
  std::vector<const std::vector<Seat> *> ready() const;
  bool step();
  void fire(const std::vector<Seat> &seats);
  void fireAlone(Rank &rank, const Instance &instance);
  void transfer(Rank &source, const Instance &send, Rank &destination, const Instance &receive);
  void collect(const std::vector<Seat> &seats);
  void judgeMeeting(const std::vector<Seat> &seats);
  void judgePeerOrder(const std::vector<Seat> &seats);
  Verdict compare();
  void fault(Fault fault, const std::string &text);
  std::string nameOf(const Rank &rank, const Instance &instance) const;

  const plan::Plan &plan;
  const Course &course;
  Terms &terms;
  const Meaning meaning;
  const Trained trained;
  Effects effects;
  const Meetings meetings;
  Tally tally;
  PeerOrder peerOrder;
  std::mt19937 random;
  const bool wanders;
  std::vector<std::unique_ptr<Rank>> ranks;
  std::size_t dispatched = 0;
  Verdict verdict;

public:
  ~Machine();
};

} // namespace vime::interpreter
