#include "runtime/Trace/ReadFlight.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace vime::flight {
namespace {

Status refuse(std::string why) {
  return Status(StatusCode::Unacceptable, "no flight record: " + std::move(why));
}

/// The ring from its oldest entry on. Entries that were never written are left out.
std::vector<ActionRecord> recentOf(const Header &header, const ActionRecord *ring) {
  std::vector<ActionRecord> recent;
  const std::uint64_t kept = std::min<std::uint64_t>(header.begun, kKeptActions);
  recent.reserve(kept);
  for (std::uint64_t index = header.begun - kept; index < header.begun; ++index)
    recent.push_back(ring[index % kKeptActions]);
  return recent;
}

Status check(const Header &header) {
  if (header.headerBytes != kHeaderBytes || header.recordBytes != sizeof(ActionRecord) ||
      header.records != kKeptActions)
    return refuse("its sizes are those of another program");
  if (header.state > State::Failed || header.ending > Ending::Stopped)
    return refuse("it names a state that does not exist");
  if (header.rank >= header.ranks)
    return refuse(fmt::format("it is of rank {} of {}", header.rank, header.ranks));
  return Status();
}

/// Only times of which sums and differences of a few have room in 64 bits.
Status checkTimes(const FlightRecord &record) {
  constexpr std::int64_t kUptime = std::int64_t{1} << 60;   // 36 years
  constexpr std::int64_t kWallTime = std::int64_t{1} << 62; // in the year 2116
  const auto isWithin = [](std::int64_t time, std::int64_t most) {
    return 0 <= time && time < most;
  };
  const Header &header = record.header;
  bool canBe = isWithin(header.startedWall, kWallTime);
  for (const std::int64_t time :
       {header.startedAt, header.aliveAt, header.movedAt, header.failedAt})
    canBe &= isWithin(time, kUptime);
  for (const ActionRecord &action : record.recent)
    canBe &= isWithin(action.begin, kUptime) && isWithin(action.end, kUptime);
  return canBe ? Status() : refuse("it tells of a time that cannot be");
}

/// The number in `rank-3.flight`.
std::optional<std::uint32_t> rankIn(const std::string &name) {
  constexpr std::string_view kFront = "rank-", kBack = ".flight";
  if (!name.starts_with(kFront) || !name.ends_with(kBack))
    return std::nullopt;
  std::uint32_t rank = 0;
  const char *last = name.data() + name.size() - kBack.size();
  const auto [end, error] = std::from_chars(name.data() + kFront.size(), last, rank);
  return error == std::errc() && end == last ? std::optional(rank) : std::nullopt;
}

} // namespace

const WorkerRecord *FlightRecord::workerOf(std::uint32_t lane) const {
  for (const WorkerRecord &worker : header.workers)
    if (lane != kNothing && worker.lane == lane)
      return &worker;
  return nullptr;
}

StatusOr<FlightRecord> parseFlightRecord(std::string_view bytes) {
  if (bytes.size() < kMagic.size() || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return refuse("it does not begin like one");
  if (bytes.size() != kFileBytes)
    return refuse(fmt::format("it has {} bytes, a record has {}", bytes.size(), kFileBytes));
  FlightRecord record;
  std::memcpy(static_cast<void *>(&record.header), bytes.data(), sizeof record.header);
  if (record.header.version != kVersion)
    return refuse(
        fmt::format("it is of version {}, this program reads {}", record.header.version, kVersion));
  if (Status status = check(record.header); !status.ok())
    return status;
  std::vector<ActionRecord> ring(kKeptActions);
  std::memcpy(ring.data(), bytes.data() + kHeaderBytes, kKeptActions * sizeof(ActionRecord));
  record.recent = recentOf(record.header, ring.data());
  if (Status status = checkTimes(record); !status.ok())
    return status;
  return record;
}

StatusOr<FlightRecord> readFlightRecord(const std::string &path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kFileBytes + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.is_open() || file.bad())
    return Status(StatusCode::File,
                  fmt::format("cannot read `{}`: {}", path, std::strerror(errno ? errno : EIO)));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  StatusOr<FlightRecord> record = parseFlightRecord(bytes);
  if (!record.ok())
    return Status(record.status().code(),
                  fmt::format("`{}` is {}", path, record.status().message()));
  return record;
}

FlightRecord snapshotOf(const FlightRecorder &recorder) {
  // Word by word: its writers go on meanwhile.
  std::vector<std::uint64_t> words(kFileBytes / sizeof(std::uint64_t));
  auto *source = reinterpret_cast<std::uint64_t *>(&recorder.header());
  for (std::size_t index = 0; index < words.size(); ++index)
    words[index] = std::atomic_ref(source[index]).load(std::memory_order_acquire);
  FlightRecord record;
  std::memcpy(static_cast<void *>(&record.header), words.data(), sizeof record.header);
  record.recent = recentOf(record.header, reinterpret_cast<const ActionRecord *>(
                                              words.data() + kHeaderBytes / sizeof(std::uint64_t)));
  return record;
}

bool isRecordFile(const std::string &path) {
  std::array<char, kMagic.size()> start{};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  return start == kMagic;
}

StatusOr<std::vector<std::string>> recordFilesIn(const std::string &folder) {
  std::error_code error;
  std::vector<std::pair<std::uint32_t, std::string>> found;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (const auto rank = rankIn(entry->path().filename().string()))
      found.emplace_back(*rank, entry->path().string());
  if (error)
    return Status(StatusCode::File,
                  fmt::format("cannot read the folder `{}`: {}", folder, error.message()));
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (auto &[rank, path] : found)
    paths.push_back(std::move(path));
  return paths;
}

} // namespace vime::flight
