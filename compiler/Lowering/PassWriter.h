// PassWriter: one traversal of the pipeline as actions of all its ranks: the nodes of a clock, and
// what repeats in it as loops.
//
//   PassWriter(pipeline, programs).write(folded, Pass::Train)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/Lowering/FoldClock.h"
#include "compiler/Lowering/ProgramWriter.h"
#include "compiler/Lowering/Residency.h"
#include "schedules/Schedule.h"

namespace vime {

/// `TrainPolicy` has another loss than `Train`; `Infer` finds out what a model that is not trained
/// says of the same samples.
enum class Pass : std::uint8_t { Train, TrainPolicy, Evaluate, Infer };

/// What a pass runs on.
struct PipelineOfRanks {
  const Placement &placement;
  std::uint32_t depth;                       // stages of a copy of the model
  const std::vector<std::uint32_t> &chunkOf; // by stage: index in its rank's stage table
  plan::Message boundary;                    // from stage to stage
  std::uint32_t ranks;                       // of a replica
  std::uint32_t replicas;                    // that do the same side by side
  bool fillsUp;                              // microbatches may be empty, and are skipped then
  /// Where replicas share the model: how many of a rank's stages are whole at a time, and by which
  /// rule; 0 where each has all of it.
  std::uint32_t window = 0;
  ResidencyRule rule = ResidencyRule::FewestUnshards;
};

class PassWriter {
public:
  PassWriter(const PipelineOfRanks &pipeline, ProgramWriter &programs)
      : pipeline(pipeline), programs(programs) {}

  /// `loop`: the global id of its first loop. Trips depend on the step if `isDecided`.
  void write(const FoldedClock &folded, Pass pass, std::uint32_t loop, bool isDecided);

  /// A pass that is written piece by piece, without loops: nodes of this clock, a training pass.
  void begin(const PipelineClock &clock);
  void write(std::span<const PipelineNode> nodes);

private:
  void flat(const FoldedClock &folded, std::size_t part, Pass pass, std::int64_t ticks);
  void planResidencies(const FoldedClock &folded);
  void unshardAll();
  void reshardAll();
  void begin(std::uint32_t rank);
  void happen(std::uint32_t rank);
  void happen(std::uint32_t rank, const ResidencyEvent &event);
  void node(const PipelineNode &node, MovingMicrobatch microbatch, Pass pass);
  void task(const PipelineNode &node, ProgramWriter::End here, MovingMicrobatch microbatch,
            Pass pass);
  std::int64_t ticksOf(const FoldedClock &folded) const;
  ProgramWriter::End endOf(std::uint32_t first, std::uint32_t stage) const {
    return {first + static_cast<std::uint32_t>(pipeline.placement[stage]), pipeline.chunkOf[stage]};
  }

  const PipelineOfRanks pipeline;
  ProgramWriter &programs;
  std::vector<int> clearing; // by stage: see clearingMicrobatches
  /// Of each rank of a replica, in a pass without loops: what is still to happen, the tasks that
  /// are written, and their stages.
  struct RankResidency {
    std::vector<ResidencyEvent> events;
    std::size_t next = 0, written = 0;
  };
  std::vector<RankResidency> residencies;
};

} // namespace vime
