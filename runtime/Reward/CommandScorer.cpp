#include "runtime/Reward/CommandScorer.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include "runtime/Reward/RewardMessage.h"

namespace vime {
namespace {

constexpr std::size_t kLongestLine = 1 << 20, kMostErrors = 2000;
constexpr double kGrace = 1; // seconds, for a program that ends when its input does

using Clock = std::chrono::steady_clock;

int millisecondsTo(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30));
}

bool isForLater(ssize_t done) { return done < 0 && (errno == EAGAIN || errno == EINTR); }

} // namespace

CommandScorer::~CommandScorer() { child->end(cancel.isSet() ? 0 : kGrace); }

ScorerAnswer CommandScorer::ask(std::uint64_t id, const std::string &request) {
  asked = id;
  unsent = request + '\n';
  hasScore = false;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(timeout));
  ScorerAnswer answer;
  for (;;) {
    const int left = millisecondsTo(deadline);
    if (left == 0)
      return lost(StatusCode::Hang, fmt::format("gave no answer within {} s", timeout), 0);
    if (exchange(left, answer))
      return answer;
    if (hasScore && unsent.empty())
      return {.score = score};
  }
}

bool CommandScorer::exchange(int waitMilliseconds, ScorerAnswer &answer) {
  pollfd wanted[] = {{.fd = cancel.descriptor(), .events = POLLIN},
                     {.fd = child->output(), .events = POLLIN},
                     {.fd = errorsEnded ? -1 : child->errors(), .events = POLLIN},
                     {.fd = unsent.empty() ? -1 : child->input(), .events = POLLOUT}};
  if (poll(wanted, std::size(wanted), waitMilliseconds) <= 0)
    return false; // interrupted, or too late, which the caller sees
  if (wanted[0].revents != 0) {
    answer = {.kind = ScorerAnswer::Kind::Cancelled};
    return true;
  }
  if (wanted[2].revents != 0)
    readErrors();
  return (wanted[1].revents != 0 && read(answer)) || (wanted[3].revents != 0 && write(answer));
}

bool CommandScorer::write(ScorerAnswer &answer) {
  const ssize_t written = ::write(child->input(), unsent.data(), unsent.size());
  if (written >= 0)
    unsent.erase(0, static_cast<std::size_t>(written));
  else if (!isForLater(written)) {
    answer = lost(StatusCode::RankFailed, "takes no more requests", kGrace);
    return true;
  }
  return false;
}

bool CommandScorer::read(ScorerAnswer &answer) {
  char bytes[1 << 14];
  const ssize_t done = ::read(child->output(), bytes, sizeof(bytes));
  if (isForLater(done))
    return false;
  if (done <= 0) {
    answer = lost(StatusCode::RankFailed, "closed its output", kGrace);
    return true;
  }
  unread.append(bytes, static_cast<std::size_t>(done));
  std::size_t begin = 0;
  for (std::size_t end; (end = unread.find('\n', begin)) != unread.npos; begin = end + 1)
    if (take(std::string_view(unread).substr(begin, end - begin), answer))
      return true;
  unread.erase(0, begin);
  if (unread.size() <= kLongestLine)
    return false;
  answer = lost(StatusCode::RankFailed,
                fmt::format("writes a line of more than {} bytes", kLongestLine), 0);
  return true;
}

bool CommandScorer::take(std::string_view line, ScorerAnswer &answer) {
  const StatusOr<RewardReply> reply = parseReply(line);
  if (!reply.ok())
    answer = lost(StatusCode::RankFailed, reply.status().message(), 0);
  else if (reply->id > asked)
    answer = lost(StatusCode::RankFailed,
                  fmt::format("answered {}, which it was not asked", shortened(line)), 0);
  else if (reply->id < asked || hasScore)
    return false; // late, or twice
  else {
    hasScore = true;
    score = reply->score;
    return false;
  }
  return true;
}

void CommandScorer::readErrors() {
  char bytes[1 << 12];
  const ssize_t done = ::read(child->errors(), bytes, sizeof(bytes));
  errorsEnded = done <= 0 && !isForLater(done);
  if (done > 0)
    lastErrors.append(bytes, static_cast<std::size_t>(done));
  if (lastErrors.size() > kMostErrors)
    lastErrors.erase(0, lastErrors.size() - kMostErrors);
}

ScorerAnswer CommandScorer::lost(StatusCode code, std::string why, double grace) {
  if (grace > 0) { // it may be about to say why
    pollfd wanted{.fd = child->errors(), .events = POLLIN};
    const auto deadline = Clock::now() + std::chrono::milliseconds(int(grace * 1000));
    while (!errorsEnded && Clock::now() < deadline &&
           poll(&wanted, 1, millisecondsTo(deadline)) > 0)
      readErrors();
    why += " and " + child->end(grace);
  } else {
    child->end(0);
  }
  std::string_view words = lastErrors;
  while (!words.empty() && std::isspace(static_cast<unsigned char>(words.back())))
    words.remove_suffix(1);
  words = words.substr(words.rfind('\n') == words.npos ? 0 : words.rfind('\n') + 1);
  if (!words.empty())
    why += "; it last said " + shortened(words);
  return {.kind = ScorerAnswer::Kind::Lost, .code = code, .why = std::move(why)};
}

} // namespace vime
