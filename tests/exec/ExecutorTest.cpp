// The executor on chains of ranks whose tasks the tests make up.
#include "runtime/Exec/Executor.h"

#include <array>
#include <atomic>
#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Exec/CertificateCheck.h"
#include "tests/exec/ChainPlan.h"
#include "tests/exec/ChainRun.h"

namespace vime {
namespace {

using plan::Opcode;
using testing::HasSubstr;

void expectAllOk(const std::vector<Status> &statuses) {
  for (std::size_t rank = 0; rank < statuses.size(); ++rank)
    EXPECT_TRUE(statuses[rank].ok()) << "rank " << rank << ": " << statuses[rank].message();
}

// ---- data that shows where it has been ----------------------------------------------------------------------------
// Microbatch b of step s leaves rank 0 as 1000 s + 10 b; every rank adds 1 on the way there, 2 on
// the way back.

struct Seen {
  std::uint64_t step = 0;
  std::vector<std::uint64_t> forward, backward; // first token of each message that came in
  std::vector<double> gathered;
};
std::array<Seen, 8> seen; // by rank; each touched by its own thread

std::uint64_t &tokenAt(std::byte *address) { return *reinterpret_cast<std::uint64_t *>(address); }

Status markForward(RankState &state, const Instruction &instruction) {
  Seen &own = seen[state.rank];
  std::uint64_t value = 1000 * own.step + 10 * instruction.microbatch;
  if (std::byte *input = instruction.operands[0])
    own.forward.push_back(value = tokenAt(input));
  if (std::byte *output = instruction.operands[1])
    tokenAt(output) = value + 1;
  return Status();
}

Status markBackward(RankState &state, const Instruction &instruction) {
  Seen &own = seen[state.rank];
  std::uint64_t value = 5000 + 1000 * own.step + 10 * instruction.microbatch;
  if (std::byte *gradient = instruction.operands[0])
    own.backward.push_back(value = tokenAt(gradient));
  if (std::byte *gradient = instruction.operands[1])
    tokenAt(gradient) = value + 2;
  return Status();
}

Status markOwn(RankState &state, const Instruction &instruction) {
  *reinterpret_cast<double *>(instruction.operands[0]) =
      100.0 * static_cast<double>(seen[state.rank].step) + state.rank;
  return Status();
}

Status markAll(RankState &state, const Instruction &instruction) {
  const auto *all = reinterpret_cast<const double *>(instruction.operands[0]);
  seen[state.rank].gathered.assign(all, all + state.plan.mesh.ranks());
  ++seen[state.rank].step;
  return Status();
}

RoutineTable markingRoutines() {
  RoutineTable table = plainRoutines();
  table[plan::code(Opcode::Forward)] = markForward;
  table[plan::code(Opcode::Backward)] = markBackward;
  table[plan::code(Opcode::SquareNorm)] = markOwn;
  table[plan::code(Opcode::Clip)] = markAll;
  return table;
}

class ExecutorChain : public testing::TestWithParam<std::uint32_t> {
protected:
  void SetUp() override { seen = {}; }
};

TEST_P(ExecutorChain, MessagesOfEveryStepReachTheirTasks) {
  const std::uint32_t ranks = GetParam();
  const ChainShape shape{.ranks = ranks, .microbatches = 5, .steps = 40};
  const plan::Plan plan = chainPlan(shape);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    ASSERT_TRUE(checkCertificate(plan, rank).ok()) << checkCertificate(plan, rank).message();
  expectAllOk(ChainRun{plan, markingRoutines()}.run());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::uint64_t> forward, backward;
    std::vector<double> gathered;
    for (std::uint64_t step = 0; step < shape.steps; ++step)
      for (std::uint64_t microbatch = 0; microbatch < shape.microbatches; ++microbatch) {
        if (rank > 0)
          forward.push_back(1000 * step + 10 * microbatch + rank);
        if (rank + 1 < ranks)
          backward.push_back(5000 + 1000 * step + 10 * microbatch + 2 * (ranks - 1 - rank));
      }
    for (std::uint32_t member = 0; member < ranks; ++member)
      gathered.push_back(100.0 * (shape.steps - 1) + member);
    EXPECT_EQ(seen[rank].forward, forward) << "rank " << rank;
    EXPECT_EQ(seen[rank].backward, backward) << "rank " << rank;
    EXPECT_EQ(seen[rank].gathered, gathered) << "rank " << rank;
  }
}

TEST_P(ExecutorChain, EmptyMicrobatchesTravelWithoutBytes) {
  ChainRun chain{chainPlan({.ranks = GetParam(), .microbatches = 4, .steps = 5}),
                 markingRoutines()};
  chain.tokens = {1, 0, kChainTokens, 0};
  for (plan::Program &program : chain.plan.programs)
    for (plan::Action &action : program.actions)
      if (action.opcode == plan::code(Opcode::Forward) ||
          action.opcode == plan::code(Opcode::Backward))
        action.flags |= plan::kSkipIfEmpty;
  expectAllOk(chain.run());
  const std::size_t expected = 2 * 5; // two microbatches of five steps have tokens
  for (std::uint32_t rank = 1; rank < GetParam(); ++rank)
    EXPECT_EQ(seen[rank].forward.size(), expected);
}

TEST_P(ExecutorChain, FinishesWhateverQueuesAreMerged) {
  // The transport theorem: every rank dispatches in clock order, so no merging closes a cycle.
  using Kind = QueueMerging::Kind;
  ChainRun chain{chainPlan({.ranks = GetParam(), .microbatches = 5, .steps = 3}), nullRoutines()};
  for (const Kind kind : {Kind::None, Kind::All}) {
    chain.rendezvous = {.kind = kind};
    expectAllOk(chain.run());
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    chain.rendezvous = {.kind = Kind::Random, .seed = seed};
    expectAllOk(chain.run());
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ExecutorChain, testing::Values(1, 2, 4, 7),
                         [](const auto &info) { return std::to_string(info.param) + "Ranks"; });

// ---- failures ------------------------------------------------------------------------------------------------------

std::atomic<int> countdown;

Status failOnRankOne(RankState &state, const Instruction &) {
  if (state.rank == 1 && --countdown == 0)
    return Status(StatusCode::File, "the disk is full");
  return Status();
}

TEST(Executor, ARoutineThatFailsStopsAllRanksAndIsNamed) {
  ChainRun chain{chainPlan({.ranks = 4, .microbatches = 4, .steps = 1000}), nullRoutines()};
  chain.routines[plan::code(Opcode::Backward)] = failOnRankOne;
  countdown = 4 * 2 + 3; // microbatch 2 of the third step
  const std::vector<Status> statuses = chain.run();
  EXPECT_EQ(statuses[1].code(), StatusCode::File);
  EXPECT_THAT(statuses[1].message(), HasSubstr("rank 1 in action "));
  EXPECT_THAT(statuses[1].message(),
              HasSubstr("(backward, stage 1, microbatch 2), iteration 2: the disk is full"));
  for (const std::uint32_t rank : {0u, 2u, 3u})
    EXPECT_EQ(statuses[rank].code(), StatusCode::Interrupted) << statuses[rank].message();
}

Status throwOnRankOne(RankState &state, const Instruction &) {
  if (state.rank == 1 && --countdown == 0)
    throw std::runtime_error("no such kernel");
  return Status();
}

TEST(Executor, AnExceptionIsAFailureOfItsAction) {
  ChainRun chain{chainPlan({.ranks = 3, .microbatches = 4, .steps = 1000}), nullRoutines()};
  chain.routines[plan::code(Opcode::Backward)] = throwOnRankOne;
  countdown = 4 * 2 + 3; // microbatch 2 of the third step
  const std::vector<Status> statuses = chain.run();
  EXPECT_EQ(statuses[1].code(), StatusCode::RankFailed);
  EXPECT_THAT(statuses[1].message(), HasSubstr("(backward, stage 1, microbatch 2), iteration 2: an "
                                               "exception: no such kernel"));
  for (const std::uint32_t rank : {0u, 2u})
    EXPECT_EQ(statuses[rank].code(), StatusCode::Interrupted) << statuses[rank].message();
}

Status throwMemory(RankState &, const Instruction &) { throw std::bad_alloc(); }
Status throwNumber(RankState &, const Instruction &) { throw 7; }

TEST(Executor, WhateverIsThrownIsCaughtOnAWorkersThreadToo) {
  for (const auto &[routine, words] :
       {std::pair<Routine, const char *>(throwMemory, "no memory is left"),
        std::pair<Routine, const char *>(throwNumber, "an exception that says nothing")}) {
    ChainRun chain{chainPlan({.ranks = 1}), nullRoutines()};
    plan::Program &program = chain.plan.programs[0];
    program.lanes.push_back({.kind = plan::LaneKind::Io});
    for (plan::Action &action : program.actions)
      if (action.opcode == plan::code(Opcode::Clip))
        action.lane = static_cast<std::uint8_t>(program.lanes.size() - 1);
    chain.routines[plan::code(Opcode::Clip)] = routine;
    const Status status = chain.run()[0];
    EXPECT_EQ(status.code(), StatusCode::RankFailed);
    EXPECT_THAT(status.message(), HasSubstr(std::string("(clip), iteration 0: ") + words));
  }
}

std::atomic<bool> released;

Status stallOnRankOne(RankState &state, const Instruction &) {
  while (state.rank == 1 && !released)
    std::this_thread::yield();
  return Status();
}

TEST(Executor, APeerThatStallsIsNamedByWhoWaitsForIt) {
  ChainRun chain{chainPlan({.ranks = 2, .microbatches = 2, .steps = 3}), nullRoutines()};
  chain.routines[plan::code(Opcode::Forward)] = stallOnRankOne;
  chain.limit = std::chrono::milliseconds(100);
  released = false;
  std::thread release([] { // the executor does not interrupt a task: the test ends it
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    released = true;
  });
  const std::vector<Status> statuses = chain.run();
  release.join();
  EXPECT_EQ(statuses[0].code(), StatusCode::Hang);
  EXPECT_THAT(
      statuses[0].message(),
      HasSubstr("rank 0 waiting to start action 5 (backward, stage 0, microbatch 0), iteration "
                "0: rank 1 did not come to transfer 0 of rank 1 → rank 0, backward"));
}

TEST(Executor, ARankThatNeverBlocksStopsToo) {
  // Rank 0 only sends, and its peer keeps up: nothing but the look at the end of the run can stop
  // it.
  ChainRun chain{chainPlan({.ranks = 1, .microbatches = 1, .steps = 1u << 30}), nullRoutines()};
  chain.routines[plan::code(Opcode::Clip)] = [](RankState &state, const Instruction &) {
    if (++countdown == 10)
      state.transport->abort();
    return Status();
  };
  countdown = 0;
  EXPECT_EQ(chain.run()[0].code(), StatusCode::Interrupted);
  EXPECT_EQ(countdown, 10);
}

// ---- loops over microbatches ---------------------------------------------------------------------

std::vector<std::pair<std::uint32_t, std::ptrdiff_t>> visits; // microbatch, byte of the ring

Status visit(RankState &, const Instruction &instruction) {
  static std::byte *ring;
  if (visits.empty())
    ring = instruction.operands[1];
  visits.emplace_back(instruction.microbatch, instruction.operands[1] - ring);
  return Status();
}

TEST(Executor, ALoopOverMicrobatchesGoesRoundTheRing) {
  ChainRun chain{chainPlan({.ranks = 1}), nullRoutines()};
  plan::Program &program = chain.plan.programs[0];
  chain.plan.layouts[0] = {
      {{.kind = plan::BufferKind::Output, .count = 3, .bytes = 64, .stride = 128}}, {384, 0}};
  program.operands = {plan::kNoBuffer, 0};
  program.actions = {
      {.opcode = plan::code(Opcode::Forward), .step = 2, .microbatch = 3, .operandCount = 2}};
  program.loops = {{.begin = 0, .end = 1, .trips = 4, .period = 10}};
  chain.routines[plan::code(Opcode::Forward)] = visit;
  visits.clear();
  expectAllOk(chain.run());
  EXPECT_THAT(visits, testing::ElementsAre(std::pair(3u, 0), std::pair(5u, 256), std::pair(7u, 128),
                                           std::pair(9u, 0)));
}

/// What each rank did, in order.
std::array<std::vector<std::pair<std::uint16_t, std::uint32_t>>, 8> traces;

Status traced(RankState &state, const Instruction &instruction) {
  static const RoutineTable routines = markingRoutines();
  const std::uint16_t opcode = state.program.actions[instruction.action].opcode;
  traces[state.rank].emplace_back(opcode, instruction.microbatch);
  return routines.at(opcode)(state, instruction);
}

/// Runs a chain with some of its ranks folded; what they did and what arrived where.
auto tracesOf(const plan::Plan &plan) {
  ChainRun chain{plan, markingRoutines()};
  for (auto &[opcode, routine] : chain.routines)
    routine = traced;
  seen = {};
  traces = {};
  for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
    EXPECT_EQ(checkCertificate(plan, rank).message(), "");
  expectAllOk(chain.run());
  std::vector<std::vector<std::uint64_t>> arrived;
  for (const Seen &own : seen) {
    arrived.push_back(own.forward);
    arrived.push_back(own.backward);
  }
  return std::pair(traces, arrived);
}

TEST(Executor, LoopsOverMicrobatchesInTheLoopOverStepsDoWhatTheFlatProgramDoes) {
  const plan::Plan flat = chainPlan({.ranks = 3, .microbatches = 5, .steps = 4});
  const auto expected = tracesOf(flat);
  EXPECT_EQ(expected.first[1].size(), 4u * (2 * 3 * 5 + 3));
  plan::Plan folded = flat;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    foldMicrobatches(folded, rank); // rank by rank: folded ranks meet flat ones
    EXPECT_LE(folded.programs[rank].actions.size(), 9u);
    EXPECT_EQ(tracesOf(folded), expected);
  }
}

TEST(Executor, AFailureInALoopInALoopNamesBothIterations) {
  ChainRun chain{chainPlan({.ranks = 2, .microbatches = 4, .steps = 1000}), nullRoutines()};
  foldMicrobatches(chain.plan, 1);
  chain.routines[plan::code(Opcode::Backward)] = failOnRankOne;
  countdown = 4 * 2 + 4; // microbatch 3 of the third step
  EXPECT_THAT(chain.run()[1].message(),
              HasSubstr("(backward, stage 1, microbatch 3), iteration 3 of iteration "
                        "2: the disk is full"));
}

// ---- the certificate -----------------------------------------------------------------------------

std::string certificateAfter(void (*change)(plan::Program &)) {
  plan::Plan plan = chainPlan({.ranks = 2, .microbatches = 4, .steps = 3});
  foldMicrobatches(plan, 0);
  change(plan.programs[0]);
  return checkCertificate(plan, 0).message();
}

TEST(Certificate, LoopsInLoops) {
  EXPECT_EQ(certificateAfter([](plan::Program &) {}), "");
  EXPECT_THAT(certificateAfter([](plan::Program &program) { program.loops[1].period = 4; }),
              HasSubstr("the times of loop 1 span 4, its period is 4"));
  EXPECT_THAT(certificateAfter([](plan::Program &program) { program.loops[2].start = 1; }),
              HasSubstr("is dispatched before it at"));
  EXPECT_THAT(certificateAfter(
                  [](plan::Program &program) { program.loops[0].period = program.loops[2].start; }),
              HasSubstr("the times of loop 0 span"));
  EXPECT_EQ(certificateAfter([](plan::Program &program) { program.loops[1].end += 1; }),
            "loop 9 of rank 0 overlaps another one");
  EXPECT_EQ(certificateAfter([](plan::Program &program) {
              program.loops.insert(program.loops.begin() + 2, {5, 1, 2, 1, 0, 1});
            }),
            "loop 5 of rank 0 lies in two others; only one is possible");
  EXPECT_EQ(certificateAfter(
                [](plan::Program &program) { program.loops[1].period = std::int64_t{1} << 61; }),
            "loop 1 of rank 0 leaves the clock's range");
}

TEST(Executor, AnUnknownOpcodeIsRefusedBeforeAnythingRuns) {
  ChainRun chain{chainPlan({.ranks = 1}), nullRoutines()};
  chain.plan.programs[0].actions[1].opcode = 0x0999;
  EXPECT_EQ(chain.run()[0].message(), "action 1 has opcode 0x0999, which this program cannot run");
}

} // namespace
} // namespace vime
