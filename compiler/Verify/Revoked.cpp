#include "compiler/Verify/Revoked.h"

namespace vime::verify {

using namespace plan;

namespace {

std::uint32_t firstOf(const ActionTable &table, const RankView &rank, const Segment &segment,
                      Opcode opcode) {
  for (std::uint32_t entry = segment.first; entry < segment.end; ++entry)
    if (table.action(rank, entry).opcode == code(opcode))
      return entry;
  return kNone;
}

} // namespace

std::uint32_t settleOf(const ActionTable &table, const RankView &rank, const Segment &segment) {
  return firstOf(table, rank, segment, Opcode::Settle);
}

std::uint32_t earlyUpdateOf(const ActionTable &table, const RankView &rank,
                            const Segment &segment) {
  const std::uint32_t early = firstOf(table, rank, segment, Opcode::OptimizeEarly);
  return early == kNone ? segment.first : early;
}

std::uint32_t endOfRevoked(const ActionTable &table, const RankView &rank, const Segment &segment) {
  const std::uint32_t settle =
      table.choice().of(Decision::Verdict) == kStands ? kNone : settleOf(table, rank, segment);
  return settle == kNone ? segment.first : settle;
}

} // namespace vime::verify
