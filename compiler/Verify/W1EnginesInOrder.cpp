// W1: an engine's weights are written only while it is paused and awake, on every path; it
// generates only while it is neither, with weights that have a version. W3: a version is published
// after the last stage is installed, and before the engine resumes; each of them once, and what is
// generated in a step has the one of that step.
//
// A rank that generates runs all of this itself, one after the other: what stands in front of a
// call of the group that brings weights has run when the call is made. That the weights are there
// before they are installed is for M3, whose they are for S2.
#include <fmt/format.h>

#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Decisions.h"

namespace vime::verify {
namespace {

using namespace plan;

/// An engine while its actions go by.
class EngineState {
public:
  EngineState(const ActionTable &table, const RankView &rank, Verdict &verdict)
      : table(table), rank(rank), verdict(verdict), installed(rank.stages.size(), false) {}

  void run() {
    for (const Segment &segment : rank.segments)
      // What an iteration leaves, the next one finds.
      for (int time = 0; time < (segment.trips > 1 ? 2 : 1); ++time) {
        isOfStep = false;
        for (std::uint32_t entry = segment.first; entry < segment.end && !failed; ++entry)
          pass(entry, table.action(rank, entry), segment.isLoop());
      }
  }

private:
  void pass(std::uint32_t entry, const Action &action, bool isInLoop) {
    switch (static_cast<Opcode>(action.opcode)) {
    case Opcode::Wake:
      require(!awake, Rule::W1, 1, entry, "gives a cache to an engine that has one");
      awake = true;
      break;
    case Opcode::Pause:
      paused = true;
      break;
    case Opcode::Flush:
      require(paused, Rule::W1, 2, entry, "drops what is cached of an engine that runs");
      break;
    case Opcode::BroadcastWeights:
      require(paused && awake, Rule::W1, 3, entry,
              paused ? "writes weights of an engine that sleeps"
                     : "writes weights of an engine that runs");
      installed[action.stage] = published = false;
      break;
    case Opcode::Install:
      require(paused, Rule::W1, 3, entry, "installs weights of an engine that runs");
      installed[action.stage] = true;
      published = false; // there is something new
      break;
    case Opcode::Publish:
      publish(entry, action, isInLoop);
      break;
    case Opcode::Resume:
      require(published, Rule::W3, 2, entry, "resumes with weights that have no version");
      require(awake, Rule::W1, 4, entry, "resumes an engine that sleeps");
      paused = false;
      break;
    case Opcode::Generate:
      require(!paused && awake && published, Rule::W1, 5, entry,
              !awake      ? "generates with an engine that sleeps"
              : published ? "generates with an engine that is paused"
                          : "generates with weights that have no version");
      require(isOfStep, Rule::W3, 4, entry, "generates with the version of an earlier step");
      break;
    default:
      break;
    }
  }

  /// Versions are numbered by rounds, and the last round is followed by one more.
  void publish(std::uint32_t entry, const Action &action, bool isInLoop) {
    require(paused, Rule::W3, 3, entry, "publishes weights of an engine that runs");
    const bool beginsRound = valuesOf(table.plan(), Decision::Rollout).empty() ||
                             table.choice().of(Decision::Rollout) != 0;
    require(!isOfStep && (beginsRound || !isInLoop) &&
                (action.immediate == kBehindLastRound) != isInLoop,
            Rule::W3, 5, entry, "publishes a version that another round has");
    for (std::size_t stage = 0; stage < installed.size() && !failed; ++stage)
      require(installed[stage], Rule::W3, 1, entry,
              fmt::format("publishes weights of which stage {} is not installed",
                          table.stages()[rank.stages[stage]].stage));
    published = isOfStep = true;
  }

  void require(bool holds, Rule rule, int number, std::uint32_t entry, std::string_view what) {
    if (holds || failed)
      return;
    failed = true; // what follows would only repeat it
    const ActionPlace place = placeOf(table, rank, entry);
    verdict.to(
        verdict.error(rule, number, place,
                      fmt::format("{} of rank {} {}", verdict.words(place), rank.rank, what)),
        place);
  }

  const ActionTable &table;
  const RankView &rank;
  Verdict &verdict;
  std::vector<bool> installed; // by stage
  bool awake = false, paused = true, published = false, failed = false;
  bool isOfStep = false; // the latest version, or of what stands outside of steps
};

} // namespace

void verifyEnginesInOrder(const ActionTable &table, Verdict &verdict) {
  for (const RankView &rank : table.ranks())
    if (table.plan().mesh.isEngine(rank.rank))
      EngineState(table, rank, verdict).run();
}

} // namespace vime::verify
