// What the routines of one rank work on. Everything is set up before the first action; nothing here
// grows while running.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/Checkpoint/Manifest.h"
#include "runtime/Plan/Plan.h"
#include "runtime/Plan/StepHeader.h"
#include "runtime/Trace/FlightRecorder.h"
#include "runtime/Trace/Trace.h"
#include "runtime/Transport/Transport.h"

namespace vime {

class Coordinator;
class EngineHost;
class Sleeper;
class TextDataset;
struct RoundSources;
struct RankModel;

/// Bytes of the messages of a lane.
struct MessageSize {
  std::uint64_t fixed = 0, perToken = 0;
};

/// Counters since the last `measure`. Touched by the dispatcher only.
struct Counters {
  std::uint64_t computeNanoseconds = 0;
  std::uint64_t actions = 0;
  std::chrono::steady_clock::time_point since{};
};

/// What has been saved so far. The io lane's, but for `taken`.
struct Saving {
  std::string plan;            // id
  std::uint64_t committed = 0; // steps done in the latest checkpoint of this run; 0: none
  /// Of the latest snapshot: the dispatcher's, until the io lane has taken it over. On rank 0.
  RunProgress taken;
  RunProgress progress; // of the latest shard
};

struct RankState {
  const plan::Plan &plan;
  const plan::Program &program;
  const plan::Layout &layout;
  std::uint32_t rank = 0;
  Transport *transport = nullptr;
  RankModel *model = nullptr;         // stages and kernels
  Coordinator *coordinator = nullptr; // on rank 0
  TextDataset *text = nullptr;        // where samples are loaded
  TextDataset *heldOut = nullptr;     // likewise, of an evaluation
  RoundSources *rounds = nullptr;     // on rank 0 of a plan with rounds
  EngineHost *engine = nullptr;       // on a rank that generates
  const Sleeper *sleeper = nullptr;   // of the rank's thread: interrupted when the run is over
  const plan::StepHeader *header =
      nullptr; // the buffer that `decide` or the broadcast fills; null if the plan has none
  const plan::StepScalars *scalars = nullptr; // the buffer that `clip` and `settle` fill
  std::vector<MessageSize> messages;          // by lane
  Counters counters;
  flight::FlightRecorder *recorder = nullptr; // absent: the executor keeps one for itself
  trace::Tracer *tracer = nullptr;            // absent: nothing is traced
  std::uint32_t firstStep = 0;                // where the loop over steps begins
  Saving saving;
};

/// The buffer behind an operand of an action.
inline const plan::Buffer &operandBuffer(const RankState &state, std::uint32_t action,
                                         std::uint32_t operand) {
  return state.layout
      .buffers[state.program.operands[state.program.actions[action].operands + operand]];
}

} // namespace vime
