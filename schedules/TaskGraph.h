// TaskGraph: the tasks of an order, each behind those that it needs, so that one pass over them
// gives their times, whatever each of them costs.
//
//   const std::optional<TaskGraph> graph = graphOf(order);
//   std::vector<std::int64_t> freeAt(order.rows.size()); // per rank
//   graph->advance(freeAt, [&](const TaskNode &node) { return costs.of(node.task.kind); }, 0);
#pragma once

#include "schedules/Schedule.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace vime {

struct TaskNode {
  Task task;
  int rank;
  std::array<std::int32_t, 3> needs{-1, -1, -1}; // nodes before this one; -1: none
  bool withNext = false;                         // both begin and end together
};

/// Ranks in no sequence; the tasks of one rank in that of its row. Idle slots are left out.
struct TaskGraph {
  std::vector<TaskNode> nodes;

  /// Runs every task once, on ranks that are free at these times, and sets them to its end. `pair`
  /// as in TaskCosts.
  template <typename Cost>
  void advance(std::vector<std::int64_t> &freeAt, Cost costOf, std::int64_t transfer,
               double pair = 1) const {
    std::vector<std::int64_t> end(nodes.size());
    for (std::size_t index = 0; index < nodes.size(); ++index) {
      const TaskNode &node = nodes[index];
      std::int64_t &free = freeAt[static_cast<std::size_t>(node.rank)];
      const auto await = [&](const TaskNode &waiting) {
        for (const std::int32_t need : waiting.needs)
          if (need >= 0) {
            const auto made = static_cast<std::size_t>(need);
            free = std::max(free, end[made] + (nodes[made].rank == node.rank ? 0 : transfer));
          }
      };
      await(node);
      if (!node.withNext) {
        free += costOf(node);
        end[index] = free;
        continue;
      }
      const TaskNode &other = nodes[++index];
      await(other);
      free += static_cast<std::int64_t>(
          pair * static_cast<double>(std::int64_t{costOf(node)} + costOf(other)) + 0.5);
      end[index - 1] = end[index] = free;
    }
  }
};

enum class Pairs : std::uint8_t { Apart, Together };

/// Nothing if the order can never finish.
std::optional<TaskGraph> graphOf(const Schedule &order, Pairs pairs = Pairs::Apart);

} // namespace vime
