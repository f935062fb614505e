// RankRun: everything one rank needs for one run, from its part of the plan to its last action.
//
//   StatusOr<std::unique_ptr<RankRun>> run = RankRun::prepare({.plan = plan, .rank = 2, …});
//   Status status = (*run)->execute(transport, sleeper);      // so far no peer was needed
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Checkpoint/CheckpointDirectory.h"
#include "runtime/Exec/Arena.h"
#include "runtime/Exec/Coordinator.h"
#include "runtime/Exec/RankModel.h"
#include "runtime/Exec/RankProbe.h"
#include "runtime/Exec/Resolve.h"
#include "runtime/Exec/Resume.h"
#include "runtime/Exec/RoundSources.h"
#include "runtime/Exec/RoutineTable.h"
#include "runtime/Exec/RunObserver.h"
#include "runtime/Rollout/EngineHost.h"
#include "runtime/Trace/FlightRecorder.h"
#include "runtime/Trace/Trace.h"
#include "runtime/Transport/Agreement.h"
#include "runtime/Transport/Ends.h"
#include "runtime/Transport/Sleeper.h"

namespace vime {

struct RankJob {
  const plan::Plan &plan; // of which this rank's program and layout are there
  plan::Hash128 planId{};
  std::uint32_t rank = 0;
  std::string base; // folder of the job's relative paths
  std::optional<Isa> isa;
  RunObserver &observer;
  Arena::Edge edge = Arena::Edge::Plain;
  flight::FlightRecorder *recorder = nullptr; // where what it does is to stand; may be absent
  ResumeWish resume{};
  std::string replay; // folder of dumps; empty: rounds are generated
  trace::TraceWish trace{};
  const RankProbe *probe = nullptr;
};

class RankRun {
public:
  /// Checks the certificate, reserves the arenas (in the calling thread, which should be the rank's
  /// own), builds the stages, opens the text. Everything that can fail without a peer fails here.
  static StatusOr<std::unique_ptr<RankRun>> prepare(const RankJob &job);

  const RankEnds &ends() const { return rankEnds; }

  /// Agrees with the peers and runs the program, once. A failure ends the transport, so that the
  /// peers stop too. Ranks of this process that are still running may yet copy from and to this
  /// one's memory: it must outlive them.
  Status execute(Transport &transport, Sleeper &sleeper);

  /// Whether the failure began here, whatever its code says.
  bool failedItself() const { return ownFailure; }

private:
  explicit RankRun(const RankJob &job) : job(job) {}
  Status openFiles();
  Status checkResume() const;
  Status openData();
  Status reserve(const plan::Layout &layout);
  Status writeTrace() const;
  void rememberRound(std::uint64_t steps) const;
  std::byte *bufferOf(const plan::Layout &layout, plan::BufferKind kind) const;

  const RankJob job;
  RankEnds rankEnds;
  std::array<Arena, 2> arenas;
  RankModel model;
  std::unique_ptr<Coordinator> coordinator; // on rank 0
  std::optional<TextDataset> text, heldOut; // where samples are loaded
  std::optional<RoundSources> rounds;       // on rank 0
  std::unique_ptr<EngineHost> engine;       // on a rank that generates
  CheckpointClaim claim;                    // on rank 0
  ResolvedProgram program;
  std::unique_ptr<Agreement> agreement;
  std::unique_ptr<trace::Tracer> tracer; // where the run is traced
  bool ownFailure = false;
};

} // namespace vime
