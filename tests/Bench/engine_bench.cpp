// engine_bench: tokens per second of the engine, on one thread.
//
//   engine_bench LAYERS HIDDEN FFN SEQUENCES NEW ROUNDS
//
// A Llama of 8 heads and 256 words in float32, prompts of 16 tokens, NEW tokens for each of
// SEQUENCES, drawn at temperature 1. Prints one JSON object like the peer's (peers/generate.py): of
// each round the seconds of prompts and all, behind one that warms up.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernels/Native.h"
#include "runtime/Engine/Engine.h"
#include "runtime/Model/Update.h"

namespace {

using namespace vime;

constexpr std::int32_t kPrompt = 16;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void demand(const Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "engine_bench: error: %s\n", status.message().c_str());
  std::exit(status.exitCode());
}

/// Until the program ends, as an arena has it: at a page, and touched.
void *region(std::uint64_t bytes) {
  void *const memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  return std::memset(memory, 0, bytes);
}

struct Round {
  double prompts, all;
};

/// All sequences from admission to their last token.
Round generate(Engine &engine, int sequences, std::int32_t fresh, void *workspace) {
  std::vector<std::int32_t> prompt(kPrompt);
  for (int sequence = 0; sequence < sequences; ++sequence) {
    for (std::int32_t at = 0; at < kPrompt; ++at)
      prompt[std::size_t(at)] = (sequence * 31 + at * 7) % 256;
    demand(
        engine
            .admit(
                {.prompt = std::uint64_t(sequence), .seed = 7, .tokens = prompt, .mostNew = fresh})
            .status());
  }
  const double start = now();
  Round round{};
  for (int done = 0; done < sequences;) {
    const StatusOr<StepCounts> step = engine.step(workspace);
    demand(step.status());
    if (round.prompts == 0 && step->drawn == std::uint32_t(sequences))
      round.prompts = now() - start;
    while (const std::optional<int> slot = engine.finishedSlot()) {
      demand(engine.release(*slot));
      ++done;
    }
  }
  round.all = now() - start;
  return round;
}

} // namespace

int main(int count, char **arguments) {
  int numbers[] = {8, 256, 688, 16, 100, 5};
  for (int index = 1; index < count && index <= 6; ++index)
    numbers[index - 1] = std::atoi(arguments[index]);
  const auto [layers, hidden, ffn, sequences, fresh, rounds] = numbers;
  const ModelConfig config{.layers = std::uint32_t(layers),
                           .hidden = std::uint32_t(hidden),
                           .heads = 8,
                           .kvHeads = 8,
                           .headWidth = std::uint32_t(hidden / 8),
                           .ffn = std::uint32_t(ffn),
                           .vocab = 256};
  const Kernels *kernels = nativeKernels(config.type);
  demand(kernels ? check(config) : Status(StatusCode::Unacceptable, nativeRefusal(config.type)));
  const EngineCaps caps{.slots = std::uint32_t(sequences),
                        .rows = std::uint32_t(kPrompt + fresh),
                        .batchTokens = std::uint32_t(sequences * kPrompt)};
  demand(check(caps));
  const EngineRegions regions = engineRegions(config, caps);
  const StageSpec spec =
      stageSpec(config, {0, config.layers, true, true}, {caps.batchTokens, 1, caps.rows});
  void *const weights = region(spec.weightBytes), *const workspace = region(regions.workspaceBytes);
  initializeParameters(*kernels, spec, /*seed=*/7, weights);

  auto engine =
      Engine::make(config, splitLayers(config, 1), caps, *kernels, region(regions.recordBytes));
  demand(engine.status());
  demand((*engine)->install(0, weights));
  demand((*engine)->publish(1));
  demand((*engine)->wake(region(regions.cacheBytes)));
  demand((*engine)->resume());
  generate(**engine, sequences, fresh, workspace);
  std::printf("{\"kernels\": \"%s\", \"tokens\": %d, \"rounds\": [", kernels->name(),
              sequences * fresh);
  for (int round = 0; round < rounds; ++round) {
    const Round took = generate(**engine, sequences, fresh, workspace);
    std::printf("%s{\"prompts_s\": %.6f, \"all_s\": %.6f}", round == 0 ? "" : ", ", took.prompts,
                took.all);
  }
  std::printf("]}\n");
}
