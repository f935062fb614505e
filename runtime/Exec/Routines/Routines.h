// Routines by family; the table that joins them to opcodes is RoutineTable.cpp. Operands stand in
// the order of runtime/Plan/Opcode.cpp.
#pragma once

#include "runtime/Exec/Instruction.h"

namespace vime::routines {

// Compute.cpp: tasks of a stage.
Status forward(RankState &state, const Instruction &instruction);
Status loss(RankState &state, const Instruction &instruction);
Status backward(RankState &state, const Instruction &instruction);
Status backwardInput(RankState &state, const Instruction &instruction);
Status backwardWeight(RankState &state, const Instruction &instruction);

Status advantage(RankState &state, const Instruction &instruction);
Status policyLoss(RankState &state, const Instruction &instruction);
Status logProbabilities(RankState &state, const Instruction &instruction);

// Transfer.cpp: posts, never waits.
Status send(RankState &state, const Instruction &instruction);
Status receive(RankState &state, const Instruction &instruction);
Status broadcast(RankState &state, const Instruction &instruction);
Status gather(RankState &state, const Instruction &instruction);
Status allGather(RankState &state, const Instruction &instruction);
Status sum(RankState &state, const Instruction &instruction);
Status unshard(RankState &state, const Instruction &instruction);
Status reduceScatter(RankState &state, const Instruction &instruction);
Status broadcastWeights(RankState &state, const Instruction &instruction);

// Update.cpp: parameters, once per step.
Status initialize(RankState &state, const Instruction &instruction);
Status addTied(RankState &state, const Instruction &instruction);
Status scaleGradients(RankState &state, const Instruction &instruction);
Status squareNorm(RankState &state, const Instruction &instruction);
Status clip(RankState &state, const Instruction &instruction);
Status optimize(RankState &state, const Instruction &instruction);
Status optimizeEarly(RankState &state, const Instruction &instruction);
Status settle(RankState &state, const Instruction &instruction);
Status redo(RankState &state, const Instruction &instruction);

// Host.cpp: the coordinator, and files.
Status decide(RankState &state, const Instruction &instruction);
Status load(RankState &state, const Instruction &instruction);
Status report(RankState &state, const Instruction &instruction);
Status loadEvaluation(RankState &state, const Instruction &instruction);
Status reportEvaluation(RankState &state, const Instruction &instruction);
Status exportShard(RankState &state, const Instruction &instruction);
Status exportCommit(RankState &state, const Instruction &instruction);

// Rollout.cpp: the coordinator in a round, and who loads its samples.
Status drawPrompts(RankState &state, const Instruction &instruction);
Status drawEvaluation(RankState &state, const Instruction &instruction);
Status score(RankState &state, const Instruction &instruction);
Status scoreEvaluation(RankState &state, const Instruction &instruction);
Status pack(RankState &state, const Instruction &instruction);
Status loadRound(RankState &state, const Instruction &instruction);

// Engine.cpp: a rank that generates.
Status wake(RankState &state, const Instruction &instruction);
Status pause(RankState &state, const Instruction &instruction);
Status flush(RankState &state, const Instruction &instruction);
Status install(RankState &state, const Instruction &instruction);
Status publish(RankState &state, const Instruction &instruction);
Status resume(RankState &state, const Instruction &instruction);
Status generate(RankState &state, const Instruction &instruction);

// Checkpoint.cpp: a run saves itself.
Status snapshot(RankState &state, const Instruction &instruction);
Status checkpointShard(RankState &state, const Instruction &instruction);
Status checkpointCommit(RankState &state, const Instruction &instruction);

// Control.cpp
Status reshard(RankState &state, const Instruction &instruction);
Status copy(RankState &state, const Instruction &instruction);
Status join(RankState &state, const Instruction &instruction);
Status measure(RankState &state, const Instruction &instruction);
Status measureEvaluation(RankState &state, const Instruction &instruction);

} // namespace vime::routines
