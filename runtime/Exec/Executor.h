// Executor: runs one rank's program in dispatch order.
//
//   Executor executor(state, std::move(*resolved), sleeper);
//   Status status = executor.run();
//
// Compute runs inline, transfers are posted and awaited only by who needs them, host and io lanes
// have a thread each. C2 guarantees that whatever an action waits for has a smaller time, here and
// on every peer, so that blocking in this loop cannot close a cycle. In steady state: no heap, no
// lock, no string, and no system call for an action whose waits are satisfied.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Exec/RankState.h"
#include "runtime/Exec/Resolve.h"
#include "runtime/Exec/Worker.h"
#include "runtime/Plan/Loops.h"
#include "runtime/Transport/Sleeper.h"

namespace vime {

class Executor {
public:
  /// One for the lifetime of a run. `finishedBefore`: transfers of every end that were done before
  /// the program starts.
  Executor(RankState &state, ResolvedProgram program, Sleeper &sleeper,
           std::uint64_t finishedBefore);

  /// The whole program, until every lane is drained. A failure says which action, stage and
  /// microbatch it was, and which peer was waited for. The caller then aborts the transport, so
  /// that the other ranks stop too.
  Status run();

  /// Whether the failure of `run` began here: a routine failed, and not because of a peer.
  bool failedItself() const { return ownFailure; }

private:
  /// A timeline: what was handed to the lane, and how much of it has finished.
  struct LaneState {
    std::uint64_t dispatched = 0;
    const std::atomic<std::uint64_t> *finished = nullptr; // null: runs inline
    std::uint32_t end = 0;                                // of a channel or group
    std::unique_ptr<Worker> worker;                       // of a host or io lane
  };

  Status runBody(std::uint32_t begin, std::uint32_t end);
  bool caseComesFirst() const;
  Status runLoop(std::size_t index);
  std::uint32_t iterationOf(const Instruction &instruction) const {
    return instruction.moves ? advanced : iteration;
  }
  Status runCase(std::size_t index);
  void passTo(std::uint32_t action);
  Status runRange(std::uint32_t begin, std::uint32_t end);
  Status dispatch(const Instruction &instruction);
  std::uint32_t step() const { return depth > 1 ? around[1] : iteration; }
  StatusOr<std::uint32_t> valueOf(plan::Decision decision);
  StatusOr<bool> holds(std::uint8_t entry);
  StatusOr<std::uint32_t> tripsOf(const plan::Loop &loop);
  Status skip(const Instruction &instruction);
  Status perform(const Instruction &instruction);
  Status performTimed(const Instruction &instruction);
  Status runInline(const Instruction &instruction);
  std::uint32_t trace(const Instruction &instruction, std::uint32_t microbatch);
  void traceEnds(std::uint32_t lane, bool awaited);
  Status awaitAll(const Instruction &instruction);
  Status awaitLane(std::uint32_t lane, std::uint64_t count);
  Status drain(const char *where);
  bool isEmptyMicrobatch(const Instruction &instruction, std::uint32_t microbatch) const;
  std::uint32_t move(const Instruction &instruction);
  Status explain(Status status, const Instruction &instruction, const char *relation);
  Status explain(Status status, const std::string &where);
  std::string nameOf(const Instruction &instruction) const;

  RankState &state;
  ResolvedProgram program;
  Sleeper &sleeper;
  std::unique_ptr<flight::FlightRecorder> spare; // for a rank without one
  flight::FlightRecorder &recorder;
  std::vector<LaneState> lanes;
  std::int64_t tracedAt = 0; // when the present action was opened in the trace
  bool ownFailure = false;
  std::size_t nextLoop = 0;    // the first one at or behind the present action
  std::size_t nextCase = 0;    // the same
  std::uint32_t iteration = 0; // of the innermost loop around the present action
  /// By which microbatches advance: the iteration, or the trips of the inner loop in front.
  std::uint32_t advanced = 0;
  std::array<std::uint32_t, plan::kMaxLoopDepth> around{}; // `iteration` outside of each open loop
  std::size_t depth = 0;                                   // open loops
};

} // namespace vime
