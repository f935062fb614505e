// M1: an arena has exactly the bytes that its buffers reach to, no buffer lies outside, and both
// arenas of a rank stay under the job's limit.
#include <algorithm>
#include <array>
#include <ranges>

#include <fmt/format.h>

#include "compiler/Diagnostics/Amounts.h"
#include "compiler/Verify/LiveSet.h"
#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Names.h"

namespace vime::verify {
namespace {

using namespace plan;

/// End of a buffer in its arena; nothing if the sum overflows.
bool endOf(const Buffer &buffer, std::uint64_t &end) {
  std::uint64_t slots = 0;
  return !__builtin_mul_overflow(buffer.stride, std::uint64_t{buffer.count} - 1, &slots) &&
         !__builtin_add_overflow(slots, buffer.bytes, &slots) &&
         !__builtin_add_overflow(slots, buffer.offset, &end);
}

bool judgeBuffer(const ActionTable &table, const RankView &rank, std::uint32_t index,
                 std::uint64_t &end, Verdict &verdict) {
  const Buffer &buffer = rank.layout->buffers[index];
  const std::string name = describeBuffer(table.plan(), rank.rank, index);
  if (buffer.bytes == 0 || (buffer.count > 1 && buffer.stride < buffer.bytes)) {
    verdict.error(Rule::M1, 3,
                  fmt::format("slots of `{}` of rank {} have {} bytes and stand {} apart", name,
                              rank.rank, buffer.bytes, buffer.stride));
    return false;
  }
  if (buffer.offset % kBufferAlignment != 0 ||
      (buffer.count > 1 && buffer.stride % kBufferAlignment != 0)) {
    verdict.error(
        Rule::M1, 3,
        fmt::format("`{}` of rank {} at offset {} with stride {} is not aligned to {} bytes", name,
                    rank.rank, buffer.offset, buffer.stride, kBufferAlignment));
    return false;
  }
  const std::uint64_t arena = rank.layout->arena[static_cast<std::size_t>(buffer.tier)];
  if (endOf(buffer, end) && end <= arena)
    return true;
  verdict.error(
      Rule::M1, 2,
      fmt::format("`{}` of rank {} lies outside of its arena of {} bytes", name, rank.rank, arena));
  return false;
}

/// What is alive where most is, largest part first.
void noteLiveSet(const ActionTable &table, const RankView &rank, const TierMemory &memory,
                 Finding &finding) {
  constexpr std::size_t kMostParts = 8;
  const std::string place = memory.action == kNone
                                ? ""
                                : fmt::format(", most alive at action {}, {}", memory.action,
                                              describe(table.plan(), rank.rank, memory.action));
  finding.note(
      fmt::format("{}: {}{}", plan::nameOf(memory.tier), bytesInWords(memory.arena), place));
  for (const MemoryPart &part : memory.parts | std::views::take(kMostParts))
    finding.note(fmt::format("{}: {}, {} of {} slots alive", bytesInWords(part.bytes),
                             describeBuffer(table.plan(), rank.rank, part.buffer), part.aliveSlots,
                             rank.layout->buffers[part.buffer].count));
  if (memory.parts.size() > kMostParts)
    finding.note(fmt::format("and {} smaller parts", memory.parts.size() - kMostParts));
}

void judgeRank(const ActionTable &table, const RankView &rank, Verdict &verdict) {
  std::array<std::uint64_t, 2> reach{};
  bool sound = true;
  for (std::uint32_t buffer = 0; buffer < rank.layout->buffers.size(); ++buffer) {
    std::uint64_t end = 0;
    std::uint64_t &most = reach[static_cast<std::size_t>(rank.layout->buffers[buffer].tier)];
    sound = judgeBuffer(table, rank, buffer, end, verdict) && sound;
    most = std::max(most, end);
  }
  if (!sound)
    return;
  std::uint64_t sum = 0;
  for (const Tier tier : {Tier::Device, Tier::Host}) {
    const std::uint64_t arena = rank.layout->arena[static_cast<std::size_t>(tier)];
    const std::uint64_t exact = reach[static_cast<std::size_t>(tier)];
    // The last block of an arena may be padded.
    if (arena - exact >= kBufferAlignment)
      verdict.error(Rule::M1, 1,
                    fmt::format("the {} arena of rank {} has {} bytes, its buffers end at {}",
                                plan::nameOf(tier), rank.rank, arena, exact));
    sum += arena;
  }
  const std::uint64_t limit = table.plan().limits.memoryBytes;
  if (limit == 0 || sum <= limit)
    return;
  Finding &finding =
      verdict.error(Rule::M1, 4,
                    fmt::format("rank {} needs {} bytes ({}), the limit is {} ({})", rank.rank, sum,
                                bytesInWords(sum), limit, bytesInWords(limit)));
  for (const TierMemory &memory : liveSetOf(table, rank))
    noteLiveSet(table, rank, memory, finding);
}

} // namespace

void verifyArenasFit(const ActionTable &table, Verdict &verdict) {
  for (const RankView &rank : table.ranks())
    judgeRank(table, rank, verdict);
}

} // namespace vime::verify
