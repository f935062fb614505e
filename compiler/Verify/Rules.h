// The rules, one judge a file. Each reads the table, adds findings to the verdict, and asks nothing
// of another one but what the table states (a channel that is not `matched` is C1's to report; all
// others pass over it).
#pragma once

#include "compiler/Verify/ActionTable.h"
#include "compiler/Verify/Verdict.h"

namespace vime::verify {

/// S3, before there is a table: no index leads out of what it points into. False: nothing else can
/// be judged.
bool verifyIndicesInRange(const plan::Plan &plan, Verdict &verdict);

void verifyTasksComplete(const ActionTable &table, Verdict &verdict);        // S1
void verifyExportedOnce(const ActionTable &table, Verdict &verdict);         // a part of S1
void verifyPromptsAnswered(const ActionTable &table, Verdict &verdict);      // a part of S1
void verifyDependencesHold(const ActionTable &table, Verdict &verdict);      // S2
void verifyStagesPlaced(const ActionTable &table, Verdict &verdict);         // S3
void verifyGradientsAndUpdate(const ActionTable &table, Verdict &verdict);   // S4
void verifyStepsSettled(const ActionTable &table, Verdict &verdict);         // a part of S4
void verifyTransfersAgree(const ActionTable &table, Verdict &verdict);       // C1
void verifyEdgesConnected(const ActionTable &table, Verdict &verdict);       // C4
void verifyDecisionsArrive(const ActionTable &table, Verdict &verdict);      // D1
void verifyDecisionsAgree(const ActionTable &table, Verdict &verdict);       // D2
void verifyFamilyComplete(const ActionTable &table, Verdict &verdict);       // D3
void verifyCasesQuiet(const ActionTable &table, Verdict &verdict);           // D4
void verifyConditionsAgree(const ActionTable &table, Verdict &verdict);      // D5
void verifyScalesUseHeader(const ActionTable &table, Verdict &verdict);      // D6
void verifyClockIncreases(const ActionTable &table, Verdict &verdict);       // C2
void verifyGroupsAgree(const ActionTable &table, Verdict &verdict);          // C3
void verifyArenasFit(const ActionTable &table, Verdict &verdict);            // M1
void verifySharedBytesOrdered(const ActionTable &table, Verdict &verdict);   // M2
void verifyBuffersOrdered(const ActionTable &table, Verdict &verdict);       // M3
void verifyEnginesInOrder(const ActionTable &table, Verdict &verdict);       // W1 and W3
void verifyBytesWrittenOnce(const ActionTable &table, Verdict &verdict);     // W2
void verifyCheckpointAtBoundary(const ActionTable &table, Verdict &verdict); // K1

/// Whether the buffer was given this microbatch earlier in the segment. Then a reader that does not
/// find it comes too late (M3), else too early (S2).
bool wasWritten(const ActionTable &table, const RankView &rank, std::uint32_t before,
                std::uint32_t buffer, std::uint32_t microbatch);

} // namespace vime::verify
