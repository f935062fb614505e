// What an action costs: chains whose tasks do nothing, over the local transport.
//
//   executor_bench [--benchmark_repetitions=5]
//
// `ns/action` is wall time over the actions of one rank; with one rank nothing waits, with two
// every message is a hand-over between threads, which is what a pipeline of null stages spends its
// time on. `cpu-ns/action` is processor time of all ranks over all their actions: it hardly depends
// on what else the machine does.
#include <chrono>
#include <ctime>

#include <benchmark/benchmark.h>

#include "runtime/Transport/Cores.h"
#include "runtime/Transport/Sleeper.h"
#include "tests/exec/ChainPlan.h"
#include "tests/exec/ChainRun.h"

namespace vime {
namespace {

void nullChain(benchmark::State &state) {
  constexpr std::uint32_t kSteps = 500;
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  const auto microbatches = static_cast<std::uint32_t>(state.range(1));
  const ChainRun chain{chainPlan({.ranks = ranks, .microbatches = microbatches, .steps = kSteps}),
                       nullRoutines()};
  const std::size_t actions = chain.plan.programs[0].actions.size() * kSteps;
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t startOfUse = std::clock();
  for (auto _ : state)
    for (const Status &status : chain.run())
      if (!status.ok())
        state.SkipWithError(status.message().c_str());
  const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - start;
  const double used = 1e9 / CLOCKS_PER_SEC * static_cast<double>(std::clock() - startOfUse);
  state.counters["cpu-ns/action"] =
      used / static_cast<double>(actions * ranks * state.iterations());
  state.counters["ns/action"] = all.count() / static_cast<double>(actions * state.iterations());
  state.counters["cores"] = availableCores();
}

BENCHMARK(nullChain)
    ->ArgNames({"ranks", "microbatches"})
    ->Args({1, 8})
    ->Args({2, 8})
    ->Args({2, 64})
    ->UseRealTime();

} // namespace
} // namespace vime

BENCHMARK_MAIN();
