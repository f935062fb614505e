#include "runtime/Exec/RankRecord.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace vime {
namespace {

namespace fs = std::filesystem;
using flight::FlightFile;

/// The same for all ranks that one launcher has started here for one attempt at one run. Nobody
/// else may write there: the temporary folder is everybody's.
StatusOr<std::string> sharedFolder(const Launch &launch) {
  const char *stated = std::getenv("TMPDIR");
  const std::string path =
      (fs::path(stated && *stated ? stated : "/tmp") /
       fmt::format("vime-records-{}-{}-{}", getppid(), launch.store.port, launch.attempt))
          .string();
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return Status(StatusCode::File,
                  fmt::format("cannot make the folder `{}`: {}", path, std::strerror(errno)));
  struct stat info;
  if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid())
    return Status(StatusCode::File, fmt::format("`{}` is no folder of this user", path));
  return path;
}

} // namespace

StatusOr<RankRecord> RankRecord::open(const RankProcess &self, const RunOptions &options) {
  RankRecord record;
  StatusOr<FlightFile> file = record.makeFile(self, options);
  if (!file.ok() && (self.reports >= 0 || !options.records.empty()))
    return file.status(); // it was asked for
  if (!file.ok()) {
    record.remove(); // the folder, where nobody else has a record in it
    record.shortcoming = file.status().message();
    record.folder.clear();
    record.ownFile.clear();
    file = FlightFile::inMemory();
  }
  record.written.emplace(std::move(*file));
  record.written->adopt();
  return record;
}

StatusOr<FlightFile> RankRecord::makeFile(const RankProcess &self, const RunOptions &options) {
  if (self.reports >= 0 && self.record.empty())
    return FlightFile::inMemory(); // who starts the ranks has found no room, and says so
  if (self.reports >= 0)
    return FlightFile::open(self.record);
  const std::string name = flight::fileNameOf(self.launch.rank);
  if (!options.records.empty()) {
    std::error_code ignored; // what is missing then, the file says
    fs::create_directories(options.records, ignored);
    folder = options.records;
    return FlightFile::create((fs::path(folder) / name).string());
  }
  const StatusOr<std::string> shared = sharedFolder(self.launch);
  if (!shared.ok())
    return shared.status();
  folder = *shared;
  ownFile = (fs::path(folder) / name).string();
  return FlightFile::create(ownFile);
}

std::vector<FlightFile> RankRecord::openOthers(const RankProcess &self) const {
  const fs::path where =
      self.record.empty() ? fs::path(folder) : fs::path(self.record).parent_path();
  std::vector<FlightFile> others;
  for (std::uint32_t rank = 0; rank < self.launch.ranks && !where.empty(); ++rank) {
    if (rank == self.launch.rank)
      continue;
    StatusOr<FlightFile> file = FlightFile::open((where / flight::fileNameOf(rank)).string());
    if (!file.ok() || file->header().rank != rank ||
        file->header().planId != written->header().planId ||
        file->header().host != written->header().host) // a folder may be shared by machines
      return {};
    others.push_back(std::move(*file));
  }
  return others;
}

RankEnd RankRecord::conclude(RankEnd end) {
  end.status = conclude(end.status, /*blamesPeer=*/!end.own);
  return end;
}

Status RankRecord::abandon(const Status &status, bool blamesPeer) {
  return conclude(status, blamesPeer);
}

Status RankRecord::conclude(const Status &status, bool blamesPeer) {
  const bool keeps = isWorthKeeping(status); // looks at how far the rank was
  if (!status.ok())
    written->fail(status, blamesPeer);
  if (!keeps) {
    remove();
    return status;
  }
  if (!shortcoming.empty())
    return Status(status.code(),
                  status.message() + "\nnote: no flight record was kept: " + shortcoming);
  if (folder.empty())
    return status;
  return Status(status.code(),
                status.message() +
                    fmt::format("\nhelp: `vimec explain {}` shows what the ranks of this machine "
                                "did",
                                folder));
}

/// What ends before ranks meet, or is refused when they do, its message tells in full.
bool RankRecord::isWorthKeeping(const Status &status) const {
  if (status.ok() || status.code() == StatusCode::Interrupted)
    return false;
  const flight::Header &header = written->header();
  const bool lostSomebody =
      status.code() == StatusCode::RankFailed || status.code() == StatusCode::Hang;
  return header.begun > 0 || (header.state == flight::State::Connecting && lostSomebody);
}

/// The last rank here takes the folder with it.
void RankRecord::remove() const {
  if (ownFile.empty())
    return;
  std::error_code ignored;
  fs::remove(ownFile, ignored);
  fs::remove(folder, ignored);
}

} // namespace vime
