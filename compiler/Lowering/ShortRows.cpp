#include "compiler/Lowering/ShortRows.h"

#include <algorithm>

namespace vime {
namespace {

constexpr int kMostAdvance = 255;   // as of a clock (FoldClock.cpp)
constexpr int kFew = 1000;          // microbatches that cost nothing to speak of
constexpr std::size_t kMargin = 16; // trips

/// A row and the part of it that repeats.
struct Run {
  std::vector<Task> tasks; // without idle slots
  std::size_t begin = 0, length = 0, trips = 0;

  bool repeats(std::size_t index, int advance) const {
    if (index + length >= tasks.size())
      return false;
    const Task &one = tasks[index], &other = tasks[index + length];
    return one.kind == other.kind && one.stage == other.stage &&
           other.microbatch == one.microbatch + advance;
  }

  /// Around its middle, by so many microbatches.
  bool find(int advance) {
    const std::size_t middle = tasks.size() / 2;
    Task wanted = tasks[middle];
    wanted.microbatch += advance;
    const auto next =
        std::find(tasks.begin() + static_cast<std::ptrdiff_t>(middle) + 1, tasks.end(), wanted);
    length = static_cast<std::size_t>(next - tasks.begin()) - middle;
    std::size_t end = middle;
    while (end < middle + length && repeats(end, advance))
      ++end;
    if (next == tasks.end() || end != middle + length)
      return false;
    for (begin = middle; begin > 0 && repeats(begin - 1, advance);)
      --begin;
    while (repeats(end, advance))
      ++end;
    trips = (end - begin) / length + 1;
    return true;
  }

  /// Without so many trips.
  std::vector<Task> without(std::size_t left, int advance) const {
    const auto cut = tasks.begin() + static_cast<std::ptrdiff_t>(begin + (trips - left) * length);
    std::vector<Task> kept(tasks.begin(), cut);
    for (auto task = cut + static_cast<std::ptrdiff_t>(left * length); task != tasks.end(); ++task)
      kept.push_back(
          {task->kind, task->stage, task->microbatch - advance * static_cast<int>(left)});
    return kept;
  }
};

std::vector<Run> runsOf(const Schedule &order) {
  std::vector<Run> runs;
  for (const std::vector<Task> &row : order.rows) {
    Run &run = runs.emplace_back();
    std::copy_if(row.begin(), row.end(), std::back_inserter(run.tasks),
                 [](const Task &task) { return task.kind != TaskKind::Idle; });
  }
  return runs;
}

/// The least advance by which all rows repeat, of whole samples; 0 if there is none.
int commonAdvance(std::vector<Run> &runs, int slices) {
  for (int advance = slices; advance <= kMostAdvance; advance += slices)
    if (std::all_of(runs.begin(), runs.end(), [&](Run &run) { return run.find(advance); }))
      return advance;
  return 0;
}

/// Whether the rows run the same tasks for each of so many microbatches, and no others; of several
/// copies of the model each has an equal part of them.
bool areWhole(const Schedule &order, int microbatches) {
  constexpr std::size_t kKinds = 4;
  const std::size_t stages = order.placement.size();
  std::vector<char> ran(stages * kKinds * microbatches, 0);
  std::vector<int> counts(stages * kKinds, 0);
  for (const std::vector<Task> &row : order.rows)
    for (const Task &task : row) {
      const std::size_t key = task.stage * kKinds + static_cast<std::size_t>(task.kind);
      if (task.microbatch < 0 || task.microbatch >= microbatches ||
          ran[key * microbatches + task.microbatch]++)
        return false;
      ++counts[key];
    }
  return std::all_of(counts.begin(), counts.end(),
                     [&](int count) { return count == 0 || count * order.copies == microbatches; });
}

} // namespace

std::optional<ShortRows> shortRows(const Schedule &order, int microbatches) {
  if (microbatches < 2 * kFew)
    return std::nullopt;
  std::vector<Run> runs = runsOf(order);
  if (std::any_of(runs.begin(), runs.end(), [](const Run &run) { return run.tasks.empty(); }))
    return std::nullopt;
  const int advance = commonAdvance(runs, order.slices);
  if (advance == 0)
    return std::nullopt;
  std::size_t trips = runs.front().trips;
  for (const Run &run : runs)
    trips = std::min(trips, run.trips);
  // What is around the loop settles within as much again, on either side.
  const std::size_t around = static_cast<std::size_t>(microbatches) / advance - trips;
  const std::size_t kept = 4 * around + kMargin;
  if (2 * kept > trips)
    return std::nullopt;
  const int left = advance * static_cast<int>(trips - kept);
  ShortRows result{{order.placement, {}, order.copies, order.slices}, left};
  for (const Run &run : runs)
    result.order.rows.push_back(run.without(trips - kept, advance));
  if (!areWhole(result.order, microbatches - left))
    return std::nullopt;
  return result;
}

} // namespace vime
