// SaveRun: the actions by which a run saves itself.
//
// Behind a step each stage is copied as it is (`snapshot`), and the copy written to the disk
// (`checkpoint_shard`, on the io lane) while the next step computes. What is on the disk the ranks
// say with the counters that they send each step anyway, so that at the end of the next step the
// coordinator can give the checkpoint its name (`checkpoint_commit`). Nobody waits for the disk
// unless it takes longer than a step.
#pragma once

#include <vector>

#include "compiler/Lowering/ProgramWriter.h"

namespace vime {

/// By rank of the leading replica: its stages.
using StagesOfRanks = std::vector<std::vector<plan::LocalStage>>;

/// The checkpoint of an earlier step, if the counters gathered last say that it is on the disk:
/// once a step at least, ahead of the step's own shards, which it must not wait for on its lane.
void nameCheckpoint(ProgramWriter &programs, std::uint32_t coordinator);

/// At the end of a step, behind the gathering of the counters; where the condition holds. Of
/// several copies of the model the first one, of `depth` stages, is saved.
void saveBehindStep(ProgramWriter &programs, const StagesOfRanks &stages, std::uint32_t depth,
                    std::uint8_t whenSaved);

/// Behind the last step: the last checkpoint has no next step that would name it.
void nameLastCheckpoint(ProgramWriter &programs, const StagesOfRanks &stages,
                        std::uint32_t coordinator);

} // namespace vime
