#include "compiler/Driver/ExplainRecords.h"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "compiler/Diagnostics/Utf8.h"
#include "runtime/Base/Counted.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {

namespace {

using flight::FlightRecord;

StatusOr<std::vector<std::string>> filesOf(const std::vector<std::string> &paths) {
  std::vector<std::string> files;
  for (const std::string &path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    StatusOr<std::vector<std::string>> inside = flight::recordFilesIn(path);
    if (!inside.ok())
      return inside.status();
    files.insert(files.end(), inside->begin(), inside->end());
  }
  return files;
}

/// All of one run, each rank once.
Status checkTogether(const std::vector<FlightRecord> &records) {
  for (std::size_t index = 1; index < records.size(); ++index) {
    const flight::Header &first = records.front().header, &other = records[index].header;
    if (other.planId != first.planId || other.ranks != first.ranks)
      return Status(StatusCode::Unacceptable,
                    fmt::format("the records of ranks {} and {} are of different plans", first.rank,
                                other.rank));
    if (other.rank == records[index - 1].header.rank)
      return Status(StatusCode::Unacceptable,
                    fmt::format("there are two records of rank {}", other.rank));
  }
  return Status();
}

StatusOr<std::vector<FlightRecord>> readRecords(const std::vector<std::string> &paths) {
  const StatusOr<std::vector<std::string>> files = filesOf(paths);
  if (!files.ok())
    return files.status();
  std::vector<FlightRecord> records;
  for (const std::string &file : *files) {
    StatusOr<FlightRecord> record = flight::readFlightRecord(file);
    if (!record.ok())
      return record.status();
    records.push_back(std::move(*record));
  }
  if (records.empty())
    return Status(StatusCode::File, fmt::format("there are no flight records in `{}`", paths[0]));
  std::sort(records.begin(), records.end(), [](const FlightRecord &one, const FlightRecord &other) {
    return one.header.rank < other.header.rank;
  });
  if (Status status = checkTogether(records); !status.ok())
    return status;
  return records;
}

Status checkPlan(const RecordedRun &run) {
  const flight::Header &first = run.records.front().header;
  if (plan::planId(run.plan) != first.planId)
    return Status(StatusCode::Unacceptable,
                  fmt::format("the records are of plan {}, `{}` is plan {}",
                              plan::toHex(first.planId), run.planPath,
                              plan::toHex(plan::planId(run.plan))));
  if (run.plan.mesh.ranks() != first.ranks)
    return Status(StatusCode::Unacceptable,
                  fmt::format("the records are of {}, the plan is for {}",
                              counted(first.ranks, "rank"), run.plan.mesh.ranks()));
  return Status();
}

} // namespace

bool isRecord(const std::string &path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    const StatusOr<std::vector<std::string>> inside = flight::recordFilesIn(path);
    return inside.ok() && !inside->empty();
  }
  return std::filesystem::is_regular_file(path, error) && flight::isRecordFile(path);
}

flight::RecordsByRank RecordedRun::byRank() const {
  flight::RecordsByRank all(plan.mesh.ranks(), nullptr);
  for (const FlightRecord &record : records)
    all[record.header.rank] = &record;
  return all;
}

int explainRecords(const std::vector<std::string> &paths, const std::string &plan,
                   const OutputOptions &output) {
  StatusOr<std::vector<FlightRecord>> records = readRecords(paths);
  if (!records.ok())
    return reportFailure(records.status(), output);
  const std::string named = plan.empty() ? flight::textOf(records->front().header.plan) : plan;
  constexpr const char *kHelp = "name the plan that ran with `--plan plan.bin`";
  if (plan.empty() && (named.empty() || printable(named) != named))
    return reportFailure(Status(StatusCode::Unacceptable, "the records name no plan"), output,
                         kHelp);
  StatusOr<plan::Plan> read = plan::readPlan(named);
  if (!read.ok())
    return reportFailure(read.status(), output, kHelp);
  const RecordedRun run{
      .plan = std::move(*read), .planPath = named, .records = std::move(*records)};
  if (Status status = checkPlan(run); !status.ok())
    return reportFailure(status, output, kHelp);
  std::cout << (output.json ? recordsJson(run) : recordsText(run));
  return 0;
}

} // namespace vime
