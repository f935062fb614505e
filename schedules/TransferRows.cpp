#include "schedules/TransferRows.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

namespace vime {

namespace {

using Kind = RowAction::Kind;

bool isForward(const Task &task) { return task.kind == TaskKind::Forward; }

// Messages by number, and who has to do with them.
class Messages {
public:
  explicit Messages(const TransferRows &rows)
      : rows(rows), stages(static_cast<int>(rows.placement.size())), depth(stages / rows.copies) {}

  static constexpr int kNone = -1;

  int count() const { return 2 * stages * rows.microbatches; }
  int numberOf(bool forward, int stage, int microbatch) const {
    return ((forward ? 0 : stages) + stage) * rows.microbatches + microbatch;
  }
  int madeBy(const Task &task) const {
    return leaves(task.stage, isForward(task)) && task.kind != TaskKind::BackwardWeight
               ? numberOf(isForward(task), task.stage, task.microbatch)
               : kNone;
  }
  int neededBy(const Task &task) const {
    const bool forward = isForward(task);
    const int from = task.stage + (forward ? -1 : 1);
    if (task.kind == TaskKind::BackwardWeight || from < 0 || from >= stages ||
        !leaves(from, forward))
      return kNone;
    return numberOf(forward, from, task.microbatch);
  }
  int receiverOf(const Task &maker) const {
    return rows.placement[maker.stage + (isForward(maker) ? 1 : -1)];
  }

private:
  bool leaves(int stage, bool forward) const {
    const bool ends = forward ? (stage + 1) % depth == 0 : stage % depth == 0;
    return !ends && rows.placement[stage] != rows.placement[stage + (forward ? 1 : -1)];
  }

  const TransferRows &rows;
  const int stages, depth; // depth: of one copy
};

class Rendezvous {
public:
  Rendezvous(const TransferRows &rows, UnitCosts costs, Queues queues)
      : rows(rows), costs(costs), queues(queues), messages(rows), next(rows.rows.size(), 0),
        freeAt(rows.rows.size(), 0), arrival(static_cast<std::size_t>(messages.count()), kNotYet),
        isPosted(static_cast<std::size_t>(messages.count()), 0) {
    std::map<std::tuple<int, int, bool>, int> numbers; // from, to, and whether forward
    for (const bool forward : {true, false})
      for (int stage = 0; stage < static_cast<int>(rows.placement.size()); ++stage) {
        const Task maker{forward ? TaskKind::Forward : TaskKind::BackwardInput, stage, 0};
        int &number = channelOf[forward].emplace_back(Messages::kNone);
        if (messages.madeBy(maker) == Messages::kNone)
          continue;
        int from = rows.placement[stage], to = messages.receiverOf(maker);
        if (queues == Queues::PerPair && from > to)
          std::swap(from, to);
        const std::tuple key{from, to, queues == Queues::PerFlow && forward};
        number = numbers.emplace(key, static_cast<int>(numbers.size())).first->second;
      }
    channels.resize(numbers.size());
  }

  std::optional<std::int64_t> run() {
    for (std::size_t rank = 0; rank < rows.rows.size(); ++rank)
      awake.push_back(static_cast<int>(rank));
    while (!awake.empty()) {
      const int rank = awake.front();
      awake.pop_front();
      goOn(rank);
    }
    for (std::size_t rank = 0; rank < rows.rows.size(); ++rank)
      if (next[rank] < rows.rows[rank].size())
        return std::nullopt;
    return freeAt.empty() ? 0 : *std::max_element(freeAt.begin(), freeAt.end());
  }

private:
  static constexpr std::int64_t kNotYet = -1;

  struct Post {
    int message;
    std::int64_t time;
  };
  struct Queue {
    std::deque<Post> posts;
    std::int64_t freeAt = 0;
  };
  struct Channel {
    Queue ends[2];
  };

  void goOn(int rank) {
    const auto &row = rows.rows[rank];
    while (next[rank] < row.size()) {
      const auto &[kind, task] = row[next[rank]];
      if (kind == Kind::Task ? !runTask(rank, task) : !post(rank, kind, task))
        return;
      ++next[rank];
    }
  }

  bool runTask(int rank, const Task &task) {
    std::int64_t start = freeAt[rank];
    for (const int message : {messages.neededBy(task), slotOf(task)})
      if (message != Messages::kNone) {
        if (arrival[message] == kNotYet)
          return false;
        start = std::max(start, arrival[message]);
      }
    freeAt[rank] = start + costs.of(task.kind);
    return true;
  }

  /// The message that lies where the task writes its own; none if the plan has a slot more.
  int slotOf(const Task &task) const {
    if (!rows.reusesSlots || messages.madeBy(task) == Messages::kNone)
      return Messages::kNone;
    const int slots = std::max(rows.slots.into(messages.receiverOf(task)), kUsualSlots);
    const int before = task.microbatch - slots * rows.copies;
    const int message =
        before < 0 ? Messages::kNone : messages.numberOf(isForward(task), task.stage, before);
    return message != Messages::kNone && isPosted[message] ? message : Messages::kNone;
  }

  bool post(int rank, Kind kind, const Task &maker) {
    const int message = messages.madeBy(maker);
    Channel &channel = channels[channelOf[isForward(maker)][maker.stage]];
    isPosted[message] |= kind == Kind::Send;
    Queue &queue = channel.ends[endOf(rank, kind, maker)];
    queue.posts.push_back({message, freeAt[rank]});
    pass(channel);
    return true;
  }

  // Of a pair of ranks the lower one has the first end; one way, the sender.
  int endOf(int rank, Kind kind, const Task &maker) const {
    if (queues != Queues::PerPair)
      return kind == Kind::Send ? 0 : 1;
    const int sender = rows.placement[maker.stage], receiver = messages.receiverOf(maker);
    return rank == std::min(sender, receiver) ? 0 : 1;
  }

  void pass(Channel &channel) {
    auto &[one, other] = channel.ends;
    while (!one.posts.empty() && !other.posts.empty() &&
           one.posts.front().message == other.posts.front().message) {
      const int message = one.posts.front().message;
      const std::int64_t begin =
          std::max({one.posts.front().time, other.posts.front().time, one.freeAt, other.freeAt});
      arrival[message] = one.freeAt = other.freeAt = begin + costs.transfer;
      one.posts.pop_front();
      other.posts.pop_front();
      wake(message);
    }
  }

  // Both ends: the receiver may need it, the sender its slot.
  void wake(int message) {
    const int stages = static_cast<int>(rows.placement.size());
    const int cell = message / rows.microbatches;
    const bool forward = cell < stages;
    const int stage = forward ? cell : cell - stages;
    awake.push_back(rows.placement[stage + (forward ? 1 : -1)]);
    if (rows.reusesSlots)
      awake.push_back(rows.placement[stage]);
  }

  const TransferRows &rows;
  const UnitCosts costs;
  const Queues queues;
  const Messages messages;
  std::vector<std::size_t> next;    // by rank
  std::vector<std::int64_t> freeAt; // by rank
  std::vector<std::int64_t> arrival;
  std::vector<char> isPosted; // by its sender
  std::vector<Channel> channels;
  std::vector<int> channelOf[2]; // backward and forward, by the stage that makes the message
  std::deque<int> awake;         // ranks that may go on
};

} // namespace

TransferRows rowsOf(const PipelineClock &clock, const Schedule &order, int microbatches,
                    const ReceiveSlots &slots) {
  TransferRows rows{order.placement, microbatches, order.copies, {}, slots, /*reusesSlots=*/true};
  rows.rows.resize(order.rows.size());
  const auto append = [&](int stage, Kind kind, TaskKind task, const PipelineNode &node) {
    rows.rows[order.placement[stage]].push_back({kind, {task, node.stage, node.microbatch}});
  };
  for (const PipelineNode &node : clock.nodes) {
    const bool forward = node.kind == NodeKind::SendForward;
    if (forward || node.kind == NodeKind::SendBackward) {
      const TaskKind maker = forward ? TaskKind::Forward : TaskKind::BackwardInput;
      append(node.stage, Kind::Send, maker, node);
      append(node.stage + (forward ? 1 : -1), Kind::Receive, maker, node);
    } else {
      append(node.stage, Kind::Task, static_cast<TaskKind>(node.kind), node); // the same sequence
    }
  }
  return rows;
}

static_assert(static_cast<int>(NodeKind::Backward) == static_cast<int>(TaskKind::Backward) &&
              static_cast<int>(NodeKind::BackwardInput) ==
                  static_cast<int>(TaskKind::BackwardInput) &&
              static_cast<int>(NodeKind::BackwardWeight) ==
                  static_cast<int>(TaskKind::BackwardWeight));

std::optional<std::int64_t> rendezvous(const TransferRows &rows, UnitCosts costs, Queues queues) {
  return Rendezvous(rows, costs, queues).run();
}

int mostHeld(const TransferRows &rows) {
  const Messages messages(rows);
  int most = 0;
  for (const auto &row : rows.rows) {
    std::map<std::pair<int, bool>, std::pair<int, int>> rings; // now, at most; by maker and flow
    for (const auto &[kind, task] : row) {
      if (kind == Kind::Receive) {
        auto &[now, peak] = rings[{task.stage, isForward(task)}];
        peak = std::max(peak, ++now);
      }
      const bool releases = kind == Kind::Task && (task.kind == TaskKind::Backward ||
                                                   task.kind == TaskKind::BackwardWeight);
      if (!releases)
        continue;
      for (const bool forward : {true, false}) {
        const Task reader{forward ? TaskKind::Forward : TaskKind::Backward, task.stage,
                          task.microbatch};
        if (messages.neededBy(reader) != Messages::kNone)
          --rings[{task.stage + (forward ? -1 : 1), forward}].first;
      }
    }
    int slots = 0;
    for (const auto &[ring, counts] : rings)
      slots += counts.second;
    most = std::max(most, slots);
  }
  return most;
}

int mostReceived(const TransferRows &rows) {
  std::ptrdiff_t most = 0;
  for (const auto &row : rows.rows)
    most = std::max(most, std::count_if(row.begin(), row.end(), [](const RowAction &action) {
                      return action.kind == Kind::Receive;
                    }));
  return static_cast<int>(most);
}

} // namespace vime
