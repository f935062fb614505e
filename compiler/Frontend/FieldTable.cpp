// The field table, put together in the order of a canonical job.
#include "compiler/Frontend/FieldTable.h"

#include "compiler/Frontend/Bindings.h"
#include "compiler/Frontend/FieldRows.h"

namespace vime {

namespace {

std::vector<FieldSpec> allRows() {
  std::vector<FieldSpec> rows = {
      {.path = "version",
       .type = FieldType::Count,
       .least = 1,
       .most = 1,
       .phase = "job",
       .sentence = "version of the job format: 1"},
      {.path = "name",
       .type = FieldType::Name,
       .derivedFrom = "the file's name",
       .phase = "job",
       .sentence = "name of the job in messages",
       .binding = IN_JOB(name)},
  };
  for (auto &&section :
       {clusterRows(), modelRows(), roleRows(), pipelineRows(), batchRows(), dataRows(),
        rolloutRows(), rewardRows(), algorithmRows(), optimizerRows(), weightSyncRows(),
        memoryRows(), evaluationRows(), checkpointRows(), runRows(), laterSections()})
    rows.insert(rows.end(), section.begin(), section.end());
  return rows;
}

} // namespace

std::span<const FieldSpec> fieldTable() {
  static const std::vector<FieldSpec> rows = allRows();
  return rows;
}

} // namespace vime
