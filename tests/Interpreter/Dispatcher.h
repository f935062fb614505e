// Dispatcher: goes through a rank's program in dispatch order, round its loops and into its cases,
// and asks the step header where the plan leaves something open.
//
//   while (auto dispatched = dispatcher.next(answers)) …   // nothing: wait, or it is at the end
//
// It stops where it must see something first: at the edges of cases until all lanes are drained,
// and at a question until what it asks for is there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/Interpreter/Blocks.h"
#include "tests/Interpreter/Clocks.h"

namespace vime::interpreter {

struct Dispatched {
  std::uint32_t action = 0;     // index in the program
  std::uint32_t microbatch = 0; // where its signature has one
  std::uint32_t step = 0;       // iteration of the loop over steps
  std::int64_t time = 0;
  bool skipped = false; // by its guard
  bool empty = false;   // its microbatch has no tokens
  Stamp stamp;
};

/// What a dispatcher sees of its rank.
class Answers {
public:
  virtual ~Answers() = default;
  /// Whether so much of every lane is finished.
  virtual bool isFinished(const Clock &clock) const = 0;
  /// By the header, or the scalars, as they are now.
  virtual std::uint32_t decided(plan::Decision decision) const = 0;
  virtual bool isEmpty(std::uint32_t microbatch) const = 0;
};

class Dispatcher {
public:
  Dispatcher(const plan::Plan &plan, std::uint32_t rank, bool mayBeEmpty);

  std::optional<Dispatched> next(const Answers &answers);
  bool isAtEnd() const { return frames.empty(); }
  /// What is wrong with the plan itself; empty if nothing.
  const std::string &fault() const { return trouble; }

private:
  struct Frame {
    const Block *block;
    std::uint32_t at = 0; // the next action
    std::size_t inside = 0;
    std::uint32_t trip = 0, trips = 1;
    std::int64_t origin = 0; // time at which this iteration starts
    std::int64_t start = 0;  // from which the bases of the next actions count
  };
  enum class Move : std::uint8_t { Done, Blocked, AtAction };

  Move moveOn(const Answers &answers);
  Move enter(const Block &block, const Answers &answers);
  Move leave(const Answers &answers);
  void leaveLoop(const plan::Loop &loop);
  bool ask(plan::Decision decision, const Answers &answers, std::uint32_t &value);
  static bool knows(const Clock &clock, const Clock &writers);
  bool drains(const Answers &answers);
  std::optional<Dispatched> dispatch(const Answers &answers);
  bool judgeQuestions(const plan::Action &action);
  void remember(const plan::Action &action, const Stamp &stamp);
  std::string at(std::string_view what) const;

  const plan::Plan &plan;
  const std::uint32_t rank;
  const plan::Program &program;
  const plan::Layout &layout;
  const bool mayBeEmpty;
  const Block whole;
  LaneClocks clocks;
  std::vector<Frame> frames;
  std::uint32_t advanced = 0; // iteration that microbatches go by
  std::uint32_t step = 0;
  std::optional<Dispatched> pending;  // dispatched, but what it asks for is not there yet
  bool asksSize = false;              // of that one: whether its microbatch has tokens
  Clock headerWriters, scalarWriters; // the latest on each lane
  std::string trouble;
};

} // namespace vime::interpreter
