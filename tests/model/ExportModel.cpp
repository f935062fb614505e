// export_model: writes a small trained model as a Hugging Face directory, and logits that it gives.
//
//   export_model EXPORT LOGITS llama|qwen2|qwen3        for tests/Peers/check_export.py
//
// The head of qwen2 is tied; tensors of all families are changed, so that each one counts.
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "kernels/Native.h"
#include "runtime/Model/HuggingFace.h"
#include "runtime/Model/SafeTensors.h"
#include "tests/model/ModelRun.h"

namespace vime {
namespace {

constexpr std::int32_t kRows = 3, kLength = 21;

Status writeLogits(ModelRun &run, std::uint32_t vocab, const std::string &path) {
  const Batch batch = randomBatch(std::vector<std::int32_t>(kRows, kLength), vocab, 5);
  const std::vector<double> logits = run.logits(batch);
  const std::vector<float> values(logits.begin(), logits.end());
  const SafeTensorSource tensors[] = {
      {"tokens", "I32", {kRows, kLength}, std::as_bytes(std::span(batch.tokens))},
      {"logits", "F32", {kRows, kLength, vocab}, std::as_bytes(std::span(values))}};
  return writeSafeTensors(path, tensors);
}

/// Families differ in what starts as zeros or ones: take other values.
void changeVectors(ModelRun &run) {
  for (ModelRun::Part &part : run.parts)
    for (const TensorSpec &tensor : part.spec.tensors)
      if (tensor.shape.size() == 1)
        for (std::uint64_t index = 0; index < tensor.elements(); ++index)
          static_cast<float *>(part.weights.data())[tensor.offset + index] +=
              0.3f * std::sin(float(index * index % 101));
}

Status exportModel(const std::string &directory, const std::string &logits,
                   const std::string &family) {
  const ModelConfig config{.family = family == "qwen2"   ? ModelFamily::Qwen2
                                     : family == "qwen3" ? ModelFamily::Qwen3
                                                         : ModelFamily::Llama,
                           .layers = 5,
                           .hidden = 48,
                           .heads = 6,
                           .kvHeads = 2,
                           .headWidth = 14,
                           .ffn = 58,
                           .vocab = 75,
                           .ropeTheta = 20000,
                           .normEpsilon = 2e-5,
                           .tiedHead = family == "qwen2"};
  ModelRun run(config, 3, {kRows * kLength, kRows, kLength}, *nativeKernels(config.type), 7);
  // A few steps, so that norms are not ones and logits not all alike.
  const std::vector<Batch> batches{randomBatch({kLength, kLength}, config.vocab, 1)};
  for (int step = 0; step < 30; ++step)
    run.step(batches, ModelRun::Backward::Combined);
  changeVectors(run);

  std::vector<StageSpec> specs;
  for (const ModelRun::Part &part : run.parts) {
    const auto written = exportShard(directory, config, part.spec, std::uint32_t(specs.size()),
                                     std::uint32_t(run.parts.size()), part.weights.data());
    if (!written.ok())
      return written.status();
    specs.push_back(part.spec);
  }
  if (Status status = exportCommit(directory, config, specs, kLength); !status.ok())
    return status;
  return writeLogits(run, config.vocab, logits);
}

} // namespace
} // namespace vime

int main(int count, char **arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: export_model EXPORT LOGITS llama|qwen2|qwen3\n");
    return 2;
  }
  const vime::Status status = vime::exportModel(arguments[1], arguments[2], arguments[3]);
  if (!status.ok())
    std::fprintf(stderr, "export_model: %s\n", status.message().c_str());
  return status.exitCode();
}
