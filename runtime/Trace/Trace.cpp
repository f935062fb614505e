#include "runtime/Trace/Trace.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "runtime/Base/AtomicFile.h"
#include "runtime/Plan/Caps.h"
#include "runtime/Plan/Loops.h"

namespace vime::trace {
namespace {

constexpr std::array<char, 8> kMagic = {'V', 'I', 'M', 'E', 'T', 'R', 'C', '\0'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kMostActions = 8'000'000; // 384 MB

struct FileHeader {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion, recordBytes = sizeof(TracedAction);
  std::array<std::uint64_t, 2> planId{};
  std::uint32_t rank = 0, ranks = 0;
  std::int64_t startedAt = 0, startedWall = 0;
  std::uint64_t lost = 0, actions = 0;
};
static_assert(sizeof(FileHeader) == 72 && std::is_trivially_copyable_v<FileHeader>);

/// Actions of one step and of all around it, loops over microbatches unrolled.
std::uint64_t actionsPerStep(const plan::Program &program) {
  std::uint64_t count = 0;
  for (const plan::Stretch &stretch : plan::stretchesOf(program))
    count += std::uint64_t{stretch.trips} * (stretch.end - stretch.begin);
  return count;
}

/// What a lane can have open: transfers, or what waits for a worker.
constexpr std::size_t kMostOpen = std::max<std::size_t>(plan::kMostOpenTransfers, 64) + 2;

} // namespace

Tracer::Tracer(TraceWish wish, const plan::Program &program)
    : wish(std::move(wish)), lanes(program.lanes.size()) {
  const std::uint64_t steps = std::uint64_t{this->wish.last} - this->wish.first + 1;
  const std::uint64_t perStep = actionsPerStep(program);
  capacity = static_cast<std::size_t>(std::min<std::uint64_t>(
      kMostActions, perStep * std::min<std::uint64_t>(steps, kMostActions)));
  actions.reserve(capacity);
  for (Queue &lane : lanes)
    lane.open.resize(kMostOpen);
}

std::uint32_t Tracer::open(const TracedAction &action, std::int64_t now) {
  if (actions.size() == capacity) {
    ++lostActions;
    return kNowhere;
  }
  actions.push_back(action);
  actions.back().posted = actions.back().begin = now;
  return static_cast<std::uint32_t>(actions.size() - 1);
}

void Tracer::close(std::uint32_t place, std::int64_t begin, std::int64_t end) {
  actions[place].begin = begin;
  actions[place].end = end;
  actions[place].awaited = 1;
}

void Tracer::hand(std::uint32_t place, std::uint32_t lane, std::uint64_t number) {
  Queue &queue = lanes[lane];
  if (queue.count == queue.open.size()) { // its oldest end is never looked for: it stays unseen
    queue.first = (queue.first + 1) % queue.open.size();
    --queue.count;
  }
  queue.open[(queue.first + queue.count++) % queue.open.size()] = {number, place};
}

void Tracer::ended(std::uint32_t lane, std::uint64_t finished, std::int64_t now, bool awaited) {
  Queue &queue = lanes[lane];
  while (queue.count != 0 && queue.open[queue.first].number <= finished) {
    const Open &open = queue.open[queue.first];
    actions[open.place].end = now;
    actions[open.place].awaited = awaited && open.number == finished;
    queue.first = (queue.first + 1) % queue.open.size();
    --queue.count;
  }
}

std::string traceNameOf(std::uint32_t rank) { return fmt::format("rank-{}.trace", rank); }

Status writeTrace(const RankTrace &trace, const std::string &path) {
  const FileHeader header{.planId = trace.planId,
                          .rank = trace.rank,
                          .ranks = trace.ranks,
                          .startedAt = trace.startedAt,
                          .startedWall = trace.startedWall,
                          .lost = trace.lost,
                          .actions = trace.actions.size()};
  const std::array<std::span<const std::byte>, 2> pieces = {
      std::as_bytes(std::span(&header, 1)), std::as_bytes(std::span(trace.actions))};
  return writeFileAtomically(path, pieces);
}

StatusOr<RankTrace> readTrace(const std::string &path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    return Status(StatusCode::File, "cannot read `" + path + "`: " + std::strerror(errno));
  const auto bytes = static_cast<std::uint64_t>(file.tellg());
  FileHeader header;
  file.seekg(0);
  const auto no = [&](const char *why) {
    return Status(StatusCode::InvalidInput, "`" + path + "` is no trace of vime-exec: " + why);
  };
  if (bytes < sizeof header || !file.read(reinterpret_cast<char *>(&header), sizeof header))
    return no("it is too short");
  if (header.magic != kMagic)
    return no("it begins otherwise");
  if (header.version != kVersion || header.recordBytes != sizeof(TracedAction))
    return no("it is of another version");
  if (header.rank >= header.ranks || header.actions > kMostActions ||
      bytes != sizeof header + header.actions * sizeof(TracedAction))
    return no("its numbers do not fit together");
  RankTrace trace{.planId = header.planId,
                  .rank = header.rank,
                  .ranks = header.ranks,
                  .startedAt = header.startedAt,
                  .startedWall = header.startedWall,
                  .lost = header.lost};
  trace.actions.resize(header.actions);
  if (!file.read(reinterpret_cast<char *>(trace.actions.data()),
                 static_cast<std::streamsize>(header.actions * sizeof(TracedAction))))
    return no("it ends early");
  return trace;
}

} // namespace vime::trace
