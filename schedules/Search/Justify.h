// Justify: list scheduling to and fro. Run backwards, every pass goes as late as the end allows,
// and the times found so make better keys than any guess: the way out repairs the way in.
//
//   const Justifier justifier(flow);
//   Attempt attempt = justifier.improved({.keys = guess}, Ends::Anywhere);
//
// Source: forward-backward improvement (Li and Willis 1992).
#pragma once

#include "schedules/Search/ListScheduling.h"

namespace vime {

/// A timing and what it was made with.
struct Attempt {
  Timing timing;
  Urgency urgency;
  int runs = 0; // of the flow, that it took
};

/// Makespan, then longest span, then the sum of spans.
bool isBetter(const Timing &left, const Timing &right);

/// Where ranks may end: anywhere, or one behind the other as they began. Staggered ends cost
/// nothing in makespan and shorten the spans, which is what counts where steps follow without a
/// barrier.
enum class Ends { Anywhere, Staggered };

class Justifier {
public:
  explicit Justifier(const Flow &flow) : flow(flow), backwards(reversed(flow)) {}

  /// The best of a few rounds; the keys are those that gave it. A first run that takes longer than
  /// `hopeless` is not worth another.
  Attempt improved(Urgency urgency, Ends ends, std::int64_t hopeless = kForever) const;

private:
  std::vector<std::int64_t> staggered(const Timing &timing) const;

  const Flow &flow;
  const Flow backwards;
};

} // namespace vime
