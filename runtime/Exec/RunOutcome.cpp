#include "runtime/Exec/RunOutcome.h"

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

void RunOutcome::record(const Status &status, bool own) {
  recordAt(status, own ? Own : distanceOf(status.code()));
}

void RunOutcome::recordDeath(const Status &status) { recordAt(status, Killed); }

void RunOutcome::recordAt(const Status &status, int distance) {
  const std::lock_guard lock(mutex);
  if (status.ok() || distance >= closest)
    return;
  closest = distance;
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
