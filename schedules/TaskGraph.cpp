// The tasks of an order in a sequence that they can run in.
#include "schedules/TaskGraph.h"
#include "schedules/Needs.h"

namespace vime {

namespace {

class GraphBuilder {
public:
  GraphBuilder(const Schedule &order, Pairs pairs)
      : order(order), pairs(pairs), next(order.rows.size()) {
    int most = -1;
    for (const std::vector<Task> &row : order.rows)
      for (const Task &task : row)
        most = std::max(most, task.microbatch);
    microbatches = static_cast<std::size_t>(most + 1);
    makers.assign(2 * order.placement.size() * microbatches, -1);
  }

  std::optional<TaskGraph> build() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < order.rows.size(); ++rank)
        while (next[rank] < order.rows[rank].size() && place(rank))
          moved = true;
    }
    for (std::size_t rank = 0; rank < order.rows.size(); ++rank)
      if (next[rank] < order.rows[rank].size())
        return std::nullopt;
    return std::move(graph);
  }

private:
  std::int32_t &maker(const Need &need) {
    const std::size_t row =
        2 * static_cast<std::size_t>(need.stage) + static_cast<std::size_t>(need.value);
    return makers[row * microbatches + static_cast<std::size_t>(need.microbatch)];
  }

  // The rank's next task, or pair, if what it needs has its place already.
  bool place(std::size_t rank) {
    const std::vector<Task> &row = order.rows[rank];
    const std::size_t position = next[rank];
    const bool isPair = pairs == Pairs::Together && row[position].overlapsNext &&
                        position + 1 < row.size() && row[position + 1].kind != TaskKind::Idle;
    for (std::size_t part = position; part <= position + isPair; ++part)
      if (!canRun(row[part]))
        return false;
    for (std::size_t part = position; part <= position + isPair; ++part)
      add(row[part], rank, isPair && part == position);
    next[rank] += 1 + isPair;
    return true;
  }

  bool canRun(const Task &task) {
    if (task.kind != TaskKind::Idle)
      for (const Need &need : needsOf(task, order))
        if (maker(need) < 0)
          return false;
    return true;
  }

  void add(const Task &task, std::size_t rank, bool withNext) {
    if (task.kind == TaskKind::Idle)
      return;
    TaskNode node{.task = task, .rank = static_cast<int>(rank), .withNext = withNext};
    std::size_t count = 0;
    for (const Need &need : needsOf(task, order))
      node.needs[count++] = maker(need);
    if (const std::optional<Need> made = madeBy(task))
      maker(*made) = static_cast<std::int32_t>(graph.nodes.size());
    graph.nodes.push_back(node);
  }

  const Schedule &order;
  const Pairs pairs;
  std::size_t microbatches = 0;
  std::vector<std::int32_t> makers; // by stage, what is passed, microbatch
  std::vector<std::size_t> next;    // per rank: position of the next task
  TaskGraph graph;
};

} // namespace

std::optional<TaskGraph> graphOf(const Schedule &order, Pairs pairs) {
  return GraphBuilder(order, pairs).build();
}

} // namespace vime
