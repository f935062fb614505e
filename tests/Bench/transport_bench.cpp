// How long a message takes from rank to rank and back, by transport: two ranks, a channel each way.
#include <chrono>
#include <vector>

#include <benchmark/benchmark.h>

#include "tests/Conformance/TransportRanks.h"

namespace vime {
namespace {

constexpr std::uint64_t kRounds = 2000;

/// Rank 0 sends on end 0 and receives on end 1, rank 1 the other way round.
void play(Rank &rank, std::vector<std::byte> &bytes) {
  for (std::uint64_t round = 1; round <= kRounds; ++round)
    for (const std::uint32_t end : {0u, 1u}) {
      const bool ok = rank.transport->post(end, {bytes.data(), bytes.data(), bytes.size()}).ok() &&
                      rank.transport->await(end, round).ok();
      if (!ok)
        std::abort();
    }
}

void transfer(benchmark::State &state, Backend backend) {
  Setting setting{.ends = noEnds(2)};
  addChannel(setting.ends, 0, 1);
  addChannel(setting.ends, 1, 0);
  for (auto _ : state)
    runRanks(backend, setting, [&](Rank &rank) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(state.range(0)));
      const auto start = std::chrono::steady_clock::now();
      play(rank, bytes);
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      if (rank.rank == 0)
        state.SetIterationTime(time.count() / (2 * kRounds));
    });
}

void sizes(benchmark::internal::Benchmark *bench) {
  bench->Arg(64)->Arg(1 << 16)->UseManualTime()->Iterations(10)->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(transfer, local, Backend::Local)->Apply(sizes);
BENCHMARK_CAPTURE(transfer, rendezvous, Backend::Rendezvous)->Apply(sizes);
BENCHMARK_CAPTURE(transfer, gloo, Backend::Gloo)->Apply(sizes);

} // namespace
} // namespace vime

BENCHMARK_MAIN();
