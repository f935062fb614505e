#include "runtime/Trace/FlightRecords.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/Trace/Diagnosis.h"

namespace vime::flight {
namespace {

namespace fs = std::filesystem;

StatusOr<std::string> makeTemporaryFolder() {
  const char *stated = std::getenv("TMPDIR");
  const fs::path parent = stated && *stated ? stated : "/tmp";
  std::string pattern = (parent / "vime-records-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    return Status(StatusCode::File, fmt::format("cannot make a folder in `{}`: {}", parent.string(),
                                                std::strerror(errno)));
  return pattern;
}

/// The folder, without the records of an earlier run.
StatusOr<std::string> prepareFolder(const std::string &stated) {
  std::error_code error;
  const fs::path folder = fs::absolute(stated, error);
  if (!error)
    fs::create_directories(folder, error);
  if (error)
    return Status(
        StatusCode::File,
        fmt::format("cannot make the folder `{}` for flight records: {}", stated, error.message()));
  StatusOr<std::vector<std::string>> old = recordFilesIn(folder.string());
  if (!old.ok())
    return old.status();
  for (const std::string &file : *old)
    if (isRecordFile(file))
      fs::remove(file, error);
  return folder.string();
}

} // namespace

FlightRecords::FlightRecords(FlightRecords &&) noexcept = default;

StatusOr<FlightRecords> FlightRecords::open(const plan::Plan &plan, const Run &run) {
  FlightRecords records;
  const std::uint32_t ranks = plan.mesh.ranks();
  if (Status status = records.make(ranks, run); !status.ok()) {
    records.removeFiles();
    if (!run.folder.empty())
      return status;
    records.recorders.clear();
    records.path.clear();
    records.shortcoming = status.message();
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      records.recorders.emplace_back(FlightFile::inMemory());
  }
  std::error_code ignored;
  const std::string planPath =
      run.planPath.empty() ? "" : fs::absolute(run.planPath, ignored).string();
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    records.recorders[rank].identify(
        {.planId = run.planId, .rank = rank, .ranks = ranks, .plan = planPath});
  return records;
}

std::string FlightRecords::fileOf(std::uint32_t rank) const {
  return path.empty() ? std::string() : (fs::path(path) / fileNameOf(rank)).string();
}

Status FlightRecords::make(std::uint32_t ranks, const Run &run) {
  StatusOr<std::string> folder =
      run.folder.empty() ? makeTemporaryFolder() : prepareFolder(run.folder);
  if (!folder.ok())
    return folder.status();
  path = *folder;
  isOurs = run.folder.empty();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    StatusOr<FlightFile> file = FlightFile::create(fileOf(rank));
    if (!file.ok())
      return file.status();
    recorders.emplace_back(std::move(*file));
  }
  return Status();
}

FlightRecords::~FlightRecords() {
  if (isOurs)
    removeFiles();
}

void FlightRecords::removeFiles() const {
  if (path.empty())
    return;
  std::error_code ignored;
  for (std::uint32_t rank = 0; rank < recorders.size(); ++rank)
    fs::remove(fileOf(rank), ignored);
  if (isOurs)
    fs::remove(path, ignored);
}

bool FlightRecords::anybodyBegan() const {
  for (const FlightRecorder &recorder : recorders)
    if (recorder.header().begun > 0)
      return true;
  return false;
}

Status FlightRecords::conclude(const Status &status, const plan::Plan &plan) {
  if (status.ok() || status.code() == StatusCode::Interrupted || !anybodyBegan()) {
    if (isOurs)
      removeFiles(); // the message says it all; this process may end without destructors
    return status;
  }
  std::vector<FlightRecord> records;
  RecordsByRank byRank;
  for (const FlightRecorder &recorder : recorders)
    records.push_back(snapshotOf(recorder));
  for (const FlightRecord &record : records)
    byRank.push_back(&record);
  const Diagnosis diagnosis = diagnose(plan, byRank);
  std::string text = status.message();
  if (diagnosis.cause != Cause::None)
    text += "\nnote: " + diagnosis.sentence;
  for (const std::string &detail : diagnosis.details)
    text += "\nnote: " + detail;
  if (path.empty())
    return Status(status.code(), text + "\nnote: no flight record was kept: " + shortcoming);
  isOurs = false; // they stay
  return Status(status.code(),
                text + fmt::format("\nhelp: `vimec explain {}` shows what every rank did", path));
}

} // namespace vime::flight
