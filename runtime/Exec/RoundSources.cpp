#include "runtime/Exec/RoundSources.h"

#include <fmt/format.h>

#include "runtime/Exec/RankModel.h"
#include "runtime/Rollout/ReplayRound.h"

namespace vime {
namespace {

StatusOr<PromptFile> openPrompts(const plan::Plan &plan, const plan::PromptSettings &settings,
                                 const std::string &base) {
  StatusOr<PromptFile> prompts = PromptFile::open(
      pathFrom(base, settings.file), promptLimits(plan.round, plan.models.front().config.vocab),
      FileFingerprint{settings.bytes, settings.hash});
  if (prompts.ok() || prompts.status().code() != StatusCode::File)
    return prompts;
  return Status(
      StatusCode::File,
      fmt::format(
          "{}\nhelp: paths of the job are relative to its folder; name that folder with `--base`",
          prompts.status().message()));
}

} // namespace

StatusOr<RoundSources> openRounds(const plan::Plan &plan, const std::string &base,
                                  const std::string &replay) {
  if (!replay.empty())
    if (Status status = checkDumps(replay, plan.run.steps / plan.round.rollout.steps); !status.ok())
      return status;
  StatusOr<PromptFile> prompts = openPrompts(plan, plan.round.prompts, base);
  if (!prompts.ok())
    return prompts.status();
  std::optional<PromptFile> heldOut;
  if (!plan.round.evaluation.prompts.file.empty()) {
    StatusOr<PromptFile> opened = openPrompts(plan, plan.round.evaluation.prompts, base);
    if (!opened.ok())
      return opened.status();
    heldOut = std::move(*opened);
  }
  StatusOr<std::unique_ptr<Reward>> reward = makeReward(plan.round.reward, base);
  if (!reward.ok())
    return reward.status();
  return RoundSources{.prompts = std::move(*prompts),
                      .heldOut = std::move(heldOut),
                      .reward = std::move(*reward),
                      .dump = pathFrom(base, plan.round.rollout.dump),
                      .replay = replay};
}

} // namespace vime
