// What each action of a compiled null plan costs, over the local transport.
//
//   null_plan_bench null.bin [FOLDER OF THE JOB]
//
// Every routine that a dispatcher runs notes the processor's clock before it does its work. An
// action's cost is what passes on its rank from its own note to the next one: its work, and all
// that comes before the next action may start, waits for peers and host lanes included. Prints one
// JSON object: nanoseconds, over the actions of all ranks and steps but the first tenth of them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <x86intrin.h>

#include "runtime/Exec/RankRun.h"
#include "runtime/Exec/RankState.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/PlanFile.h"
#include "runtime/Transport/Cores.h"
#include "runtime/Transport/LocalTransport.h"

namespace vime {
namespace {

using Clock = std::chrono::steady_clock;

/// By rank; room is made before the run.
struct alignas(64) Notes {
  std::vector<std::uint64_t> ticks;
};
std::vector<Notes> notes;
std::vector<Routine> real(1 << 16); // by opcode

Status noted(RankState &state, const Instruction &instruction) {
  notes[state.rank].ticks.push_back(__rdtsc());
  return real[state.program.actions[instruction.action].opcode](state, instruction);
}

/// Host lanes have threads of their own: their actions are part of what the dispatcher waits for.
RoutineTable notingRoutines() {
  RoutineTable table = trainingRoutines();
  for (auto &[opcode, routine] : table) {
    real[opcode] = routine;
    if (const plan::Signature *signature = plan::findSignature(opcode);
        signature->family != plan::Family::Host)
      routine = noted;
  }
  return table;
}

class Quiet final : public RunObserver {
  void stepFinished(const StepRecord &, std::span<const plan::RankStats>) override {}
  void exported() override {}
  void saved(std::uint64_t) override {}
};

int fail(const Status &status) {
  std::fprintf(stderr, "null_plan_bench: error: %s\n", status.message().c_str());
  return status.exitCode();
}

struct Ranks {
  std::vector<std::unique_ptr<Sleeper>> sleepers;
  LocalTransports transports;
  std::vector<std::unique_ptr<RankRun>> runs;
};

Status prepare(const plan::Plan &plan, const std::string &base, const RankProbe &probe,
               RunObserver &observer, Ranks &ranks) {
  std::vector<RankEnds> ends;
  std::vector<Sleeper *> sleepers;
  for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank) {
    StatusOr<std::unique_ptr<RankRun>> run = RankRun::prepare(
        {.plan = plan, .rank = rank, .base = base, .observer = observer, .probe = &probe});
    if (!run.ok())
      return run.status();
    ends.push_back((*run)->ends());
    ranks.runs.push_back(std::move(*run));
    ranks.sleepers.push_back(
        std::make_unique<Sleeper>(/*spins=*/plan.mesh.ranks() <= availableCores()));
    sleepers.push_back(ranks.sleepers.back().get());
    notes[rank].ticks.reserve((plan.run.steps + 1) * plan::programOf(plan, rank)->actions.size());
  }
  StatusOr<LocalTransports> connected = connectLocal(ends, sleepers, std::chrono::seconds(60));
  if (!connected.ok())
    return connected.status();
  ranks.transports = std::move(*connected);
  return Status();
}

/// Nanoseconds of each action of all ranks, ascending.
std::vector<double> costs(double nanosecondsPerTick) {
  std::vector<double> costs;
  for (const Notes &rank : notes)
    for (std::size_t index = rank.ticks.size() / 10; index + 1 < rank.ticks.size(); ++index)
      costs.push_back(double(rank.ticks[index + 1] - rank.ticks[index]) * nanosecondsPerTick);
  std::sort(costs.begin(), costs.end());
  return costs;
}

int run(const char *file, const char *base) {
  const StatusOr<plan::Plan> plan = plan::readPlan(file);
  if (!plan.ok())
    return fail(plan.status());
  notes.resize(plan->mesh.ranks());
  const RoutineTable routines = notingRoutines();
  Quiet observer;
  const RankProbe probe{.routines = &routines, .reserved = {}};
  Ranks ranks;
  if (Status status = prepare(*plan, base, probe, observer, ranks); !status.ok())
    return fail(status);
  const Clock::time_point start = Clock::now();
  const std::uint64_t startTicks = __rdtsc();
  std::vector<std::thread> threads;
  std::vector<Status> statuses(plan->mesh.ranks());
  for (std::uint32_t rank = 0; rank < plan->mesh.ranks(); ++rank)
    threads.emplace_back([&, rank] {
      statuses[rank] = ranks.runs[rank]->execute(*ranks.transports[rank], *ranks.sleepers[rank]);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const Status &status : statuses)
    if (!status.ok())
      return fail(status);
  const std::chrono::duration<double, std::nano> time = Clock::now() - start;
  const std::vector<double> all = costs(time.count() / double(__rdtsc() - startTicks));
  const auto quantile = [&](double share) { return all[std::size_t(share * double(all.size()))]; };
  std::printf("{\"actions\": %zu, \"p50\": %.1f, \"p90\": %.1f, \"p99\": %.1f, \"mean\": %.1f}\n",
              all.size(), quantile(0.5), quantile(0.9), quantile(0.99),
              std::accumulate(all.begin(), all.end(), 0.0) / double(all.size()));
  return 0;
}

} // namespace
} // namespace vime

int main(int count, char **arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: null_plan_bench PLAN [FOLDER OF THE JOB]\n");
    return 2;
  }
  return vime::run(arguments[1], count > 2 ? arguments[2] : ".");
}
