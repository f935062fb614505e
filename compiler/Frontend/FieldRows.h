// FieldRows: the field table in parts, one function a group of sections. Included where rows are
// written only.
#pragma once

#include <limits>
#include <vector>

#include "compiler/Frontend/FieldTable.h"

namespace vime {

std::vector<FieldSpec> clusterRows();    // PlacementFields.cpp
std::vector<FieldSpec> modelRows();      // ModelFields.cpp
std::vector<FieldSpec> roleRows();       // PlacementFields.cpp
std::vector<FieldSpec> pipelineRows();   // TrainingFields.cpp
std::vector<FieldSpec> batchRows();      // TrainingFields.cpp
std::vector<FieldSpec> dataRows();       // TrainingFields.cpp
std::vector<FieldSpec> rolloutRows();    // RolloutFields.cpp
std::vector<FieldSpec> rewardRows();     // RolloutFields.cpp
std::vector<FieldSpec> algorithmRows();  // AlgorithmFields.cpp
std::vector<FieldSpec> optimizerRows();  // TrainingFields.cpp
std::vector<FieldSpec> weightSyncRows(); // AlgorithmFields.cpp
std::vector<FieldSpec> evaluationRows(); // EvaluationFields.cpp
std::vector<FieldSpec> memoryRows();     // MemoryFields.cpp
std::vector<FieldSpec> checkpointRows(); // SavingFields.cpp
std::vector<FieldSpec> runRows();        // TrainingFields.cpp
std::vector<FieldSpec> laterSections();  // TrainingFields.cpp

inline constexpr double kMostWhole = static_cast<double>(std::numeric_limits<std::int64_t>::max());
inline constexpr double kMostReal = 1e12;

// A binding of the member `place` of a Job, and of a model's configuration.
#define PAIR_IN_JOB(first, second)                                                                 \
  bindPair<[](auto &job) -> auto & { return job.first; },                                          \
           [](auto &job) -> auto & { return job.second; }>()
#define IN_JOB(place) bindField<[](auto &job) -> auto & { return job.place; }>()
#define IN_MODEL(member) bindModel<&ModelConfig::member>()

} // namespace vime
