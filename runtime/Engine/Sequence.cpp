#include "runtime/Engine/Sequence.h"

#include <algorithm>

namespace vime {

const char *nameOf(Finish finish) {
  constexpr const char *kNames[] = {"stop", "length", "abort"};
  return kNames[static_cast<std::size_t>(finish)];
}

bool Sequence::stopsAt(std::int32_t token) const {
  return std::find(stops.begin(), stops.begin() + stopCount, token) != stops.begin() + stopCount;
}

Response Sequence::response(const SequenceRecord &record) const {
  const auto all = std::size_t(length), old = std::size_t(given), fresh = all - old;
  return {.prompt = prompt,
          .sample = sample,
          .tokens = {record.tokens, all},
          .drawn = {record.tokens + old, fresh},
          .logProbabilities = {record.logProbabilities, fresh},
          .sampledLogProbabilities = {record.sampledLogProbabilities, fresh},
          .versions = {record.versions, fresh},
          .finish = finish};
}

} // namespace vime
