#include "runtime/Exec/Resume.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/Checkpoint/CheckpointDirectory.h"
#include "runtime/Exec/RankModel.h"

namespace vime {

StatusOr<std::optional<Choice>> chooseResume(const plan::Plan &plan, const std::string &base,
                                             const ResumeWish &wish) {
  if (wish.kind == ResumeWish::Kind::No)
    return std::optional<Choice>();
  if (plan.models.front().sharded)
    return Status(StatusCode::Usage,
                  "a run whose replicas share the model cannot go on from a checkpoint yet\nhelp: "
                  "compile the job with `roles.actor.parallel.shard=false`");
  const std::string where =
      wish.from.empty() ? pathFrom(base, plan.checkpoint.directory) : wish.from;
  if (where.empty())
    return Status(StatusCode::Usage,
                  "the plan saves no checkpoints\nhelp: name the directory with `--resume=DIR`, or "
                  "state `checkpoint.dir` in the job");
  StatusOr<Choice> choice = chooseCheckpoint(where, identityOf(plan), plan.run.steps);
  if (choice.ok())
    return std::optional(std::move(*choice));
  const auto found = listCheckpoints(where);
  if (wish.kind == ResumeWish::Kind::IfAny && found.ok() && found->empty())
    return std::optional<Choice>();
  return choice.status();
}

bool isLoopOverSteps(const plan::Plan &plan, const plan::Program &program, const plan::Loop &loop) {
  return loop.trips == plan.run.steps && &loop == program.loops.data() &&
         std::all_of(program.loops.begin() + 1, program.loops.end(),
                     [&](const plan::Loop &other) { return other.end <= loop.end; });
}

StatusOr<std::optional<Checkpoint>> openResume(const plan::Plan &plan, const ResumeWish &wish) {
  if (wish.chosen.empty())
    return std::optional<Checkpoint>();
  StatusOr<Checkpoint> checkpoint = Checkpoint::open(wish.chosen);
  if (!checkpoint.ok())
    return checkpoint.status();
  if (Status status = checkFits(*checkpoint, identityOf(plan), plan.run.steps); !status.ok())
    return status;
  return std::optional(std::move(*checkpoint));
}

} // namespace vime
