#include "runtime/Model/EmptyStages.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <sys/prctl.h>

namespace vime {
namespace {

/// Against the clock's absolute time, so that being woken early does not shorten the task; and
/// woken then: the system takes 50 µs more unless it is told not to.
void sleepFor(double seconds) {
  prctl(PR_SET_TIMERSLACK, 1ul);
  timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  const double whole = std::floor(seconds);
  until.tv_sec += static_cast<time_t>(whole);
  until.tv_nsec += static_cast<long>((seconds - whole) * 1e9);
  if (until.tv_nsec >= 1'000'000'000) {
    ++until.tv_sec;
    until.tv_nsec -= 1'000'000'000;
  }
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

/// What is empty takes no time.
void sleepFor(const Segments &segments, double seconds) {
  if (segments.tokens() > 0)
    sleepFor(seconds);
}

} // namespace

void NullStage::forward(const Segments &, const ForwardOperands &) const {}
void NullStage::loss(const Segments &, const LossOperands &at) const { *at.loss = 0; }
void NullStage::policyLoss(const Segments &, const PolicyLossOperands &at,
                           const PolicyLossSettings &) const {
  *at.numbers = {};
}
void NullStage::logProbabilities(const Segments &segments, const LogProbabilityOperands &at) const {
  std::fill_n(at.logProbabilities, segments.tokens(), 0.);
}
void NullStage::backward(const Segments &, bool overwrite, const BackwardOperands &at) const {
  if (overwrite)
    std::memset(at.gradients, 0, gradientBytes);
}
void NullStage::backwardInput(const Segments &, const BackwardInputOperands &) const {}
void NullStage::backwardWeight(const Segments &, bool overwrite,
                               const BackwardWeightOperands &at) const {
  if (overwrite)
    std::memset(at.gradients, 0, gradientBytes);
}

void SleepStage::forward(const Segments &segments, const ForwardOperands &) const {
  sleepFor(segments, config.forwardSeconds);
}
void SleepStage::backward(const Segments &segments, bool overwrite,
                          const BackwardOperands &at) const {
  sleepFor(segments, config.backwardInputSeconds + config.backwardWeightSeconds);
  NullStage::backward(segments, overwrite, at);
}
void SleepStage::backwardInput(const Segments &segments, const BackwardInputOperands &) const {
  sleepFor(segments, config.backwardInputSeconds);
}
void SleepStage::backwardWeight(const Segments &segments, bool overwrite,
                                const BackwardWeightOperands &at) const {
  sleepFor(segments, config.backwardWeightSeconds);
  NullStage::backwardWeight(segments, overwrite, at);
}

} // namespace vime
