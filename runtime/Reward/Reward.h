// Reward: a number for each response, by a rule, by a command or by a service.
//
//   StatusOr<std::unique_ptr<Reward>> reward = makeReward(plan.round.reward, base);
//   StatusOr<std::vector<double>> scores = (*reward)->score(requests);
//
// Scores stand where their requests stand, whoever gave them and in whatever order they came. Each
// is a finite number, or the whole call fails and says which request had none.
//
// Text is what a model wrote, and untrusted: it is compared, searched, or handed on as JSON, and
// never becomes code. Where bytes are no UTF-8, rules see U+FFFD in their place; tokens say what
// they were.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Plan/Round.h"

namespace vime {

struct RewardRequest {
  std::uint64_t draw = 0; // for messages
  std::uint32_t sample = 0;
  bool isText = true; // else prompt and response are empty
  std::string_view prompt, response;
  std::span<const std::int32_t> promptTokens, responseTokens;
  std::string_view answer;   // empty: none
  std::string_view metadata; // an object, as JSON; empty: none
};

class Reward {
public:
  virtual ~Reward() = default;
  /// Returns when all have a score, or as soon as one cannot be had: RankFailed, Hang (of a
  /// deadline), InvalidInput (a score that is no finite number), Interrupted (`cancel`).
  virtual StatusOr<std::vector<double>> score(std::span<const RewardRequest> requests) = 0;
  /// From any thread: a call under way and every later one ends, Interrupted.
  virtual void cancel() = 0;
};

/// `base`: the folder of the job, in which commands run. InvalidInput: a pattern that cannot be
/// read, a command that cannot be split. File: a command that cannot be started. Unacceptable: a
/// service is asked for, and the plug-in for it is missing.
StatusOr<std::unique_ptr<Reward>> makeReward(const plan::RewardSettings &settings,
                                             const std::string &base);

} // namespace vime
