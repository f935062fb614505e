// SharedCores: ranks of a host that compute on fewer cores than they are: all at the same speed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace vime {

class SharedCores {
public:
  explicit SharedCores(std::uint32_t cores) : cores(cores) {}

  /// `rank` has `work` nanoseconds of a whole core to do, from `now` on.
  void add(std::uint32_t rank, std::int64_t work, std::int64_t now) {
    advance(now);
    running.push_back({rank, static_cast<double>(work)});
  }

  /// When the first of them will be done if no other one comes.
  std::optional<std::int64_t> nextEnd() const {
    const auto first = least();
    if (first == running.end())
      return std::nullopt;
    return since + static_cast<std::int64_t>(std::ceil(first->left / speed()));
  }

  /// Takes out the first one, at `nextEnd`.
  std::uint32_t finish(std::int64_t now) {
    const auto first = least();
    const std::uint32_t rank = first->rank;
    advance(now);
    running.erase(first);
    return rank;
  }

private:
  struct Work {
    std::uint32_t rank;
    double left;
  };

  double speed() const {
    return std::min(1.0, static_cast<double>(cores) / static_cast<double>(running.size()));
  }
  std::vector<Work>::const_iterator least() const {
    return std::min_element(running.begin(), running.end(), [](const Work &one, const Work &other) {
      return one.left < other.left;
    });
  }
  void advance(std::int64_t now) {
    if (!running.empty()) {
      const double done = static_cast<double>(now - since) * speed();
      for (Work &work : running)
        work.left = std::max(0.0, work.left - done);
    }
    since = now;
  }

  std::uint32_t cores;
  std::vector<Work> running;
  std::int64_t since = 0;
};

} // namespace vime
