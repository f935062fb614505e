// Reading orders in PyTorch's compute-only CSV form.
//
//   row   := cell ("," cell)*          cell  := "" | stage kind microbatch
//   kind  := "F" | "B" | "I" | "W"     stage, microbatch := digits
#include "schedules/Limits.h"
#include "schedules/Notation.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

namespace vime {

namespace {

std::string quoted(std::string_view cell) {
  constexpr std::size_t kShown = 40; // enough to find the cell, whatever the file holds
  std::string text = "`";
  for (const char c : cell.substr(0, kShown))
    text += (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) ? '?' : c;
  return text + (cell.size() > kShown ? "…`" : "`");
}

std::string_view trimmed(std::string_view cell) {
  const std::size_t first = cell.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  return cell.substr(first, cell.find_last_not_of(" \t") - first + 1);
}

// Takes the digits off the front; nothing if there are none or they exceed an int.
std::optional<int> takeNumber(std::string_view &text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.front() == '-')
    return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<TaskKind> kindOf(char letter) {
  switch (letter) {
  case 'F':
    return TaskKind::Forward;
  case 'B':
    return TaskKind::Backward;
  case 'I':
    return TaskKind::BackwardInput;
  case 'W':
    return TaskKind::BackwardWeight;
  default:
    return std::nullopt;
  }
}

// PyTorch's actions for transfers and FSDP, and why an order here has none of them.
std::string_view knownButRefused(std::string_view cell) {
  if (cell.find("SEND_") != std::string_view::npos || cell.find("RECV_") != std::string_view::npos)
    return "is a transfer; the compiler adds transfers to the compute order by itself";
  if (cell.find("SHARD") != std::string_view::npos ||
      cell.find("REDUCE_GRAD") != std::string_view::npos)
    return "concerns parameters, not the compute order";
  if (cell.find("OVERLAP_") != std::string_view::npos)
    return "is an overlapped pair, which orders cannot hold yet";
  return "is no task; cells are stage, F B I or W, and microbatch, like 2F0, or empty";
}

using TaskOrReason = std::variant<Task, std::string>;

TaskOrReason parseCell(std::string_view cell) {
  if (cell.empty())
    return Task{TaskKind::Idle, -1, -1};
  std::string_view rest = cell;
  const std::optional<int> stage = takeNumber(rest);
  const std::optional<TaskKind> kind = stage && !rest.empty() ? kindOf(rest.front()) : std::nullopt;
  if (!kind)
    return quoted(cell) + " " + std::string(knownButRefused(cell));
  rest.remove_prefix(1);
  const std::optional<int> microbatch = rest.empty() ? std::nullopt : takeNumber(rest);
  if (!microbatch || !rest.empty())
    return quoted(cell) + " " + std::string(knownButRefused(cell));
  if (*stage >= kMaxRanks * kMaxChunks)
    return quoted(cell) + " names a stage beyond " + std::to_string(kMaxRanks * kMaxChunks - 1);
  if (*microbatch >= kMaxMicrobatches)
    return quoted(cell) + " names a microbatch beyond " + std::to_string(kMaxMicrobatches - 1);
  return Task{*kind, *stage, *microbatch};
}

class CsvReader {
public:
  explicit CsvReader(std::string_view text) : text(text) {}

  std::variant<Schedule, CsvError> read() {
    while (!error && !text.empty())
      readRow(takeLine());
    if (!error && order.rows.empty())
      fail(1, "the file holds no row");
    if (!error)
      inferPlacement();
    if (error)
      return std::move(*error);
    return std::move(order);
  }

private:
  struct Seen {
    int rank;
    int line;
    int column;
  };

  void fail(int column, std::string message) {
    error = CsvError{std::max(1, line), column, std::move(message)};
  }

  std::string_view takeLine() {
    const std::size_t end = text.find('\n');
    std::string_view row = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (row.ends_with('\r'))
      row.remove_suffix(1);
    ++line;
    return row;
  }

  void readRow(std::string_view row) {
    if (line > kMaxRanks)
      return fail(1, "the file has more than " + std::to_string(kMaxRanks) + " rows");
    order.rows.emplace_back();
    hasTask = false;
    std::size_t begin = 0;
    while (!error) {
      const std::size_t comma = row.find(',', begin);
      readCell(row.substr(begin, comma - begin), static_cast<int>(begin) + 1);
      if (comma == std::string_view::npos)
        break;
      begin = comma + 1;
    }
    if (!error && !hasTask)
      fail(1, "the row of rank " + std::to_string(line - 1) + " holds no task");
  }

  void readCell(std::string_view cell, int column) {
    TaskOrReason parsed = parseCell(trimmed(cell));
    if (std::string *reason = std::get_if<std::string>(&parsed))
      return fail(column, std::move(*reason));
    const Task task = std::get<Task>(parsed);
    order.rows.back().push_back(task);
    if (task.kind == TaskKind::Idle)
      return;
    hasTask = true;
    checkStage(task, column);
    if (!error)
      checkDialect(task, column);
  }

  // A stage lives on one rank: the row where it appears.
  void checkStage(const Task &task, int column) {
    const Seen here{line - 1, line, column};
    const auto [place, isNew] = ranks.try_emplace(task.stage, here);
    if (!isNew && place->second.rank != here.rank)
      fail(column, "`" + toText(task) + "` puts stage " + std::to_string(task.stage) + " on rank " +
                       std::to_string(here.rank) + ", but line " +
                       std::to_string(place->second.line) + " has it on rank " +
                       std::to_string(place->second.rank));
  }

  // B is the whole backward. PyTorch 2.5 wrote B for the input gradient: such a file would count
  // that part twice.
  void checkDialect(const Task &task, int column) {
    if (task.kind == TaskKind::Forward)
      return;
    const bool whole = task.kind == TaskKind::Backward;
    const auto [entry, isNew] = isWhole.try_emplace({task.stage, task.microbatch}, whole);
    if (!isNew && entry->second != whole)
      fail(column, "stage " + std::to_string(task.stage) + ", microbatch " +
                       std::to_string(task.microbatch) +
                       " has a whole backward (B) beside a split one (I, W); files of PyTorch 2.5 "
                       "write B for I");
  }

  void inferPlacement() {
    int stage = 0;
    for (const auto &[found, seen] : ranks) {
      if (found != stage) {
        line = seen.line;
        return fail(seen.column, "stage " + std::to_string(found) + " appears, but stage " +
                                     std::to_string(stage) + " is on no rank");
      }
      order.placement.push_back(seen.rank);
      ++stage;
    }
  }

  std::string_view text; // what is left of the file
  int line = 0;
  bool hasTask = false;
  Schedule order;
  std::map<int, Seen> ranks;                   // per stage: its first cell
  std::map<std::pair<int, int>, bool> isWhole; // per stage and microbatch: B, not I or W
  std::optional<CsvError> error;
};

} // namespace

std::variant<Schedule, CsvError> parseCsv(std::string_view text) { return CsvReader(text).read(); }

} // namespace vime
