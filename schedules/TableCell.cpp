//   cell  := "" | action | "(" action ";" action ")OVERLAP_F_B"
//   action := stage kind microbatch | stage ("UNSHARD" | "RESHARD" | "REDUCE_GRAD")
//   kind  := "F" | "B" | "BW" | "I" | "W" | "SEND_F" | "RECV_F" | "SEND_B" | "RECV_B"
#include "schedules/TableCell.h"
#include "schedules/CellText.h"
#include "schedules/Limits.h"

#include <array>

namespace vime {

namespace {

struct Word {
  std::string_view text;
  CellKind kind;
  bool isWhole = false;
};

// Longer words before those that they begin with.
constexpr std::array kWords{
    Word{"REDUCE_GRAD", CellKind::ReduceGradients},
    Word{"RESHARD", CellKind::Reshard},
    Word{"UNSHARD", CellKind::Unshard},
    Word{"SEND_F", CellKind::SendForward},
    Word{"RECV_F", CellKind::ReceiveForward},
    Word{"SEND_B", CellKind::SendBackward},
    Word{"RECV_B", CellKind::ReceiveBackward},
    Word{"BW", CellKind::Backward, true},
    Word{"F", CellKind::Forward},
    Word{"B", CellKind::Backward},
    Word{"I", CellKind::BackwardInput},
    Word{"W", CellKind::BackwardWeight},
};

constexpr std::string_view kOverlap = ")OVERLAP_F_B";

const Word *takeWord(std::string_view &text) {
  for (const Word &word : kWords)
    if (text.starts_with(word.text)) {
      text.remove_prefix(word.text.size());
      return &word;
    }
  return nullptr;
}

bool takesMicrobatch(CellKind kind) { return isTask(kind) || isTransfer(kind); }

std::string inCapitals(std::string_view cell) {
  std::string capitals(cell);
  for (char &letter : capitals)
    letter = 'a' <= letter && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  return capitals;
}

/// Stage, kind and, where it takes one, a microbatch.
bool isAction(std::string_view text) {
  const std::optional<int> stage = text.empty() ? std::nullopt : takeNumber(text);
  const Word *word = stage ? takeWord(text) : nullptr;
  if (word == nullptr || !takesMicrobatch(word->kind))
    return word != nullptr && text.empty();
  return !text.empty() && takeNumber(text) && text.empty();
}

TableProblem noAction(std::string_view cell) {
  if (cell.find("WAIT_SEND_") != std::string_view::npos)
    return cellProblem(cell, " waits for a send, which plans do by themselves",
                       "leave the cell out");
  if (const std::string capitals = inCapitals(cell); capitals != cell && isAction(capitals))
    return cellProblem(cell, " is no action", "kinds are written in capitals: `" + capitals + '`');
  return cellProblem(
      cell, " is no action",
      "a cell is empty or stage, kind, microbatch, like `2F0`; kinds are F, B, I, W, "
      "SEND_F, RECV_F, SEND_B, RECV_B, and UNSHARD, RESHARD, REDUCE_GRAD without "
      "microbatch");
}

std::variant<Cell::Part, TableProblem> readAction(std::string_view action) {
  std::string_view rest = action;
  const std::optional<int> stage = rest.empty() ? std::nullopt : takeNumber(rest);
  const Word *word = stage ? takeWord(rest) : nullptr;
  if (word == nullptr)
    return noAction(action);
  const bool takes = takesMicrobatch(word->kind);
  int microbatch = -1;
  if (takes) {
    const std::optional<int> number = rest.empty() ? std::nullopt : takeNumber(rest);
    microbatch = number.value_or(-1);
  }
  if (!rest.empty() || (takes && microbatch < 0))
    return noAction(action);
  if (*stage >= kMaxRanks * kMaxChunks)
    return cellProblem(action,
                       " names a stage beyond " + std::to_string(kMaxRanks * kMaxChunks - 1));
  if (microbatch >= kMaxMicrobatches)
    return cellProblem(action,
                       " names a microbatch beyond " + std::to_string(kMaxMicrobatches - 1));
  return Cell::Part{{word->kind, *stage, microbatch, {1, 1, static_cast<int>(action.size())}},
                    word->isWhole};
}

// A part of a pair, at its column of the cell.
template <typename Place> void shift(Place &place, std::size_t columns) {
  place.column += static_cast<int>(columns);
}

std::variant<Cell, TableProblem> readPair(std::string_view cell) {
  const std::size_t middle = cell.find(';');
  if (!cell.ends_with(kOverlap) || middle == std::string_view::npos)
    return cellProblem(cell, " is no pair", "a pair is written `(2F1;3B0)OVERLAP_F_B`");
  Cell pair;
  const std::size_t end = cell.size() - kOverlap.size();
  for (const auto &[begin, stop] :
       {std::pair(std::size_t{1}, middle), std::pair(middle + 1, end)}) {
    auto part = readAction(cell.substr(begin, stop - begin));
    if (auto *wrong = std::get_if<TableProblem>(&part)) {
      shift(wrong->place, begin);
      return std::move(*wrong);
    }
    pair.parts.push_back(std::get<Cell::Part>(part));
    shift(pair.parts.back().entry.place, begin);
  }
  pair.parts.front().entry.overlapsNext = true;
  const CellKind first = pair.parts[0].entry.kind, second = pair.parts[1].entry.kind;
  if (first != CellKind::Forward || !isTask(second) || second == CellKind::Forward)
    return cellProblem(cell, " overlaps something else than a forward with a backward");
  return pair;
}

} // namespace

std::variant<Cell, TableProblem> readCell(std::string_view cell) {
  if (cell.empty())
    return Cell();
  if (cell.front() == '(')
    return readPair(cell);
  auto part = readAction(cell);
  if (auto *wrong = std::get_if<TableProblem>(&part))
    return std::move(*wrong);
  return Cell{{std::get<Cell::Part>(part)}};
}

std::string toText(const TableEntry &entry) {
  for (const Word &word : kWords)
    if (word.kind == entry.kind && !word.isWhole)
      return std::to_string(entry.stage) + std::string(word.text) +
             (takesMicrobatch(entry.kind) ? std::to_string(entry.microbatch) : "");
  return {};
}

} // namespace vime
