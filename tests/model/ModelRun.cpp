#include "tests/model/ModelRun.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/SquareSum.h"
#include "runtime/ModelSpec/PolicyWorkspace.h"
#include "runtime/ModelSpec/StageRegions.h"
#include "tests/model/Values.h"

namespace vime {

Batch randomBatch(const std::vector<std::int32_t> &lengths, std::uint32_t vocab,
                  std::uint64_t seed) {
  std::uint64_t state = seed * 2654435761u + 1;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return std::int32_t((state >> 33) % vocab);
  };
  Batch batch{.offsets = {0}};
  for (std::int32_t length : lengths) {
    std::int32_t token = next();
    for (std::int32_t place = 0; place < length; ++place) {
      batch.tokens.push_back(token);
      token = next();
      batch.labels.push_back(token);
    }
    batch.offsets.push_back(batch.offsets.back() + length);
  }
  return batch;
}

std::vector<Batch> slicesOf(const Batch &batch, std::int32_t slices) {
  std::vector<Batch> parts;
  const std::int32_t length = batch.offsets[1] / slices;
  for (std::int32_t slice = 0; slice < slices; ++slice) {
    Batch &part = parts.emplace_back(Batch{.offsets = {0}, .first = slice * length});
    for (std::size_t segment = 0; segment + 1 < batch.offsets.size(); ++segment) {
      const std::int32_t begin = batch.offsets[segment] + slice * length;
      part.tokens.insert(part.tokens.end(), batch.tokens.begin() + begin,
                         batch.tokens.begin() + begin + length);
      part.labels.insert(part.labels.end(), batch.labels.begin() + begin,
                         batch.labels.begin() + begin + length);
      part.offsets.push_back(part.offsets.back() + length);
    }
  }
  return parts;
}

namespace {

double labelsOf(const Batch &batch) {
  return double(std::count_if(batch.labels.begin(), batch.labels.end(),
                              [](std::int32_t label) { return label >= 0; }));
}

} // namespace

ModelRun::ModelRun(const ModelConfig &config, std::uint32_t stages, MicrobatchCaps caps,
                   const Kernels &kernels, std::uint64_t seed)
    : config(config), caps(caps), kernels(kernels), policySpace(policyWorkspace(config, caps)) {
  for (StageRange range : splitLayers(config, stages)) {
    const StageSpec spec = stageSpec(config, range, caps);
    auto stage = makeStage(config, range, caps, kernels);
    if (!stage.ok())
      std::abort();
    parts.push_back({spec, std::move(*stage), GuardedRegion(spec.weightBytes),
                     GuardedRegion(spec.gradientBytes), GuardedRegion(spec.momentBytes),
                     GuardedRegion(spec.range.head ? spec.tiedGradientBytes : 0),
                     GuardedRegion(spec.forwardWorkspace), GuardedRegion(spec.backwardWorkspace),
                     GuardedRegion(spec.backwardInputWorkspace),
                     GuardedRegion(spec.backwardWeightWorkspace), GuardedRegion(spec.contextBytes),
                     GuardedRegion(spec.contextGradientBytes)});
    Part &part = parts.back();
    vime::initialize(kernels, spec, seed, part.weights.data(), part.moments.data());
  }
  slots.push_back(makeSlot());
}

std::vector<ModelRun::Kept> ModelRun::makeSlot() const {
  std::vector<Kept> slot;
  for (const Part &part : parts) {
    const std::size_t boundary = std::size_t(part.spec.boundaryBytesPerToken) * caps.tokens;
    slot.push_back({GuardedRegion(part.spec.stashBytes), GuardedRegion(part.spec.weightStashBytes),
                    GuardedRegion(part.spec.range.head ? 0 : boundary),
                    GuardedRegion(part.spec.range.embedding ? 0 : boundary)});
  }
  return slot;
}

const void *ModelRun::inputOf(const Batch &batch, std::size_t stage, std::size_t slot) const {
  return stage == 0 ? batch.tokens.data() : slots[slot][stage - 1].output.data();
}

void ModelRun::pass(const Batch &batch, std::size_t slot) {
  while (slots.size() <= slot)
    slots.push_back(makeSlot());
  for (std::size_t stage = 0; stage < parts.size(); ++stage) {
    Part &part = parts[stage];
    Kept &kept = slots[slot][stage];
    poison({&kept.stash, &kept.output, &part.forwardSpace});
    if (batch.first == 0)
      poison({&part.context});
    part.stage->forward(batch.segments(),
                        {.input = inputOf(batch, stage, slot),
                         .weights = part.weights.data(),
                         .stash = kept.stash.data(),
                         .output = part.spec.range.head ? nullptr : kept.output.data(),
                         .workspace = part.forwardSpace.data(),
                         .tiedWeights = tiedWeights(),
                         .context = part.context.data()});
  }
}

double ModelRun::forward(const Batch &batch, std::size_t slot) {
  pass(batch, slot);
  double loss = 0;
  parts.back().stage->loss(
      batch.segments(),
      {.labels = batch.labels.data(), .stash = slots[slot].back().stash.data(), .loss = &loss});
  return loss;
}

plan::PolicyNumbers ModelRun::policyLoss(const PolicyBatch &batch,
                                         const PolicyLossSettings &settings, std::size_t slot) {
  poison({&policySpace});
  plan::PolicyNumbers numbers;
  parts.back().stage->policyLoss(batch.segments(),
                                 {.labels = batch.labels.data(),
                                  .advantages = batch.advantages.data(),
                                  .old = batch.old.data(),
                                  .sampled = batch.sampled.data(),
                                  .denominators = batch.denominators.data(),
                                  .reference = settings.kl ? batch.reference.data() : nullptr,
                                  .stash = slots[slot].back().stash.data(),
                                  .numbers = &numbers,
                                  .workspace = policySpace.data()},
                                 settings);
  return numbers;
}

std::vector<double> ModelRun::logProbabilities(const Batch &batch, std::size_t slot) const {
  std::vector<double> found(batch.labels.size());
  parts.back().stage->logProbabilities(batch.segments(), {.labels = batch.labels.data(),
                                                          .stash = slots[slot].back().stash.data(),
                                                          .logProbabilities = found.data()});
  return found;
}

void ModelRun::backward(const Batch &batch, bool overwrite, Backward kind, std::size_t slot) {
  for (std::size_t stage = parts.size(); stage-- > 0;) {
    Part &part = parts[stage];
    Kept &kept = slots[slot][stage];
    const void *above =
        part.spec.range.head ? nullptr : slots[slot][stage + 1].inputGradient.data();
    void *below = part.spec.range.embedding ? nullptr : kept.inputGradient.data();
    const void *input = inputOf(batch, stage, slot), *weights = part.weights.data();
    poison({&kept.weightStash, &kept.inputGradient, &part.backwardSpace, &part.inputSpace,
            &part.weightSpace});
    if (overwrite)
      poison({&part.gradients, &part.tiedGradients});
    if (batch.first + caps.segmentTokens / caps.slices == caps.segmentTokens)
      poison({&part.contextGradients});
    if (kind == Backward::Combined) {
      part.stage->backward(batch.segments(), overwrite,
                           {above, input, weights, kept.stash.data(), part.gradients.data(), below,
                            part.backwardSpace.data(), tiedWeights(), tiedGradients(),
                            part.context.data(), part.contextGradients.data()});
      continue;
    }
    part.stage->backwardInput(batch.segments(),
                              {above, input, weights, kept.stash.data(), kept.weightStash.data(),
                               below, part.inputSpace.data(), tiedWeights(), part.context.data(),
                               part.contextGradients.data()});
    part.stage->backwardWeight(batch.segments(), overwrite,
                               {above, input, weights, kept.stash.data(), kept.weightStash.data(),
                                part.gradients.data(), part.weightSpace.data(), tiedGradients()});
  }
}

void ModelRun::addTiedGradients() {
  if (config.tiedHead)
    addTied(kernels, parts[0].spec, tiedGradients(), parts[0].gradients.data());
}

void ModelRun::poison(std::initializer_list<GuardedRegion *> regions) const {
  if (poisoning)
    for (GuardedRegion *region : regions)
      region->poison();
}

double ModelRun::step(std::span<const Batch> batches, Backward kind) {
  double loss = 0, labels = 0;
  for (std::size_t slot = 0; slot < batches.size(); ++slot) {
    loss += forward(batches[slot], slot);
    labels += labelsOf(batches[slot]);
  }
  for (std::size_t slot = 0; slot < batches.size(); ++slot)
    backward(batches[slot], slot == 0, kind, slot);
  addTiedGradients();
  update(labels);
  return loss / labels;
}

double ModelRun::pairedStep(std::span<const Batch> batches) {
  double loss = 0, labels = 0;
  for (const Batch &batch : batches) {
    loss += forward(batch);
    labels += labelsOf(batch);
    backward(batch, &batch == &batches.front(), Backward::Combined);
  }
  addTiedGradients();
  update(labels);
  return loss / labels;
}

double ModelRun::slicedStep(std::span<const Batch> batches, Backward kind) {
  double loss = 0, labels = 0;
  bool overwrite = true;
  for (const Batch &batch : batches) {
    const std::vector<Batch> parts = slicesOf(batch, std::int32_t(caps.slices));
    for (std::size_t slice = 0; slice < parts.size(); ++slice)
      loss += forward(parts[slice], slice);
    for (std::size_t slice = parts.size(); slice-- > 0; overwrite = false)
      backward(parts[slice], overwrite, kind, slice);
    labels += labelsOf(batch);
  }
  addTiedGradients();
  update(labels);
  return loss / labels;
}

void ModelRun::update(double labels) {
  std::vector<double> squares;
  for (Part &part : parts) {
    const StageShare all = wholeOf(part.spec, kernels.type());
    scaleGradients(kernels, part.spec, all, labels, part.gradients.data());
    squares.resize(squares.size() + kSquareNumbers);
    squareNorm(kernels, part.spec, all, part.gradients.data(),
               squares.data() + squares.size() - kSquareNumbers);
  }
  const OptimizerStep step{.step = stepNumber++,
                           .learningRate = learningRate,
                           .beta1 = 0.9,
                           .beta2 = 0.999,
                           .epsilon = 1e-8,
                           .weightDecay = 0.01,
                           .gradientScale =
                               std::min(1.0, 1.0 / (std::sqrt(valueOfSquares(squares)) + 1e-6))};
  for (Part &part : parts)
    optimize(kernels, part.spec, wholeOf(part.spec, kernels.type()), step, part.gradients.data(),
             part.weights.data(), part.moments.data());
}

std::vector<double> ModelRun::logits(const Batch &batch) {
  pass(batch);
  const StageRegions regions = stageRegions(config, parts.back().spec.range, caps);
  const auto *start = static_cast<const std::byte *>(slots[0].back().stash.data()) + regions.logits;
  return doubles(start, batch.tokens.size() * config.vocab, config.type);
}

template <typename Address>
ModelRun::Tensors ModelRun::unfused(DataType type, Address addressOf) const {
  Tensors tensors;
  const std::uint64_t elementBytes = sizeOf(type);
  for (const Part &part : parts)
    for (const TensorSpec &tensor : part.spec.tensors)
      for (const SourceTensor &source : tensor.sources) {
        const std::uint64_t columns = tensor.elements() / tensor.shape.front();
        const auto *start = static_cast<const std::byte *>(addressOf(part)) +
                            (tensor.offset + source.row * columns) * elementBytes;
        tensors[source.name].assign(start, start + source.rows * columns * elementBytes);
      }
  return tensors;
}

ModelRun::Tensors ModelRun::weights() const {
  return unfused(config.type, [](const Part &part) { return part.weights.data(); });
}
ModelRun::Tensors ModelRun::gradients() const {
  return unfused(kernels.sumType(), [](const Part &part) { return part.gradients.data(); });
}
ModelRun::Tensors ModelRun::parameters() const {
  return unfused(kernels.sumType(), [](const Part &part) {
    return parametersOf(part.spec, part.weights.data(), part.moments.data());
  });
}

bool ModelRun::fencesIntact() const {
  for (const Part &part : parts)
    for (const GuardedRegion *region :
         {&part.weights, &part.gradients, &part.moments, &part.tiedGradients, &part.forwardSpace,
          &part.backwardSpace, &part.inputSpace, &part.weightSpace})
      if (!region->fencesIntact())
        return false;
  if (!policySpace.fencesIntact())
    return false;
  for (const std::vector<Kept> &slot : slots)
    for (const Kept &kept : slot)
      for (const GuardedRegion *region :
           {&kept.stash, &kept.weightStash, &kept.output, &kept.inputGradient})
        if (!region->fencesIntact())
          return false;
  return true;
}

} // namespace vime
