// Reading cells of the zero-bubble family.
#include "schedules/ZeroBubbleCell.h"
#include "schedules/CellText.h"
#include "schedules/Limits.h"

#include <array>
#include <cctype>

namespace vime {

namespace {

struct Word {
  std::string_view text;
  CellKind kind;
};

// Longer words before those that they begin with.
constexpr std::array kWords{
    Word{"BW", CellKind::Backward},     Word{"F", CellKind::Forward},
    Word{"B", CellKind::BackwardInput}, Word{"W", CellKind::BackwardWeight},
    Word{"SF", CellKind::SendForward},  Word{"RF", CellKind::ReceiveForward},
    Word{"SB", CellKind::SendBackward}, Word{"RB", CellKind::ReceiveBackward},
};

bool take(std::string_view &text, std::string_view prefix) {
  if (!text.starts_with(prefix))
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::variant<Cell::Part, TableProblem> readEntry(std::string_view text, bool isTransfer) {
  std::string_view rest = text;
  const Word *word = nullptr;
  for (const Word &known : kWords)
    if (word == nullptr && vime::isTransfer(known.kind) == isTransfer && take(rest, known.text))
      word = &known;
  const auto number = [&] { return rest.empty() ? std::nullopt : takeNumber(rest); };
  const auto microbatch = word ? number() : std::nullopt;
  const auto chunk = microbatch && take(rest, ".") ? number() : std::nullopt;
  const bool isSliced = chunk && take(rest, "s");
  const auto slice = isSliced ? number() : std::optional(0);
  if (!chunk || !slice || !rest.empty())
    return cellProblem(text, isTransfer ? " is no transfer" : " is no task",
                       isTransfer ? "transfers are SF, RF, SB, RB, microbatch and chunk: `SF3.1`"
                                  : "tasks are F, B, W or BW, microbatch and chunk: `F3.1`");
  if (*microbatch >= kMaxMicrobatches || *chunk >= kMaxChunks || *slice >= kMaxSlices)
    return cellProblem(text, " names a number that is too large",
                       "microbatches end at " + std::to_string(kMaxMicrobatches - 1) +
                           ", chunks and slices at " + std::to_string(kMaxChunks - 1));
  return Cell::Part{{word->kind, *chunk, *microbatch, {1, 1, static_cast<int>(text.size())}},
                    word->kind == CellKind::Backward,
                    *slice};
}

// The texts between `between`, behind the cell's first character and before its last.
std::variant<Cell, TableProblem> readList(std::string_view cell, char between, bool areTransfers) {
  Cell list;
  for (std::size_t begin = 1; begin < cell.size();) {
    const std::size_t end = std::min(cell.find(between, begin), cell.size() - 1);
    auto part = readEntry(cell.substr(begin, end - begin), areTransfers);
    if (auto *wrong = std::get_if<TableProblem>(&part)) {
      wrong->place.column += static_cast<int>(begin);
      wrong->place.length = std::max(wrong->place.length, 1);
      return std::move(*wrong);
    }
    list.parts.push_back(std::get<Cell::Part>(part));
    list.parts.back().entry.place.column += static_cast<int>(begin);
    begin = end + 1;
  }
  return list;
}

std::variant<Cell, TableProblem> readPair(std::string_view cell) {
  if (!cell.ends_with(']'))
    return cellProblem(cell, " is no pair", "a pair is written `[F7.0&BW3.1]`");
  auto read = readList(cell, '&', /*areTransfers=*/false);
  auto *pair = std::get_if<Cell>(&read);
  if (pair == nullptr)
    return read;
  if (pair->parts.size() != 2 || pair->parts[0].entry.kind != CellKind::Forward ||
      pair->parts[1].entry.kind == CellKind::Forward)
    return cellProblem(cell, " overlaps something else than a forward with a backward");
  pair->parts[0].entry.overlapsNext = true;
  return read;
}

std::variant<Cell, TableProblem> readGroup(std::string_view cell) {
  auto read = readList(cell, '+', /*areTransfers=*/true);
  if (auto *group = std::get_if<Cell>(&read))
    for (std::size_t part = 0; part + 1 < group->parts.size(); ++part)
      group->parts[part].entry.startsWithNext = true;
  return read;
}

} // namespace

std::variant<Cell, TableProblem> readZeroBubbleCell(std::string_view cell) {
  if (cell.empty())
    return Cell();
  if (cell.front() == '{' && cell.ends_with('}'))
    return readGroup(cell);
  if (cell.front() == '[')
    return readPair(cell);
  auto part = readEntry(cell, /*isTransfer=*/false);
  if (auto *wrong = std::get_if<TableProblem>(&part))
    return std::move(*wrong);
  return Cell{{std::get<Cell::Part>(part)}};
}

bool isZeroBubbleCell(std::string_view cell) {
  if (cell.starts_with('[') || cell.starts_with('{'))
    return true;
  const std::size_t digits = cell.find_first_of("0123456789");
  const std::size_t dot = cell.find_first_not_of("0123456789", digits);
  return 0 < digits && digits != cell.npos && dot != cell.npos && cell[dot] == '.' &&
         std::isalpha(static_cast<unsigned char>(cell.front())) != 0;
}

} // namespace vime
