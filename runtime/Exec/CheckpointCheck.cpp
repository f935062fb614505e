#include "runtime/Exec/CheckpointCheck.h"

#include <vector>

#include "runtime/Exec/RankModel.h"
#include "runtime/Model/HuggingFace.h"
#include "runtime/Plan/BatchCaps.h"

namespace vime {

Status checkCheckpoints(const plan::Plan &plan, const std::string &base) {
  for (const plan::Model &model : plan.models) {
    if (model.checkpoint.empty())
      continue;
    std::vector<StageSpec> stages;
    for (const StageRange &range : model.stages)
      stages.push_back(stageSpec(model.config, range, capsOf(plan.data)));
    const Status status = checkStages(pathFrom(base, model.checkpoint), model.config, stages);
    if (status.code() == StatusCode::InvalidInput) // the input of another run, not a job of ours
      return Status(StatusCode::Unacceptable, status.message());
    if (!status.ok())
      return status;
  }
  return Status();
}

} // namespace vime
