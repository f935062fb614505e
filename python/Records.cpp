#include "python/Records.h"

#include <algorithm>
#include <stdexcept>

#include <pybind11/stl.h>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Diagnostics/Utf8.h"
#include "schedules/Limits.h"
#include "schedules/Period.h"
#include "schedules/UnitTime.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace vime::python {
namespace {

struct Word {
  CellKind kind;
  const char *text;
};

constexpr Word kWords[] = {
    {CellKind::Forward, "F"},
    {CellKind::Backward, "B"},
    {CellKind::BackwardInput, "I"},
    {CellKind::BackwardWeight, "W"},
    {CellKind::SendForward, "SEND_F"},
    {CellKind::ReceiveForward, "RECV_F"},
    {CellKind::SendBackward, "SEND_B"},
    {CellKind::ReceiveBackward, "RECV_B"},
    {CellKind::Unshard, "UNSHARD"},
    {CellKind::Reshard, "RESHARD"},
    {CellKind::ReduceGradients, "REDUCE_GRAD"},
};

bool isOfMicrobatch(CellKind kind) { return isTask(kind) || isTransfer(kind); }

py::object cellOf(const TableEntry &entry) {
  for (const auto &[kind, text] : kWords)
    if (kind == entry.kind)
      return py::make_tuple(text, entry.stage,
                            isOfMicrobatch(kind) ? py::cast(entry.microbatch) : py::none(),
                            entry.overlapsNext);
  return py::none();
}

int inRange(py::handle value, int end, const std::string &what) {
  const auto number = value.cast<long long>();
  if (number < 0 || number >= end)
    throw std::invalid_argument(what + " counts from 0 to " + std::to_string(end - 1) + ", not " +
                                std::to_string(number));
  return static_cast<int>(number);
}

TableEntry entryOf(py::handle cell) {
  if (cell.is_none())
    return {CellKind::Idle, -1, -1, {}};
  const auto parts = cell.cast<py::tuple>();
  const auto word = parts[0].cast<std::string>();
  const auto found = std::find_if(std::begin(kWords), std::end(kWords),
                                  [&](const Word &known) { return known.text == word; });
  if (found == std::end(kWords))
    throw std::invalid_argument("`" + word + "` is no kind of action");
  return {found->kind,
          inRange(parts[1], kMaxRanks * kMaxChunks, "a stage"),
          isOfMicrobatch(found->kind) ? inRange(parts[2], kMaxMicrobatches, "a microbatch") : -1,
          {},
          parts[3].cast<bool>()};
}

// A pair is a forward and the backward behind it, as in tables that are read.
void judgePairs(const std::vector<TableEntry> &row) {
  for (std::size_t position = 0; position < row.size(); ++position) {
    if (!row[position].overlapsNext)
      continue;
    const bool hasNext = position + 1 < row.size();
    const CellKind next = hasNext ? row[position + 1].kind : CellKind::Idle;
    if (row[position].kind != CellKind::Forward || !isTask(next) || next == CellKind::Forward ||
        row[position + 1].overlapsNext)
      throw std::invalid_argument("`" + toText(row[position]) +
                                  "` overlaps something else than a forward with a backward");
  }
}

py::dict placeRecord(const SourceSpan &span, const OrderTable *table) {
  if (table && 0 < span.line && span.line <= static_cast<int>(table->rows.size()))
    return recordOf(TablePlace{span.line, span.column, span.length}, *table);
  return py::dict("rank"_a = py::none(), "cell"_a = py::none(), "line"_a = span.line,
                  "column"_a = span.column, "length"_a = span.length);
}

py::dict recordOf(const ScheduleShape &shape) {
  return py::dict("ranks"_a = shape.ranks, "microbatches"_a = shape.microbatches,
                  "chunks"_a = shape.chunks, "group"_a = shape.group, "memory"_a = shape.memory,
                  "slices"_a = shape.slices, "overlap"_a = shape.overlap);
}

py::dict recordOf(const Periods &periods) {
  return py::dict("barrier"_a = periods.barrier, "post_validated"_a = periods.postValidated);
}

py::object boundsRecord(const Schedule &order, UnitCosts costs, const UnitTimes &times,
                        const Periods &periods) {
  const Bounds bounds = boundsOf(boundedShapeOf(order, costs));
  const auto above = [](double reached, const Bound &bound) {
    return bound.least == 0 ? 0 : reached / static_cast<double>(bound.least) - 1;
  };
  return py::dict("makespan"_a = bounds.makespan.least, "span"_a = bounds.span.least,
                  "link"_a = bounds.link, "makespan_binds"_a = std::string(bounds.makespan.label),
                  "span_binds"_a = std::string(bounds.span.label),
                  "makespan_gap"_a = above(static_cast<double>(times.makespan), bounds.makespan),
                  "barrier_gap"_a = above(periods.barrier, bounds.makespan),
                  "post_validated_gap"_a = above(periods.postValidated, bounds.span));
}

bool hasBackwards(const Schedule &order) {
  for (const std::vector<Task> &row : order.rows)
    for (const Task &task : row)
      if (task.kind == TaskKind::Backward || task.kind == TaskKind::BackwardInput)
        return true;
  return false;
}

} // namespace

py::tuple rowsOf(const OrderTable &table) {
  py::tuple rows(table.rows.size());
  for (std::size_t rank = 0; rank < table.rows.size(); ++rank) {
    py::tuple cells(table.rows[rank].size());
    for (std::size_t cell = 0; cell < table.rows[rank].size(); ++cell)
      cells[cell] = cellOf(table.rows[rank][cell]);
    rows[rank] = cells;
  }
  return rows;
}

OrderTable tableOfRows(const py::sequence &rows, int copies, int slices) {
  if (rows.size() == 0)
    throw std::invalid_argument("an order has a row for each rank, and this one has none");
  if (rows.size() > kMaxRanks)
    throw std::invalid_argument("an order has at most " + std::to_string(kMaxRanks) + " rows");
  OrderTable table;
  table.copies = copies;
  table.slices = slices;
  for (const py::handle row : rows) {
    std::vector<TableEntry> &cells = table.rows.emplace_back();
    for (const py::handle cell : row)
      table.pairs += cells.emplace_back(entryOf(cell)).overlapsNext;
    judgePairs(cells);
  }
  placeCells(table);
  return table;
}

py::dict recordOf(const Order &order) {
  std::vector<std::string> takes;
  for (const auto &[name, isTaken] : {std::pair("group", order.takes.group),
                                      {"memory", order.takes.memory},
                                      {"slices", order.takes.slices},
                                      {"overlap", order.takes.overlap},
                                      {"costs", order.takes.costs}})
    if (isTaken)
      takes.push_back(name);
  return py::dict(
      "name"_a = std::string(order.name), "summary"_a = std::string(order.summary),
      "placement"_a = std::string(order.placement),
      "chunks"_a = py::make_tuple(order.chunks.least, order.chunks.most, order.chunks.usual),
      "takes"_a = tupleOf(takes), "trains"_a = order.trains, "ascending"_a = order.ascending,
      "needs"_a = std::string(order.needs), "bubble"_a = std::string(order.bubble),
      "peak"_a = std::string(order.peak), "source"_a = std::string(order.source));
}

py::dict recordOf(const OrderProblem &problem) {
  py::list nearest;
  for (const ScheduleShape &shape : problem.nearest)
    nearest.append(recordOf(shape));
  return py::dict("number"_a = std::string(problem.number), "message"_a = problem.message,
                  "help"_a = problem.help, "nearest"_a = nearest);
}

py::dict recordOf(const ComparedOrder &compared) {
  py::dict record("name"_a = std::string(compared.order->name),
                  "shape"_a = recordOf(compared.shape), "exceeds_memory"_a = compared.exceedsMemory,
                  "problem"_a = py::none(), "figures"_a = py::none());
  if (compared.problem)
    record["problem"] = recordOf(*compared.problem);
  if (const auto &figures = compared.figures)
    record["figures"] =
        py::dict("makespan"_a = figures->makespan, "span"_a = figures->span,
                 "periods"_a = recordOf(figures->periods), "jitter"_a = recordOf(figures->growth),
                 "bubble"_a = figures->bubble, "peak"_a = figures->peak,
                 "copies"_a = figures->copies, "gap"_a = recordOf(figures->gap));
  return record;
}

py::dict recordOf(const TablePlace &place, const OrderTable &table) {
  const auto &row = table.rows[static_cast<std::size_t>(place.line) - 1];
  const auto found = std::find_if(row.begin(), row.end(), [&](const TableEntry &entry) {
    return entry.place.column == place.column;
  });
  return py::dict("rank"_a = place.line - 1,
                  "cell"_a = found == row.end() ? py::object(py::none())
                                                : py::object(py::int_(found - row.begin())),
                  "line"_a = place.line, "column"_a = place.column, "length"_a = place.length);
}

py::list recordsOf(const Findings &findings, const OrderTable *table, const std::string &text,
                   const std::string &file) {
  SourceCache sources;
  sources.add(file, text);
  py::list records;
  for (const Finding &finding : findings.all()) {
    py::list notes;
    for (const Note &note : finding.notes)
      notes.append(py::dict("text"_a = printable(note.text),
                            "place"_a = note.span ? py::object(placeRecord(*note.span, table))
                                                  : py::object(py::none())));
    records.append(py::dict(
        "code"_a = codeOf(finding.rule, finding.number),
        "rule"_a = std::string(nameOf(finding.rule)), "message"_a = printable(finding.message),
        "place"_a = placeRecord(finding.span, table), "label"_a = printable(finding.spanLabel),
        "notes"_a = notes, "help"_a = printable(finding.help),
        "rendered"_a = renderText(finding, sources)));
  }
  return records;
}

py::dict measured(const Schedule &order, UnitCosts costs) {
  const UnitTimes times = simulate(order, costs);
  const Periods periods = periodsOf(order, costs);
  return py::dict("makespan"_a = times.makespan, "span"_a = tupleOf(times.span),
                  "busy"_a = tupleOf(times.busy), "bubble"_a = times.bubble,
                  "peak"_a = tupleOf(times.peakLive), "periods"_a = recordOf(periods),
                  "bounds"_a = hasBackwards(order) ? boundsRecord(order, costs, times, periods)
                                                   : py::object(py::none()));
}

} // namespace vime::python
