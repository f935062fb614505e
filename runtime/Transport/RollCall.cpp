#include "runtime/Transport/RollCall.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace vime {
namespace {

constexpr const char *kVerdict = "verdict", *kHeard = "heard", *kDismissed = "dismissed";
constexpr std::string_view kExcuse = "cannot come: "; // no program begins like this

/// How long the host of the store stays for those who have not heard a refusal yet.
constexpr std::chrono::seconds kFarewell{3};

std::string attendanceKey(std::uint32_t rank) { return fmt::format("attendance/{}", rank); }

/// Up to the next line break, which goes too.
std::string_view takeLine(std::string_view &text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

/// A status as the store holds it: code, line break, message.
std::string textOf(const Status &status) {
  return fmt::format("{}\n{}", status.exitCode(), status.message());
}

Status statusOf(std::string_view text) {
  const std::string_view line = takeLine(text);
  int code = -1;
  std::from_chars(line.data(), line.data() + line.size(), code);
  if (code == 0)
    return Status();
  for (const StatusCode known : {StatusCode::Unacceptable, StatusCode::RankFailed})
    if (static_cast<int>(known) == code && !text.empty())
      return Status(known, std::string(text));
  return Status(StatusCode::Unacceptable, "what a rank says in the store is no status");
}

/// The program comes first: what follows depends on its version.
std::string textOf(const Attendance &self) {
  return fmt::format("{}\n{}\n{}\n{}", self.program, self.ranks, self.planId, self.address);
}

bool isLoopback(const std::string &address) {
  return address.starts_with("127.") || address == "::1";
}

/// Why the two do not go together; Ok when they do.
Status compare(const Attendance &self, std::uint32_t rank, std::string_view text) {
  const std::string program(takeLine(text)), ranks(takeLine(text)), planId(takeLine(text)),
      address(takeLine(text));
  const auto differs = [](std::string message) {
    return Status(StatusCode::Unacceptable, std::move(message));
  };
  if (program != self.program)
    return differs(
        fmt::format("rank {} runs {}, rank {} runs {}", rank, program, self.rank, self.program));
  if (ranks != std::to_string(self.ranks))
    return differs(fmt::format("rank {} was started as one of {} {}, rank {} as one of {}", rank,
                               ranks, ranks == "1" ? "rank" : "ranks", self.rank, self.ranks));
  if (planId != self.planId)
    return differs(fmt::format("rank {} runs another plan than rank {}", rank, self.rank));
  if (isLoopback(address) != isLoopback(self.address))
    return differs(fmt::format("rank {} listens at {} and rank {} at {}, which cannot reach each "
                               "other\nhelp: name the network interface with `--interface`, or an "
                               "address of it with `MASTER_ADDR`",
                               rank, address, self.rank, self.address));
  return Status();
}

Status failed(std::uint32_t rank, std::string_view reason) {
  return Status(StatusCode::RankFailed, fmt::format("rank {} failed: {}", rank, reason));
}

/// Rank 0's part.
Status judge(TcpStore &store, const Attendance &self, Deadline deadline) {
  for (std::uint32_t rank = 0; rank < self.ranks; ++rank) {
    const StatusOr<std::string> text = store.get(attendanceKey(rank), deadline);
    if (!text.ok() && text.status().code() == StatusCode::Hang)
      return Status(StatusCode::RankFailed, fmt::format("rank {} did not come in time", rank));
    if (!text.ok())
      return text.status();
    if (text->starts_with(kExcuse))
      return failed(rank, std::string_view(*text).substr(kExcuse.size()));
    if (Status status = compare(self, rank, *text); !status.ok())
      return status;
  }
  return Status();
}

/// All others have heard the verdict, or enough time has passed.
void awaitFarewell(TcpStore &store, const Attendance &self) {
  if (self.hostsStore && self.ranks > 1)
    (void)store.get(kDismissed, std::chrono::steady_clock::now() + kFarewell);
}

/// The other ranks' part.
Status hear(TcpStore &store, std::uint32_t ranks, Deadline deadline) {
  const StatusOr<std::string> verdict = store.get(kVerdict, deadline);
  if (!verdict.ok() && verdict.status().code() == StatusCode::Hang)
    return Status(StatusCode::RankFailed, "rank 0 did not come in time");
  if (!verdict.ok())
    return verdict.status();
  const StatusOr<std::int64_t> count = store.add(kHeard, 1);
  if (count.ok() && *count + 1 >= ranks)
    (void)store.set(kDismissed, "");
  return statusOf(*verdict);
}

} // namespace

Status callRoll(TcpStore &store, const Attendance &self, Deadline deadline) {
  const StatusOr<std::int64_t> place = store.add(fmt::format("place/{}", self.rank), 1);
  if (!place.ok())
    return place.status();
  if (*place != 1)
    return Status(StatusCode::Unacceptable,
                  fmt::format("another process is rank {} of this run already", self.rank));
  if (Status status = store.set(attendanceKey(self.rank), textOf(self)); !status.ok())
    return status;
  if (self.rank != 0)
    return hear(store, self.ranks, deadline + kFarewell); // rank 0 has the word at the deadline
  const Status verdict = judge(store, self, deadline);
  if (Status status = store.set(kVerdict, textOf(verdict)); !status.ok())
    return status;
  if (!verdict.ok())
    awaitFarewell(store, self);
  return verdict;
}

void excuse(TcpStore &store, const Attendance &self, const Status &reason) {
  if (self.rank != 0) {
    (void)store.set(attendanceKey(self.rank), std::string(kExcuse) + reason.message());
    return;
  }
  (void)store.set(kVerdict, textOf(failed(0, reason.message())));
  awaitFarewell(store, self);
}

} // namespace vime
