#include "runtime/Reward/HttpScorer.h"

#include <fmt/format.h>

#include "runtime/Reward/RewardMessage.h"

namespace vime {
namespace {

using Kind = ScorerAnswer::Kind;

bool isPassing(int status) { return status == 408 || status == 429 || status / 100 == 5; }

ScorerAnswer judge(std::uint64_t id, const HttpReply &reply) {
  if (reply.status / 100 != 2)
    return {.kind = isPassing(reply.status) ? Kind::Again : Kind::Refused,
            .why = fmt::format("answered with status {}: {}", reply.status, shortened(reply.body))};
  const StatusOr<RewardReply> score = parseReply(reply.body);
  if (!score.ok())
    return {.kind = Kind::Again, .why = score.status().message()};
  if (score->id != id)
    return {.kind = Kind::Again,
            .why = fmt::format("answered {}, asked for id {}", shortened(reply.body), id)};
  return {.score = score->score};
}

} // namespace

ScorerAnswer HttpScorer::ask(std::uint64_t id, const std::string &request) {
  const HttpReply reply = connection->post(request);
  switch (reply.kind) {
  case HttpReply::Kind::Answered:
    return judge(id, reply);
  case HttpReply::Kind::TimedOut:
    return {.kind = Kind::Again,
            .code = StatusCode::Hang,
            .why = fmt::format("gave no answer within {} s", timeout)};
  case HttpReply::Kind::Unreachable:
    return {.kind = Kind::Again, .why = fmt::format("was not reached: {}", reply.why)};
  case HttpReply::Kind::Cancelled:
    break;
  }
  return {.kind = Kind::Cancelled};
}

} // namespace vime
