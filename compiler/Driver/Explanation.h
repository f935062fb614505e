// Explanation: why a step of a plan takes as long as it does and what makes it shorter, in words.
//
//   const Explanation explanation(base, tried, "");
//   std::cout << explanation.text();
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "compiler/Driver/Remedies.h"

namespace vime {

class Explanation {
public:
  /// `whyNone`: nothing was tried, since the job cannot be compiled again; empty: all was.
  Explanation(const SteppedPlan &base, std::vector<Tried> tried, std::string whyNone);

  std::string text() const;
  nlohmann::ordered_json json() const;

private:
  std::string head() const;
  std::string causes() const;
  std::string gains() const;
  std::string without() const;
  std::string refused() const;
  std::string columns(std::string_view title) const;
  std::string row(const Tried &one) const;
  std::string memoryChange(const Tried &one) const;
  nlohmann::ordered_json jsonOf(const Tried &one) const;
  bool guessesHalves() const;
  double number(std::int64_t time) const;
  double shareOf(std::int64_t time) const;

  const SteppedPlan &base;
  std::vector<Tried> tried; // best first, those that there are not at the end
  const std::string whyNone;
};

} // namespace vime
