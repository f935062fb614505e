#include "compiler/Frontend/StepNeeds.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "runtime/Data/Share.h"

namespace vime {
namespace {

/// Samples of a run that are packed in some seconds.
constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 25;

/// Tokens of the longest samples that a step can take. A step that runs on into another epoch may
/// take a sample again.
std::uint64_t mostTokens(const TextSamples &samples, const BatchShape &shape) {
  std::vector<std::uint32_t> lengths(samples.count());
  for (std::uint64_t sample = 0; sample < lengths.size(); ++sample)
    lengths[sample] = samples.at(sample).tokens;
  const std::uint64_t copies =
      shape.tail == plan::Tail::Join ? shape.batch / lengths.size() + 2 : 1;
  const auto longest = static_cast<std::ptrdiff_t>(
      std::min<std::uint64_t>((shape.batch + copies - 1) / copies, lengths.size()));
  std::partial_sort(lengths.begin(), lengths.begin() + longest, lengths.end(), std::greater<>());
  return copies * std::accumulate(lengths.begin(), lengths.begin() + longest, std::uint64_t{0});
}

} // namespace

// When first fit opens a microbatch for a sample of s tokens, every other one has more than
// room - s; and any two of them together have more than the room of one.
std::uint32_t packingBound(const TextSamples &samples, const BatchShape &shape) {
  std::uint32_t longest = 1;
  for (std::uint64_t sample = 0; sample < samples.count(); ++sample)
    longest = std::max(longest, samples.at(sample).tokens);
  const std::uint64_t tokens = mostTokens(samples, shape), room = shape.room.tokens;
  return static_cast<std::uint32_t>(
      std::min({shape.batch, 2 * tokens / room + 1, (tokens - 1) / (room - longest + 1) + 1}));
}

StepNeeds needsOf(TextDataset &text, std::uint64_t steps, std::uint32_t replicas) {
  StepNeeds needs;
  if (steps > kMostSamples / text.batchShape().batch) {
    const std::uint32_t bound = packingBound(text.cut(), text.batchShape());
    needs.isBound = true;
    needs.microbatches.resize(largestShare(bound, replicas));
    std::iota(needs.microbatches.begin(), needs.microbatches.end(), 1u);
    return needs;
  }
  std::set<std::uint32_t> found;
  for (std::uint64_t step = 0; step < steps; ++step) {
    text.begin(step);
    const std::uint32_t share = largestShare(text.microbatches(), replicas);
    if (found.empty() || share > *found.rbegin())
      needs.step = step;
    found.insert(share);
  }
  needs.microbatches.assign(found.begin(), found.end());
  return needs;
}

} // namespace vime
