// Orders written as text: cells, CSV, grid, timeline. Reading is in TableReader.cpp.
#include "schedules/Notation.h"
#include "schedules/Limits.h"
#include "schedules/OrderTable.h"

#include <algorithm>

namespace vime {

namespace {

char letterOf(TaskKind kind) {
  switch (kind) {
  case TaskKind::Forward:
    return 'F';
  case TaskKind::Backward:
    return 'B';
  case TaskKind::BackwardInput:
    return 'I';
  case TaskKind::BackwardWeight:
    return 'W';
  case TaskKind::Idle:
    break;
  }
  return '.';
}

// Without the stage: "F1".
std::string shortText(const Task &task) {
  return letterOf(task.kind) + std::to_string(task.microbatch);
}

std::string padded(std::string text, std::size_t width, char fill = ' ') {
  if (text.size() < width)
    text.append(width - text.size(), fill);
  return text;
}

void trimRight(std::string &line) { line.erase(line.find_last_not_of(' ') + 1); }

// Texts around the two parts of a pair.
struct PairMarks {
  std::string_view open, between, close;
};

// One text per cell; a pair takes two entries.
template <typename Entry>
std::vector<std::string> cells(const std::vector<Entry> &row, std::string_view idle,
                               PairMarks marks) {
  std::vector<std::string> texts;
  texts.reserve(row.size());
  for (std::size_t position = 0; position < row.size(); ++position) {
    std::string text = toText(row[position]);
    if (row[position].overlapsNext && position + 1 < row.size())
      text = std::string(marks.open) + text + std::string(marks.between) + toText(row[++position]) +
             std::string(marks.close);
    texts.push_back(text.empty() ? std::string(idle) : std::move(text));
  }
  return texts;
}

constexpr PairMarks kPyTorch{"(", ";", ")OVERLAP_F_B"};

template <typename Entry> std::string csvOf(const std::vector<std::vector<Entry>> &rows) {
  std::string csv;
  for (const std::vector<Entry> &row : rows) {
    const std::vector<std::string> texts = cells(row, "", kPyTorch);
    for (std::size_t column = 0; column < texts.size(); ++column) {
      if (column > 0)
        csv += ',';
      csv += texts[column];
    }
    csv += "\r\n";
  }
  return csv;
}

std::vector<std::string> gridCells(const std::vector<Task> &row) {
  return cells(row, ".", {"", "&", ""});
}

std::size_t widestCell(const Schedule &order) {
  std::size_t widest = 0;
  for (const std::vector<Task> &row : order.rows)
    for (const std::string &cell : gridCells(row))
      widest = std::max(widest, cell.size());
  return widest;
}

// Draws tasks at their start; the cheapest is `unit` characters wide, enough for any label.
class Timeline {
public:
  Timeline(const Schedule &order, UnitCosts costs)
      : order(order), costs(costs), times(simulate(order, costs)), withStages(holdsSeveralStages()),
        unit(longestLabel() + 1), cheapest(cheapestTask()) {}

  std::string text() const {
    std::string picture;
    for (std::size_t rank = 0; rank < order.rows.size(); ++rank)
      picture += line(rank) + "\n";
    if (times.stuck)
      picture += "stuck: " + times.stuck->message + "\n";
    return picture;
  }

private:
  // Of one copy of the model: a microbatch says by itself which copy it passes through.
  bool holdsSeveralStages() const {
    return order.placement.size() / static_cast<std::size_t>(order.copies) > order.rows.size();
  }
  std::string label(const Task &task) const {
    if (withStages)
      return toText(task);
    if (order.slices == 1)
      return shortText(task);
    return shortText({task.kind, task.stage, task.microbatch / order.slices}) + "." +
           std::to_string(task.microbatch % order.slices);
  }

  std::size_t longestLabel() const {
    std::size_t longest = 1;
    for (const std::vector<Task> &row : order.rows)
      for (const Task &task : row)
        if (task.kind != TaskKind::Idle)
          longest = std::max(longest, label(task).size());
    return longest;
  }

  std::string line(std::size_t rank) const {
    const std::size_t digits = std::to_string(order.rows.size() - 1).size();
    std::string text = "rank " + padded(std::to_string(rank), digits) + "  ";
    std::int64_t now = 0;
    for (std::size_t position = 0; position < order.rows[rank].size(); ++position) {
      const std::int64_t start = times.start[rank][position];
      const Task &task = order.rows[rank][position];
      if (start < 0 || costs.of(task.kind) <= 0)
        continue;
      const std::int64_t end = start + costs.of(task.kind);
      text += dots(columnOf(start) - columnOf(now)) + bar(task, columnOf(end) - columnOf(start));
      now = end;
    }
    text += dots(columnOf(times.makespan) - columnOf(now));
    trimRight(text);
    return text;
  }

  int cheapestTask() const {
    int least = kMaxCost;
    for (const std::vector<Task> &row : order.rows)
      for (const Task &task : row)
        if (const int cost = costs.of(task.kind); cost > 0)
          least = std::min(least, cost);
    return least;
  }

  std::size_t columnOf(std::int64_t time) const {
    return static_cast<std::size_t>(time) * unit / static_cast<std::size_t>(cheapest);
  }

  std::string dots(std::size_t columns) const {
    std::string text;
    while (text.size() < columns)
      text += padded(".", std::min(unit, columns - text.size()));
    return text;
  }

  // "B0--- ": as wide as the task is long, with a gap behind.
  std::string bar(const Task &task, std::size_t columns) const {
    const std::string name = padded(label(task), unit - 1);
    return (columns == unit ? name : padded(label(task), columns - 1, '-')) + " ";
  }

  const Schedule &order;
  const UnitCosts costs;
  const UnitTimes times;
  const bool withStages;
  const std::size_t unit;
  const int cheapest;
};

} // namespace

std::string toText(const Task &task) {
  return task.kind == TaskKind::Idle ? std::string() : std::to_string(task.stage) + shortText(task);
}

std::vector<std::string> toCells(const std::vector<Task> &row) { return cells(row, "", kPyTorch); }

std::string toCsv(const Schedule &order) { return csvOf(order.rows); }

std::string toCsv(const OrderTable &table) { return csvOf(table.rows); }

std::string toGrid(const Schedule &order) {
  const std::size_t width = widestCell(order) + 1;
  std::string grid;
  for (const std::vector<Task> &row : order.rows) {
    std::string line;
    for (const std::string &cell : gridCells(row))
      line += padded(cell, width);
    trimRight(line);
    grid += line + "\n";
  }
  return grid;
}

std::string toTimeline(const Schedule &order, UnitCosts costs) {
  return Timeline(order, costs).text();
}

} // namespace vime
