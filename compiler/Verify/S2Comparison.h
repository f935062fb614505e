// S2Comparison: what a read finds in its slot against what it needs, and the words when they
// differ.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/Verify/Revoked.h"
#include "compiler/Verify/Rules.h"
#include "compiler/Verify/S2Values.h"

namespace vime::verify {

/// A read of a slot.
struct Read {
  std::uint32_t entry, slot;
  std::uint32_t index; // of the slot in the access
  std::uint32_t buffer;
  std::uint8_t need;  // in the table
  bool perMicrobatch; // as of the access
};

/// The reads of one rank.
class Comparison {
public:
  Comparison(const ActionTable &table, const RankView &rank, Verdict &verdict)
      : table(table), rank(rank), verdict(verdict), needs(needTable()),
        signatures(signatureTable()) {
    for (const Segment &segment : rank.segments)
      places.push_back({earlyUpdateOf(table, rank, segment), endOfRevoked(table, rank, segment)});
  }

  /// Where the tasks of a segment stop to be revoked.
  std::uint32_t endOfRevokedIn(std::uint32_t segment) const { return places[segment].revoked; }
  /// `instant`: of the reader.
  bool holds(const Read &read, const Value &value, std::uint32_t instant) const;
  /// `writer`: the entry of this rank that wrote the slot.
  void report(const Read &read, const Value &value, std::uint32_t writer, std::uint32_t instant);
  void fault(int number, std::uint32_t entry, std::uint32_t writer, std::string_view what);

private:
  const Need::Products &wantedBy(const Read &read) const;
  std::int64_t wantedStage(const Need &need, const StageView &reader) const;
  bool isOfOtherCopy(const Read &read) const;
  bool isOfReplica(const Value &value) const;
  bool isTakenBack(const Read &read, const Value &value, std::uint32_t instant) const;
  bool stepHolds(const Read &read, const Value &value, const Need &need,
                 std::uint32_t instant) const;
  bool stageHolds(const Value &value, const Need &need, std::uint32_t entry) const;
  bool hasStage(std::uint32_t entry) const {
    return signatures[opcodeIndex(table.action(rank, entry).opcode)]->perStage;
  }
  std::uint32_t stageOf(std::uint32_t entry) const {
    return rank.stages[table.action(rank, entry).stage];
  }
  std::uint32_t wantedMicrobatch(const Need &need, const Read &read) const;
  bool wasOverwritten(const Read &read, const Value &value, std::uint32_t writer,
                      std::uint32_t instant) const;
  bool owns(std::uint32_t writer, std::uint32_t slot) const;
  std::string wantedText(const Read &read) const;
  std::string describe(const Value &value, std::uint32_t instant) const;

  static constexpr int kFaults = 32; // of a rank

  const ActionTable &table;
  const RankView &rank;
  Verdict &verdict;
  const NeedTable &needs;
  const std::array<const plan::Signature *, kOpcodes> &signatures;
  struct Places {
    std::uint32_t early, revoked; // entries: the first early optimizer, and where revoked tasks end
  };
  std::vector<Places> places; // of each segment
  int faults = 0;
};

} // namespace vime::verify
