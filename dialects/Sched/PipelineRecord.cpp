#include "dialects/Sched/PipelineRecord.h"

#include <charconv>
#include <optional>

namespace vime::ir {
namespace {

constexpr std::string_view kLetters = "FBIW"; // in the order of TaskKind

std::optional<Task> parseTask(std::string_view cell) {
  if (cell == ".")
    return Task{TaskKind::Idle, -1, -1};
  Task task{};
  const char *end = cell.data() + cell.size();
  auto [letter, stageError] = std::from_chars(cell.data(), end, task.stage);
  if (stageError != std::errc() || letter == end ||
      kLetters.find(*letter) == std::string_view::npos)
    return std::nullopt;
  task.kind = static_cast<TaskKind>(kLetters.find(*letter));
  auto [rest, microbatchError] = std::from_chars(letter + 1, end, task.microbatch);
  if (microbatchError != std::errc() || rest != end || task.stage < 0 || task.microbatch < 0)
    return std::nullopt;
  return task;
}

// One task, or a pair as `0F7&3B3`.
bool parseCell(std::string_view cell, std::vector<Task> &row) {
  const std::size_t middle = cell.find('&');
  const std::optional<Task> first = parseTask(cell.substr(0, middle));
  if (!first)
    return false;
  row.push_back(*first);
  if (middle == std::string_view::npos)
    return true;
  const std::optional<Task> second = parseTask(cell.substr(middle + 1));
  if (!second || first->kind == TaskKind::Idle || second->kind == TaskKind::Idle)
    return false;
  row.back().overlapsNext = true;
  row.push_back(*second);
  return true;
}

struct WithRows {
  PipelineRecord &pipeline;
  std::vector<std::string> rows;
};

template <typename Fields> void visitFields(Fields &fields, WithRows &all) {
  visitFields(fields, all.pipeline);
  fields.list("rows", all.rows);
}

} // namespace

std::string rowText(const std::vector<Task> &row) {
  std::string text;
  text.reserve(row.size() * 6);
  char digits[16];
  auto append = [&](int number) {
    text.append(digits, std::to_chars(digits, std::end(digits), number).ptr);
  };
  bool isSecondOfPair = false;
  for (const Task &task : row) {
    if (!text.empty())
      text += isSecondOfPair ? '&' : ' ';
    isSecondOfPair = task.overlapsNext;
    if (task.kind == TaskKind::Idle) {
      text += '.';
      continue;
    }
    append(task.stage);
    text += kLetters[static_cast<std::size_t>(task.kind)];
    append(task.microbatch);
  }
  return text;
}

bool parseRow(std::string_view text, std::vector<Task> &row, std::size_t &where) {
  for (std::size_t at = 0; (at = text.find_first_not_of(' ', at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (!parseCell(text.substr(at, end - at), row)) {
      where = at;
      return false;
    }
    at = end;
  }
  return true;
}

mlir::Attribute toAttribute(mlir::MLIRContext *context, const PipelineRecord &pipeline) {
  WithRows all{const_cast<PipelineRecord &>(pipeline), {}};
  for (const std::vector<Task> &row : pipeline.schedule.rows)
    all.rows.push_back(rowText(row));
  CollectFields fields(context);
  visitFields(fields, all);
  return fields.take();
}

mlir::LogicalResult fromAttribute(PipelineRecord &pipeline, mlir::Attribute attribute,
                                  llvm::function_ref<mlir::InFlightDiagnostic()> emitError) {
  WithRows all{pipeline, {}};
  DistributeFields fields(attribute);
  if (fields.whyNot().empty())
    visitFields(fields, all);
  std::string problem = fields.whyNot();
  pipeline.schedule.rows.clear();
  for (const std::string &row : all.rows) {
    std::size_t where = 0;
    if (!parseRow(row, pipeline.schedule.rows.emplace_back(), where))
      problem = "`" + row.substr(where) + "` begins with no task";
  }
  if (problem.empty())
    return mlir::success();
  if (emitError)
    emitError() << problem;
  return mlir::failure();
}

} // namespace vime::ir
