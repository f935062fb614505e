// AskedRewards: requests to score, whose right scores are their lengths.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/Reward/Reward.h"

namespace vime {

class AskedRewards {
public:
  explicit AskedRewards(std::vector<std::string> responses) : texts(std::move(responses)) {
    for (const std::string &text : texts)
      tokens.emplace_back(text.begin(), text.end());
    for (std::size_t place = 0; place < texts.size(); ++place)
      requests.push_back({.draw = 10 + place,
                          .sample = 1,
                          .prompt = "1+1=",
                          .response = texts[place],
                          .responseTokens = tokens[place],
                          .answer = "2",
                          .metadata = "{\"level\":3}"});
  }
  static AskedRewards ofLengths(std::size_t count) {
    std::vector<std::string> responses;
    for (std::size_t length = 0; length < count; ++length)
      responses.emplace_back(length, 'x');
    return AskedRewards(std::move(responses));
  }
  std::vector<double> lengths() const {
    std::vector<double> result;
    for (const std::string &text : texts)
      result.push_back(double(text.size()));
    return result;
  }

  std::vector<std::string> texts;
  std::vector<std::vector<std::int32_t>> tokens;
  std::vector<RewardRequest> requests;
};

} // namespace vime
