#include "runtime/Reward/RuleReward.h"

#include <atomic>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "runtime/Base/Utf8.h"
#include "runtime/Reward/FinalAnswer.h"
#include "runtime/Reward/Pattern.h"
#include "runtime/Reward/RewardMessage.h"

namespace vime {
namespace {

/// Whether a response is right.
using Rule = std::function<StatusOr<bool>(const RewardRequest &)>;

Status refuse(const RewardRequest &request, const char *what) {
  return {StatusCode::InvalidInput, fmt::format("no reward for {}: {}", nameOf(request), what)};
}

StatusOr<bool> isExact(const RewardRequest &request) {
  const std::string_view expected = finalAnswer(request.answer);
  if (expected.empty())
    return refuse(request, "its prompt has no answer to compare with");
  return finalAnswer(request.response) == expected;
}

StatusOr<bool> isNumber(const RewardRequest &request) {
  const std::optional<std::string> expected = lastNumber(finalAnswer(request.answer));
  if (!expected)
    return refuse(request, "the answer of its prompt has no number");
  const std::optional<std::string> found = lastNumber(finalAnswer(request.response));
  return found && sameNumber(*found, *expected);
}

class RuleReward final : public Reward {
public:
  explicit RuleReward(Rule rule) : rule(std::move(rule)) {}

  StatusOr<std::vector<double>> score(std::span<const RewardRequest> requests) override {
    std::vector<double> scores;
    scores.reserve(requests.size());
    for (const RewardRequest &request : requests) {
      if (isCancelled)
        return Status(StatusCode::Interrupted, "rewards were cancelled");
      if (!request.isText)
        return refuse(request, "its tokens are no text, and rules read texts");
      const StatusOr<bool> right = rule(request);
      if (!right.ok())
        return right.status();
      scores.push_back(*right ? 1 : 0);
    }
    return scores;
  }
  void cancel() override { isCancelled = true; }

private:
  const Rule rule;
  std::atomic<bool> isCancelled = false;
};

} // namespace

StatusOr<std::unique_ptr<Reward>> makeRuleReward(const plan::RewardSettings &settings) {
  const bool isWhole = settings.kind == plan::RewardKind::Format;
  if (isWhole || settings.kind == plan::RewardKind::Regex) {
    if (settings.what.empty())
      return Status(StatusCode::InvalidInput, "a reward by pattern has an empty pattern");
    StatusOr<Pattern> pattern = Pattern::make(settings.what);
    if (!pattern.ok())
      return pattern.status();
    return std::unique_ptr<Reward>(std::make_unique<RuleReward>(
        [pattern = *pattern, isWhole](const RewardRequest &request) -> StatusOr<bool> {
          const std::string text = withReplacements(request.response);
          return isWhole ? pattern.matchesAll(text) : pattern.isIn(text);
        }));
  }
  if (!settings.what.empty())
    return Status(
        StatusCode::InvalidInput,
        fmt::format("a reward that compares answers takes no pattern, it has `{}`", settings.what));
  return std::unique_ptr<Reward>(std::make_unique<RuleReward>(
      settings.kind == plan::RewardKind::ExactAnswer ? isExact : isNumber));
}

} // namespace vime
