#include "runtime/Reward/Reward.h"

#include "runtime/Reward/CommandScorer.h"
#include "runtime/Reward/CommandWords.h"
#include "runtime/Reward/HttpScorer.h"
#include "runtime/Reward/RuleReward.h"
#include "runtime/Reward/ScorerPool.h"

namespace vime {
namespace {

StatusOr<std::unique_ptr<Reward>> makeCommandReward(const plan::RewardSettings &settings,
                                                    const std::string &base) {
  const StatusOr<std::vector<std::string>> words = splitCommand(settings.what);
  if (!words.ok())
    return words.status();
  const auto make = [words = *words, base, timeout = settings.timeoutSeconds](
                        const CancelEvent &cancel) -> StatusOr<std::unique_ptr<Scorer>> {
    StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::start(words, base);
    if (!child.ok())
      return child.status();
    return std::unique_ptr<Scorer>(
        std::make_unique<CommandScorer>(std::move(*child), timeout, cancel));
  };
  return makePool(settings, make);
}

StatusOr<std::unique_ptr<Reward>> makeHttpReward(const plan::RewardSettings &settings) {
  const auto make = [url = settings.what, timeout = settings.timeoutSeconds](
                        const CancelEvent &cancel) -> StatusOr<std::unique_ptr<Scorer>> {
    StatusOr<std::unique_ptr<HttpConnection>> connection = connectHttp(
        {.url = url, .timeoutSeconds = timeout, .cancelDescriptor = cancel.descriptor()});
    if (!connection.ok())
      return connection.status();
    return std::unique_ptr<Scorer>(std::make_unique<HttpScorer>(std::move(*connection), timeout));
  };
  return makePool(settings, make);
}

} // namespace

StatusOr<std::unique_ptr<Reward>> makeReward(const plan::RewardSettings &settings,
                                             const std::string &base) {
  switch (settings.kind) {
  case plan::RewardKind::Command:
    return makeCommandReward(settings, base);
  case plan::RewardKind::Http:
    return makeHttpReward(settings);
  case plan::RewardKind::ExactAnswer:
  case plan::RewardKind::Numeric:
  case plan::RewardKind::Regex:
  case plan::RewardKind::Format:
    break;
  }
  return makeRuleReward(settings);
}

} // namespace vime
