#include "compiler/Frontend/OrderFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <ranges>

#include <fmt/format.h>

#include "compiler/Frontend/ReadJob.h"
#include "compiler/Frontend/Rules.h"
#include "compiler/Verify/VerifyOrder.h"
#include "runtime/Plan/Container.h"
#include "runtime/Plan/PlanFile.h"
#include "schedules/Placement.h"

namespace vime {

namespace {

constexpr std::size_t kShownProblems = 5;
constexpr std::size_t kMostMebibytes = 64; // four million forwards and what belongs to them

Status cannotRead(const std::string &path, std::string_view why) {
  return Status(StatusCode::File, fmt::format("cannot read `{}`: {}", path, why));
}

StatusOr<std::string> readBounded(std::istream &stream, const std::string &path) {
  std::string text;
  char part[1 << 16];
  while (stream.read(part, sizeof part) || stream.gcount() > 0) {
    text.append(part, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kMostMebibytes << 20)
      return cannotRead(path, fmt::format("it has more than {} MiB", kMostMebibytes));
  }
  if (stream.bad())
    return cannotRead(path, std::strerror(errno));
  return text;
}

// What a table says that a job may leave out.
constexpr std::string_view kSaidByTables[] = {"pipeline.schedule_hash", "pipeline.chunks",
                                              "pipeline.microbatches"};

void take(Draft &draft, std::string_view path, Value value) {
  const std::string key(path);
  if (draft.isKnown(key) || draft.isSpoiled(key))
    return;
  draft.store(*findField(key), key, value,
              {.kind = OriginKind::Derived,
               .span = draft.job.pipeline.schedule.span,
               .from = "pipeline.schedule"});
}

Finding &firstInFile(Findings &findings) {
  return *std::min_element(findings.all().begin(), findings.all().end(),
                           [](const Finding &left, const Finding &right) {
                             return std::pair(left.span.line, left.span.column) <
                                    std::pair(right.span.line, right.span.column);
                           });
}

std::uint64_t mostStagesOnARank(const Schedule &order) {
  std::size_t most = 0;
  for (int rank = 0; rank < static_cast<int>(order.rows.size()); ++rank)
    most = std::max(most, stagesOf(order.placement, rank).size());
  return most;
}

} // namespace

StatusOr<std::string> readTableFile(const std::string &path) {
  if (path == "-")
    return readBounded(std::cin, path);
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return cannotRead(path, "it is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return cannotRead(path, std::strerror(errno));
  return readBounded(file, path);
}

std::optional<OrderTable> judgedTable(std::string_view text, const std::string &file,
                                      Findings &findings, std::string_view placement) {
  const std::size_t before = findings.size();
  auto read = readTable(text, placement);
  if (const auto *problems = std::get_if<std::vector<TableProblem>>(&read)) {
    for (const TableProblem &problem : *problems | std::views::take(kShownProblems))
      findings.error(Rule::J, number(JobCode::OrderCell), problem.message)
          .at({file, problem.place.line, problem.place.column, problem.place.length})
          .withHelp(problem.help);
    if (problems->size() > kShownProblems)
      findings.all().back().note(
          fmt::format("{} more of this kind", problems->size() - kShownProblems));
    return std::nullopt;
  }
  OrderTable &table = std::get<OrderTable>(read);
  verifyOrder(table, file, findings);
  return findings.size() == before ? std::optional(std::move(table)) : std::nullopt;
}

std::string hashOfTable(std::string_view text) { return plan::toHex(plan::hashOf(text)); }

void readOrderOf(Draft &draft, SourceCache *sources) {
  const Field<std::string> &schedule = draft.job.pipeline.schedule;
  if (!draft.isKnown("pipeline.schedule") || !namesTable(schedule.value))
    return;
  const std::string path = pathFromJob(draft.job.file, schedule.value);
  const StatusOr<std::string> text = readTableFile(path);
  Findings found;
  if (text.ok()) {
    if (sources)
      sources->add(path, *text);
    draft.table = judgedTable(*text, path, found);
  }
  if (!draft.table) {
    if (!text.ok())
      draft.error(JobCode::OrderUnreadable, text.status().message(), schedule.span)
          .withHelp("a relative path counts from the folder of the job file");
    else
      firstInFile(found).note("the job names the table here", schedule.span);
    draft.adopt(found);
    for (const std::string_view key : kSaidByTables)
      draft.spoil(std::string(key));
    return;
  }
  take(draft, "pipeline.schedule_hash", hashOfTable(*text));
  take(draft, "pipeline.chunks", mostStagesOnARank(draft.table->schedule()));
  take(draft, "pipeline.microbatches", static_cast<std::uint64_t>(draft.table->microbatches()));
  if (draft.isKnown("pipeline.schedule_hash") &&
      draft.job.pipeline.scheduleHash.value != hashOfTable(*text))
    draft
        .error(JobCode::OrderDiffers,
               fmt::format("{} is another table than the job is for", code(schedule.value)),
               draft.job.pipeline.scheduleHash.span, "its hash is " + hashOfTable(*text))
        .note("the table is named here", schedule.span)
        .withHelp("leave `schedule_hash` out to take the table as it is");
}

} // namespace vime
