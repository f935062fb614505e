#include "compiler/Lowering/SaveRun.h"

#include "compiler/Lowering/TrainingGroups.h"
#include "runtime/Plan/BatchCaps.h"

namespace vime {

using plan::Opcode;

namespace {

template <typename Visit>
void forEachStage(const StagesOfRanks &stages, std::uint32_t depth, Visit visit) {
  for (std::uint32_t rank = 0; rank < stages.size(); ++rank)
    for (std::uint32_t chunk = 0; chunk < stages[rank].size(); ++chunk)
      if (plan::isTrained(stages[rank][chunk]) && stages[rank][chunk].stage < depth)
        visit(rank, chunk);
}

} // namespace

void saveBehindStep(ProgramWriter &programs, const StagesOfRanks &stages, std::uint32_t depth,
                    std::uint8_t whenSaved) {
  forEachStage(stages, depth, [&](std::uint32_t rank, std::uint32_t chunk) {
    programs.local(rank, Opcode::Snapshot, chunk);
    programs.guard(rank, whenSaved);
  });
  forEachStage(stages, depth, [&](std::uint32_t rank, std::uint32_t chunk) {
    programs.local(rank, Opcode::CheckpointShard, chunk);
    programs.guard(rank, whenSaved);
  });
}

void nameCheckpoint(ProgramWriter &programs, std::uint32_t coordinator) {
  programs.local(coordinator, Opcode::CheckpointCommit);
}

void nameLastCheckpoint(ProgramWriter &programs, const StagesOfRanks &stages,
                        std::uint32_t coordinator) {
  for (std::uint32_t rank = 0; rank < stages.size(); ++rank)
    programs.local(rank, Opcode::Measure);
  programs.collective(Opcode::Gather, kStatsGroup, coordinator);
  programs.local(coordinator, Opcode::CheckpointCommit);
}

} // namespace vime
