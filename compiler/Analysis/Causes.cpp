#include "compiler/Analysis/Causes.h"

#include <algorithm>
#include <array>

#include "compiler/Analysis/StepBody.h"

namespace vime {

using namespace plan;
using verify::ActionTable;
using verify::RankView;

namespace {

struct Words {
  std::string_view name, sentence;
};
constexpr std::array<Words, 9> kWords = {
    Words{"tasks", "forwards and backwards, the work itself"},
    {"evaluation", "forwards of held-out text"},
    {"optimizer", "updates and collectives, around the tasks"},
    {"warm-up", "until a rank has its first task"},
    {"dependence", "what a task needs is still being computed"},
    {"communication", "what a task needs is on its way"},
    {"imbalance", "the busiest rank has more to do"},
    {"cool-down", "a rank is through and others are not"},
    {"rollout", "engines take weights and generate"}};

bool isEvaluationTask(const Action &action) {
  return isEvaluation(static_cast<Opcode>(action.opcode));
}

using Parts = std::array<std::int64_t, kWords.size()>;

class CausesOfStep {
public:
  CausesOfStep(const ActionTable &table, const Simulated &run, const StepReport &report)
      : table(table), run(run), report(report) {}

  std::vector<Cause> find() const {
    std::vector<Parts> ranks;
    std::vector<std::uint32_t> numbers;
    for (std::size_t rank = 0; rank < table.ranks().size(); ++rank)
      if (!report.ranks[rank].isEngine) {
        ranks.push_back(partsOf(rank));
        numbers.push_back(table.ranks()[rank].rank);
      }
    std::vector<Cause> causes;
    for (std::size_t kind = 0; kind < kWords.size(); ++kind) {
      Cause cause{.kind = static_cast<CauseKind>(kind)};
      std::int64_t sum = 0;
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        sum += ranks[rank][kind];
        if (ranks[rank][kind] > cause.most) {
          cause.most = ranks[rank][kind];
          cause.rank = numbers[rank];
        }
      }
      cause.time = sum / static_cast<std::int64_t>(ranks.size());
      if (sum != 0)
        causes.push_back(cause);
    }
    std::stable_sort(causes.begin(), causes.end(),
                     [](const Cause &one, const Cause &other) { return one.time > other.time; });
    return causes;
  }

private:
  template <typename Visit> void forComputing(const RankView &rank, Visit visit) const {
    const auto [first, end] = stepEntriesOf(rank);
    for (std::uint32_t entry = first; entry < end; ++entry) {
      const Action &action = table.action(rank, entry);
      if (runsOnDispatcher(rank.program->lanes[action.lane].kind) &&
          run.times[entry].end > run.times[entry].begin)
        visit(entry, action);
    }
  }

  Parts partsOf(std::size_t index) const {
    const RankReport &rank = report.ranks[index];
    std::int64_t tasks = 0, evaluation = 0;
    forComputing(table.ranks()[index], [&](std::uint32_t entry, const Action &action) {
      const ActionTimes &times = run.times[entry];
      (isEvaluationTask(action) ? evaluation : tasks) +=
          isTask(action) ? times.end - times.begin : 0;
    });
    return {tasks,
            evaluation,
            rank.busy - tasks - evaluation,
            rank.idle.warmUp,
            rank.idle.dependence,
            rank.idle.communication,
            rank.idle.imbalance,
            rank.idle.coolDown,
            rank.idle.otherRole};
  }

  const ActionTable &table;
  const Simulated &run;
  const StepReport &report;
};

} // namespace

std::string_view nameOf(CauseKind kind) { return kWords[static_cast<std::size_t>(kind)].name; }
std::string_view sentenceOf(CauseKind kind) {
  return kWords[static_cast<std::size_t>(kind)].sentence;
}

std::vector<Cause> causesOf(const ActionTable &table, const Simulated &run,
                            const StepReport &report) {
  return CausesOfStep(table, run, report).find();
}

} // namespace vime
