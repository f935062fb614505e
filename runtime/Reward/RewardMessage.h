// RewardMessage: what is said to commands and services, as JSON.
//
//   {"id": 3, "prompt": "1+1=", "response": "2", "prompt_ids": […], "response_ids": […],
//    "answer": "2", "metadata": {…}}
//   {"id": 3, "score": 1.0}
//
// Bytes that are no UTF-8 are U+FFFD in texts; ids say what they were. What is not there is null.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/Reward/Reward.h"

namespace vime {

/// `sample 1 of draw 7`, for messages.
std::string nameOf(const RewardRequest &request);

/// One line, without its end.
std::string describeRequest(std::uint64_t id, const RewardRequest &request);

struct RewardReply {
  std::uint64_t id = 0;
  double score = 0;
};
/// InvalidInput: no such object, or a score that is no finite number.
StatusOr<RewardReply> parseReply(std::string_view text);

/// The beginning of a text from outside, for messages: short, on one line, UTF-8.
std::string shortened(std::string_view text);

} // namespace vime
