// Tasks and transfers of all ranks, in the sequence of the clock.
#include "schedules/TransferTimes.h"
#include "schedules/TaskGraph.h"

#include <map>
#include <set>
#include <tuple>

namespace vime {

namespace {

constexpr int kNone = -1;

struct Message {
  int producer, consumer; // tasks
  std::int64_t time = 0;  // on the clock
  int before = kNone;     // the message before it in its channel
  int frees = kNone;      // the task that frees the slot it goes to
  std::int64_t arrival = 0;
};

class Run {
public:
  Run(const TaskGraph &graph, std::size_t ranks, UnitCosts costs)
      : graph(graph), costs(costs), ranks(ranks), start(graph.nodes.size()) {
    setClock();
    collectMessages();
  }

  bool placeEarly(int slots) {
    for (const auto &[channel, list] : channels)
      for (std::size_t index = 0; index < list.size(); ++index) {
        Message &message = messages[list[index]];
        message.time = clockEnd(message.producer);
        if (index >= static_cast<std::size_t>(slots)) {
          message.frees = messages[list[index - static_cast<std::size_t>(slots)]].consumer;
          message.time = std::max(message.time, clockEnd(message.frees));
        }
        if (index > 0) {
          message.before = static_cast<int>(list[index - 1]);
          message.time = std::max(message.time, messages[list[index - 1]].time);
        }
        if (message.time > start[static_cast<std::size_t>(message.consumer)])
          return false;
      }
    return true;
  }

  void placeLate() {
    isLate = true;
    for (Message &message : messages)
      message.time = start[static_cast<std::size_t>(message.consumer)];
  }

  std::int64_t makespan() {
    using Key = std::tuple<std::int64_t, int, int, std::size_t>; // time, rank, what, which
    std::vector<Key> sequence;
    for (std::size_t task = 0; task < graph.nodes.size(); ++task)
      sequence.emplace_back(start[task], graph.nodes[task].rank, 1, task);
    for (std::size_t index = 0; index < messages.size(); ++index)
      sequence.emplace_back(messages[index].time, tieOf(messages[index]), 0, index);
    std::sort(sequence.begin(), sequence.end());
    std::vector<std::int64_t> freeAt(ranks);
    for (const auto &[time, rank, isTask, index] : sequence)
      if (isTask == 0)
        transfer(messages[index], freeAt);
      else
        run(index, freeAt);
    return freeAt.empty() ? 0 : *std::max_element(freeAt.begin(), freeAt.end());
  }

private:
  std::int64_t clockEnd(int task) const {
    const auto index = static_cast<std::size_t>(task);
    return start[index] + UnitCosts{}.of(graph.nodes[index].task.kind);
  }
  int rankOf(int task) const { return graph.nodes[static_cast<std::size_t>(task)].rank; }
  // Before all tasks of its time; late, before those of its receiver and of higher ranks.
  int tieOf(const Message &message) const { return isLate ? rankOf(message.consumer) : kNone; }

  void setClock() {
    std::vector<std::int64_t> freeAt(ranks);
    for (std::size_t task = 0; task < graph.nodes.size(); ++task) {
      const TaskNode &node = graph.nodes[task];
      start[task] = freeAt[static_cast<std::size_t>(node.rank)];
      for (const std::int32_t need : node.needs)
        if (need >= 0)
          start[task] = std::max(start[task], clockEnd(need));
      freeAt[static_cast<std::size_t>(node.rank)] = clockEnd(static_cast<int>(task));
    }
  }

  void collectMessages() {
    for (std::size_t task = 0; task < graph.nodes.size(); ++task) {
      inputs.emplace_back();
      for (const std::int32_t need : graph.nodes[task].needs)
        if (need >= 0 && rankOf(need) != graph.nodes[task].rank) {
          inputs.back().push_back(messages.size());
          messages.push_back({need, static_cast<int>(task)});
        }
    }
    for (std::size_t index = 0; index < messages.size(); ++index) {
      const Message &message = messages[index];
      const auto consumer = static_cast<std::size_t>(message.consumer);
      channels[{rankOf(message.producer), rankOf(message.consumer),
                graph.nodes[consumer].task.kind == TaskKind::Forward}]
          .push_back(index);
    }
    for (auto &[channel, list] : channels)
      std::sort(list.begin(), list.end(), [&](std::size_t left, std::size_t right) {
        return messages[left].producer < messages[right].producer;
      });
  }

  // Both ends have dispatched all that stands before it, which is what their ranks have run so far.
  void transfer(Message &message, const std::vector<std::int64_t> &freeAt) {
    std::int64_t begin = std::max(freeAt[static_cast<std::size_t>(rankOf(message.producer))],
                                  freeAt[static_cast<std::size_t>(rankOf(message.consumer))]);
    if (message.before != kNone)
      begin = std::max(begin, messages[static_cast<std::size_t>(message.before)].arrival);
    message.arrival = begin + costs.transfer;
  }

  void run(std::size_t task, std::vector<std::int64_t> &freeAt) {
    std::int64_t &free = freeAt[static_cast<std::size_t>(graph.nodes[task].rank)];
    for (const std::size_t input : inputs[task])
      free = std::max(free, messages[input].arrival);
    free += costs.of(graph.nodes[task].task.kind);
  }

  const TaskGraph &graph;
  const UnitCosts costs;
  const std::size_t ranks;
  bool isLate = false;
  std::vector<std::int64_t> start; // on the clock
  std::vector<Message> messages;
  std::vector<std::vector<std::size_t>> inputs; // of each task: messages
  std::map<std::tuple<int, int, bool>, std::vector<std::size_t>> channels;
};

} // namespace

std::optional<std::int64_t> timeWithSlots(const Schedule &order, UnitCosts costs, int slots) {
  const std::optional<TaskGraph> graph = graphOf(order);
  if (!graph)
    return std::nullopt;
  Run run(*graph, order.rows.size(), costs);
  if (!run.placeEarly(slots))
    return std::nullopt;
  return run.makespan();
}

std::optional<std::int64_t> timeOfLateReceives(const Schedule &order, UnitCosts costs) {
  const std::optional<TaskGraph> graph = graphOf(order);
  if (!graph)
    return std::nullopt;
  Run run(*graph, order.rows.size(), costs);
  run.placeLate();
  return run.makespan();
}

int mostReceivingChannels(const Schedule &order) {
  std::map<int, std::set<std::pair<int, bool>>> ends; // by receiver: sender, whether forward
  const auto depth = order.placement.size() / static_cast<std::size_t>(order.copies);
  for (std::size_t stage = 0; stage + 1 < order.placement.size(); ++stage) {
    const int rank = order.placement[stage], next = order.placement[stage + 1];
    if ((stage + 1) % depth == 0 || rank == next)
      continue;
    ends[next].insert({rank, true});
    ends[rank].insert({next, false});
  }
  std::size_t most = 0;
  for (const auto &[rank, channels] : ends)
    most = std::max(most, channels.size());
  return static_cast<int>(most);
}

} // namespace vime
