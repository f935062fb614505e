// Scorer: one worker of a reward: a process or a connection, asked for one score at a time.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/Base/Status.h"

namespace vime {

/// What came of a question.
struct ScorerAnswer {
  enum class Kind : std::uint8_t {
    Score,
    Again,     // no score this time; the worker can be asked again
    Lost,      // no score, and the worker is of no more use
    Refused,   // there will be no score
    Cancelled, // the event was set
  };
  Kind kind = Kind::Score;
  double score = 0;
  StatusCode code = StatusCode::RankFailed; // if no score is ever had
  std::string why{};
};

class Scorer {
public:
  virtual ~Scorer() = default;
  /// `request`: as describeRequest writes it, with this id; ids of a scorer ascend.
  virtual ScorerAnswer ask(std::uint64_t id, const std::string &request) = 0;
};

} // namespace vime
