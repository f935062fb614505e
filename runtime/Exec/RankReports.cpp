#include "runtime/Exec/RankReports.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <unistd.h>

namespace vime {
namespace {

enum Kind : std::uint32_t { Step, Evaluated, Round, Prompts, Saved, Exported, Measured, Ended };

struct End {
  StatusCode code;
  std::uint32_t own;
};

struct Head {
  std::uint32_t kind;
  std::uint32_t bytes;
};

template <typename Value> void append(std::vector<std::byte> &bytes, const Value &value) {
  const auto *first = reinterpret_cast<const std::byte *>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

template <typename Value> Value valueAt(std::span<const std::byte> bytes, std::size_t offset) {
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

} // namespace

void ReportWriter::exported() { write(Exported, {}); }

void ReportWriter::saved(std::uint64_t steps) { write(Saved, std::as_bytes(std::span(&steps, 1))); }

void ReportWriter::stepFinished(const StepRecord &record, std::span<const plan::RankStats> ranks) {
  std::vector<std::byte> bytes;
  append(bytes, record);
  for (const plan::RankStats &rank : ranks)
    append(bytes, rank);
  write(Step, bytes);
}

void ReportWriter::evaluated(const EvaluationRecord &record) {
  std::vector<std::byte> bytes;
  append(bytes, record);
  write(Evaluated, bytes);
}

void ReportWriter::roundFinished(const RoundRecord &record) {
  write(Round, std::as_bytes(std::span(&record, 1)));
}

void ReportWriter::promptsEvaluated(const PromptsRecord &record) {
  write(Prompts, std::as_bytes(std::span(&record, 1)));
}

void ReportWriter::measured(const ResidentRecord &record) {
  write(Measured, std::as_bytes(std::span(&record, 1)));
}

void ReportWriter::ended(const Status &status, bool own) {
  std::vector<std::byte> bytes;
  append(bytes, End{status.code(), own});
  for (const char letter : status.message())
    append(bytes, letter);
  write(Ended, bytes);
}

void ReportWriter::write(std::uint32_t kind, std::span<const std::byte> payload) {
  std::vector<std::byte> bytes;
  append(bytes, Head{kind, static_cast<std::uint32_t>(payload.size())});
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  for (std::size_t written = 0; written < bytes.size();) {
    const ssize_t count = ::write(pipe, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno != EINTR)
      return; // nobody listens any more; this process is about to be ended too
    written += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
}

bool ReportReader::read() {
  std::byte chunk[4096];
  const ssize_t count = ::read(pipe, chunk, sizeof chunk);
  if (count < 0 && errno == EINTR)
    return true;
  if (count <= 0)
    return false;
  pending.insert(pending.end(), chunk, chunk + count);
  std::size_t offset = 0;
  while (pending.size() - offset >= sizeof(Head)) {
    const auto head = valueAt<Head>(pending, offset);
    if (pending.size() - offset < sizeof head + head.bytes)
      break;
    handle(head.kind, std::span(pending).subspan(offset + sizeof head, head.bytes));
    offset += sizeof head + head.bytes;
  }
  pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(offset));
  return true;
}

void ReportReader::handle(std::uint32_t kind, std::span<const std::byte> bytes) {
  if (kind == Exported)
    observer.exported();
  if (kind == Saved)
    observer.saved(valueAt<std::uint64_t>(bytes, 0));
  if (kind == Step) {
    std::vector<plan::RankStats> ranks((bytes.size() - sizeof(StepRecord)) /
                                       sizeof(plan::RankStats));
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      ranks[rank] =
          valueAt<plan::RankStats>(bytes, sizeof(StepRecord) + rank * sizeof(plan::RankStats));
    observer.stepFinished(valueAt<StepRecord>(bytes, 0), ranks);
  }
  if (kind == Evaluated)
    observer.evaluated(valueAt<EvaluationRecord>(bytes, 0));
  if (kind == Round)
    observer.roundFinished(valueAt<RoundRecord>(bytes, 0));
  if (kind == Prompts)
    observer.promptsEvaluated(valueAt<PromptsRecord>(bytes, 0));
  if (kind == Measured)
    observer.measured(valueAt<ResidentRecord>(bytes, 0));
  if (kind == Ended) {
    isEnded = true;
    const auto end = valueAt<End>(bytes, 0);
    const auto *text = reinterpret_cast<const char *>(bytes.data() + sizeof end);
    outcome = Status(end.code, std::string(text, bytes.size() - sizeof end));
    ownFailure = end.own != 0;
  }
}

} // namespace vime
