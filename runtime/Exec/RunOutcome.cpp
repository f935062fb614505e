#include "runtime/Exec/RunOutcome.h"

#include "runtime/Trace/FlightRecorder.h"

namespace vime {
namespace {

enum Distance { Killed, Own, LostPeer, ToldToStop };

Distance distanceOf(StatusCode code) {
  if (code == StatusCode::Interrupted)
    return ToldToStop;
  // Of a peer that was lost and one that is missed, what came first is nearer to the cause.
  return code == StatusCode::RankFailed || code == StatusCode::Hang ? LostPeer : Own;
}

} // namespace

void RunOutcome::record(const Status &status, bool own, std::int64_t moment) {
  if (moment == 0)
    moment = flight::now();
  if (status.code() == StatusCode::Hang)
    moment -= flight::kBreakingTime;
  recordAt(status, own ? Own : distanceOf(status.code()), moment);
}

void RunOutcome::recordDeath(const Status &status) { recordAt(status, Killed, flight::now()); }

void RunOutcome::recordAt(const Status &status, int distance, std::int64_t moment) {
  const std::lock_guard lock(mutex);
  if (status.ok() || distance > closest || (distance == closest && moment >= since))
    return;
  closest = distance;
  since = moment;
  cause = status;
}

void RunOutcome::interrupt() {
  const std::lock_guard lock(mutex);
  interrupted = interrupted || closest == kNobody;
}

bool RunOutcome::isCertain() const {
  const std::lock_guard lock(mutex);
  return interrupted || closest <= Own || cause.code() == StatusCode::Hang;
}

Status RunOutcome::status() const {
  const std::lock_guard lock(mutex);
  return interrupted ? Status(StatusCode::Interrupted, "interrupted") : cause;
}

} // namespace vime
