// D6: gradients and losses are divided by the denominator of this step's header: between the
// decision and the use (of losses: what is measured) nothing has changed the header but its way
// here. An evaluation does; what
// stands behind it finds other tokens.
#include <fmt/format.h>

#include "compiler/Verify/Accesses.h"
#include "compiler/Verify/Rules.h"

namespace vime::verify {
namespace {

using namespace plan;

bool isHeader(const RankView &rank, const Action &action) {
  const std::uint32_t buffer = rank.program->operands[action.operands];
  return buffer != kNoBuffer && rank.layout->buffers[buffer].kind == BufferKind::Header;
}

bool brings(const RankView &rank, const Action &action) {
  return action.opcode == code(Opcode::Broadcast) && isHeader(rank, action);
}

/// The header of a rank while its actions go by.
class Header {
public:
  /// What its k-th broadcast of a segment brings; null on the rank that makes it.
  using Calls = std::vector<std::vector<bool>>;

  Header(const ActionTable &table, const RankView &rank, const Calls *calls)
      : table(table), rank(rank), calls(calls) {}

  bool isOfStep() const { return ofStep; }

  void pass(std::uint32_t entry) {
    const Action &action = table.action(rank, entry);
    if (const std::uint32_t now = table.segment(rank, entry); now != segment) {
      segment = now;
      next = 0;
      ofStep = false; // of the step before
    }
    if (action.opcode == code(Opcode::Decide))
      ofStep = true;
    if (action.opcode == code(Opcode::LoadEvaluation) ||
        action.opcode == code(Opcode::ReportEvaluation))
      ofStep = false;
    if (calls && brings(rank, action)) {
      const bool known = segment < calls->size() && next < (*calls)[segment].size();
      ofStep = known && (*calls)[segment][next++];
    }
  }

private:
  const ActionTable &table;
  const RankView &rank;
  const Calls *const calls;
  std::uint32_t segment = kNone;
  std::size_t next = 0; // broadcast of the segment
  bool ofStep = false;
};

const RankView *makerOf(const ActionTable &table) {
  for (const RankView &rank : table.ranks())
    for (const Action &action : rank.program->actions)
      if (action.opcode == code(Opcode::Decide))
        return &rank;
  return nullptr;
}

Header::Calls callsOf(const ActionTable &table, const RankView &maker) {
  Header::Calls calls(maker.segments.size());
  Header header(table, maker, nullptr);
  for (std::uint32_t entry = maker.first; entry < maker.end; ++entry) {
    header.pass(entry);
    if (brings(maker, table.action(maker, entry)))
      calls[table.segment(maker, entry)].push_back(header.isOfStep());
  }
  return calls;
}

/// What is measured behind the steps tells only what has been saved.
bool isInStep(const ActionTable &table, const RankView &rank, std::uint32_t entry) {
  const std::uint32_t segment = table.segment(rank, entry);
  return segment == 0 || rank.segments[segment].isLoop();
}

} // namespace

void verifyScalesUseHeader(const ActionTable &table, Verdict &verdict) {
  const RankView *maker = makerOf(table);
  if (!maker)
    return; // S1
  const Header::Calls calls = callsOf(table, *maker);
  for (const RankView &rank : table.ranks()) {
    Header header(table, rank, &rank == maker ? nullptr : &calls);
    for (std::uint32_t entry = rank.first; entry < rank.end; ++entry) {
      header.pass(entry);
      const std::uint16_t opcode = table.action(rank, entry).opcode;
      const bool divides = opcode == code(Opcode::ScaleGradients) ||
                           (opcode == code(Opcode::Measure) && isInStep(table, rank, entry));
      if (!divides || header.isOfStep())
        continue;
      const ActionPlace place = placeOf(table, rank, entry);
      verdict.to(verdict.error(Rule::D6, 1, place,
                               fmt::format("{} divides by the denominator of a header that is not "
                                           "the one decided for this step",
                                           verdict.words(place))),
                 place);
    }
  }
}

} // namespace vime::verify
