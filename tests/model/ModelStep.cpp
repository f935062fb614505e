// model_step: CPU time of one training step in one process without a pipeline, for comparison with
// PyTorch.
//
//   model_step [MICROBATCHES STEPS HIDDEN LAYERS FFN [TYPE]]
//
// The job of the peer script decoder.py: 8 heads, 256 words, sequence 128, 4 samples per
// microbatch, float32 or TYPE, norm clipped at 1, AdamW. Prints one JSON line like it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "kernels/Native.h"
#include "tests/model/ModelRun.h"

namespace {

double now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

} // namespace

int main(int count, char **arguments) {
  using namespace vime;
  std::uint32_t numbers[] = {8, 8, 256, 8, 688};
  for (int index = 1; index < count && index <= 5; ++index)
    numbers[index - 1] = std::uint32_t(std::atoi(arguments[index]));
  const auto [microbatches, steps, hidden, layers, ffn] = numbers;
  constexpr std::uint32_t kHeads = 8, kSequence = 128, kSamples = 4;
  DataType type = DataType::Float32;
  for (const DataType other : {DataType::Float64, DataType::BFloat16})
    if (count > 6 && std::string_view(arguments[6]) == nameOf(other))
      type = other;
  const ModelConfig config{.type = type,
                           .layers = layers,
                           .hidden = hidden,
                           .heads = kHeads,
                           .kvHeads = kHeads,
                           .headWidth = hidden / kHeads,
                           .ffn = ffn,
                           .vocab = 256};
  const Kernels *kernels = nativeKernels(config.type);
  if (!kernels || !check(config).ok()) {
    std::fprintf(stderr, "model_step: no kernels here, or no such model\n");
    return 1;
  }
  // One microbatch at a time, its memory used again by the next.
  const MicrobatchCaps caps{kSamples * kSequence, kSamples, kSequence};
  ModelRun run(config, 1, caps, *kernels, 7);
  run.poisoning = false;
  std::vector<Batch> batches;
  for (std::uint32_t index = 0; index < microbatches; ++index)
    batches.push_back(
        randomBatch(std::vector<std::int32_t>(kSamples, kSequence), config.vocab, index));

  for (int warm = 0; warm < 2; ++warm)
    run.pairedStep(batches);
  const double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  for (std::uint32_t step = 0; step < steps; ++step)
    run.pairedStep(batches);
  std::printf("{\"kernels\": \"%s\", \"type\": \"%s\", \"step_ms\": %.1f, \"cpu_ms\": %.1f}\n",
              kernels->name(), nameOf(type), (now(CLOCK_MONOTONIC) - wall) / steps * 1e3,
              (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / steps * 1e3);
}
