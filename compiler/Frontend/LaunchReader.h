// LaunchReader: the flags of a launch line while a job is made of them: which have been used, and
// what is to be said of the others.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/Frontend/LaunchLine.h"

namespace vime {

using Count = std::optional<std::uint64_t>;

class LaunchReader {
public:
  explicit LaunchReader(const LaunchLine &launch) : launch(launch) {}

protected:
  /// The value of a flag that is being used; "" if it has none.
  std::optional<std::string> take(const std::string &flag);
  bool has(const std::string &flag) { return take(flag).has_value(); }
  /// One that is no number is named and left out.
  Count count(const std::string &flag);
  /// Of a flag that is still to be named or used; 1 if it is not there.
  std::uint64_t at(std::string_view flag) const;

  void leaveOut(std::string_view flag, std::string_view why);

  const LaunchLine &launch;
  std::set<std::string> used;
  std::vector<std::string> notes;
};

} // namespace vime
