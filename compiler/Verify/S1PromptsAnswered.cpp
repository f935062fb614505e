// A part of S1: prompts go round once, in one order: the coordinator draws them, all get them, each
// engine answers, the samples are gathered, and whoever is for these prompts scores them. Both
// kinds of prompts travel in the same buffers, so what lies there does not tell whose it is; the
// order does, since the k-th calls of all members meet (C3).
#include <array>

#include <fmt/format.h>

#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Describe.h"

namespace vime::verify {
namespace {

using namespace plan;

enum class Stop : std::uint8_t { Draw, Send, Answer, Gather, Score, None };
constexpr std::array<std::string_view, 5> kDone = {"drawn", "sent", "answered", "gathered",
                                                   "scored"};

/// One rank's part of the way.
class Way {
public:
  Way(const ActionTable &table, const RankView &rank, Verdict &verdict)
      : table(table), rank(rank), verdict(verdict),
        stops(table.plan().mesh.isEngine(rank.rank)
                  ? std::vector{Stop::Send, Stop::Answer, Stop::Gather}
                  : std::vector{Stop::Draw, Stop::Send, Stop::Gather, Stop::Score}) {}

  void run() {
    for (const Segment &segment : rank.segments) {
      next = 0;
      latest = kNone;
      for (std::uint32_t entry = segment.first; entry < segment.end && !failed; ++entry)
        if (const Stop stop = stopOf(entry); stop != Stop::None)
          pass(entry, stop);
      if (next != 0 && !failed)
        fault(latest, fmt::format("leaves prompts that are not {}", wordOf(stops[next])));
    }
  }

private:
  void pass(std::uint32_t entry, Stop stop) {
    if (stop != stops[next])
      return fault(entry, fmt::format("runs where prompts are to be {}", wordOf(stops[next])));
    if (stop == Stop::Draw)
      isHeldOut = table.action(rank, entry).opcode == code(Opcode::DrawEvaluation);
    if (stop == Stop::Score &&
        isHeldOut != (table.action(rank, entry).opcode == code(Opcode::ScoreEvaluation)))
      return fault(entry, "scores samples of other prompts");
    latest = entry;
    next = (next + 1) % stops.size();
  }

  Stop stopOf(std::uint32_t entry) const {
    const Action &action = table.action(rank, entry);
    switch (static_cast<Opcode>(action.opcode)) {
    case Opcode::DrawPrompts:
    case Opcode::DrawEvaluation:
      return Stop::Draw;
    case Opcode::Broadcast:
      return moves(action, BufferKind::Prompts) ? Stop::Send : Stop::None;
    case Opcode::Generate:
      return Stop::Answer;
    case Opcode::Gather:
      return moves(action, BufferKind::Samples) ? Stop::Gather : Stop::None;
    case Opcode::Score:
    case Opcode::ScoreEvaluation:
      return Stop::Score;
    default:
      return Stop::None;
    }
  }
  bool moves(const Action &action, BufferKind kind) const {
    return rank.layout->buffers[rank.program->operands[action.operands]].kind == kind;
  }
  static std::string_view wordOf(Stop stop) { return kDone[static_cast<std::size_t>(stop)]; }

  void fault(std::uint32_t entry, std::string_view what) {
    failed = true; // what follows would only repeat it
    const ActionPlace place = placeOf(table, rank, entry);
    Finding &finding =
        verdict.error(Rule::S1, 13, place,
                      fmt::format("{} of rank {} {}", verdict.words(place), rank.rank, what));
    if (latest != kNone && latest != entry)
      verdict.from(finding, placeOf(table, rank, latest));
    verdict.to(finding, place);
  }

  const ActionTable &table;
  const RankView &rank;
  Verdict &verdict;
  const std::vector<Stop> stops; // of a rank of its kind, in their order
  std::size_t next = 0;          // in `stops`
  std::uint32_t latest = kNone;  // entry
  bool isHeldOut = false, failed = false;
};

} // namespace

void verifyPromptsAnswered(const ActionTable &table, Verdict &verdict) {
  for (const RankView &rank : table.ranks())
    if (rank.rank == 0 || table.plan().mesh.isEngine(rank.rank))
      Way(table, rank, verdict).run();
}

} // namespace vime::verify
