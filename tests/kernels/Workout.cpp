// Every kernel on awkward sizes, as bytes.
#include "tests/kernels/Workout.h"

#include "kernels/Workspace.h"
#include "tests/Conformance/CachedAttention.h"
#include "tests/Conformance/SlicedAttention.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace vime {
namespace {

using Bytes = std::vector<std::byte>;

/// Makes the tensors of one workout, each with a seed of its own, and collects what they hold
/// after.
class Bench {
public:
  Bench(const Kernels &kernels, Placement placement)
      : kernels(kernels), type(kernels.type()), placement(placement) {}

  Tensor matrix(std::int64_t rows, std::int64_t columns, double scale = 1) {
    return Tensor(type, rows, columns, placement.gap, placement.misalignment)
        .randomize(++seed, scale);
  }
  Tensor vector(std::int64_t count, double scale = 1) {
    return Tensor(type, 1, count, 0, placement.misalignment).randomize(++seed, scale);
  }
  Tensor weight(std::int64_t rows, std::int64_t columns) {
    return Tensor(type, rows, columns, 0, placement.misalignment).randomize(++seed);
  }
  /// Contiguous, of what is not rounded to the kernels' type.
  Tensor sums(std::int64_t rows, std::int64_t columns, double scale = 1) {
    return Tensor(kernels.sumType(), rows, columns, 0, placement.misalignment)
        .randomize(++seed, scale);
  }
  Workspace workspace(std::size_t size) const {
    return Workspace(size, std::size_t(placement.misalignment) * sizeOf(type));
  }

  const Kernels &kernels;
  const DataType type;

private:
  Placement placement;
  std::uint64_t seed = 0;
};

Bytes together(std::initializer_list<const Tensor *> tensors) {
  Bytes all;
  for (const Tensor *tensor : tensors) {
    const Bytes one = tensor->bytes();
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

Bytes together(double value, const Tensor &tensor) {
  Bytes all(sizeof value);
  std::memcpy(all.data(), &value, sizeof value);
  const Bytes rest = tensor.bytes();
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

Bytes linear(Bench bench, const Linear &linear) {
  Tensor x = bench.matrix(linear.tokens, linear.inputs),
         w = bench.weight(linear.outputs, linear.inputs);
  Tensor y = bench.matrix(linear.tokens, linear.outputs), dx = x,
         dw = bench.sums(linear.outputs, linear.inputs);
  Workspace workspace = bench.workspace(linearWorkspace(bench.type, linear));
  linearForward(bench.kernels, linear, x.matrix(), w.data(), y.matrix(), y.matrix(),
                workspace.poisoned());
  linearBackwardInput(bench.kernels, linear, y.matrix(), w.data(), kNoMatrix, dx.matrix(),
                      workspace.poisoned());
  linearBackwardWeight(bench.kernels, linear, y.matrix(), x.matrix(), true, dw.data(),
                       workspace.poisoned());
  return together({&y, &dx, &dw});
}

Bytes rmsNorm(Bench bench, std::int64_t tokens, std::int64_t width) {
  const RmsNorm norm{tokens, width, 1e-5};
  Tensor x = bench.matrix(tokens, width), w = bench.vector(width), dy = bench.matrix(tokens, width),
         dx = bench.matrix(tokens, width);
  Tensor y = x, r = bench.sums(1, tokens), dw = bench.sums(1, width);
  bench.kernels.rmsNormForward(norm, x.matrix(), w.data(), y.matrix(), r.data());
  bench.kernels.rmsNormBackward(norm, x.matrix(), w.data(), r.data(), dy.matrix(), dx.matrix(),
                                dx.matrix(), dw.data());
  return together({&y, &r, &dx, &dw});
}

Bytes columnSums(Bench bench, std::int64_t tokens, std::int64_t width) {
  const Tensor x = bench.matrix(tokens, width);
  Tensor sums = bench.sums(1, width);
  bench.kernels.columnSums(tokens, width, x.matrix(), /*accumulate=*/true, sums.data());
  return together({&sums});
}

Bytes swiglu(Bench bench, std::int64_t tokens, std::int64_t ffn) {
  Tensor gateUp = bench.matrix(tokens, 2 * ffn, 5), ds = bench.matrix(tokens, ffn), s = ds;
  bench.kernels.swigluForward(tokens, ffn, gateUp.matrix(), s.matrix());
  bench.kernels.swigluBackward(tokens, ffn, gateUp.matrix(), ds.matrix(), ds.matrix());
  return together({&s, &ds, &gateUp});
}

Bytes crossEntropy(Bench bench, std::int64_t tokens, std::int64_t vocabulary) {
  Tensor logits = bench.matrix(tokens, vocabulary, 10);
  std::vector<std::int32_t> labels;
  for (std::int64_t token = 0; token < tokens; ++token)
    labels.push_back(token % 5 == 4 ? -1 : std::int32_t(token * 7 % vocabulary));
  const double loss =
      bench.kernels.crossEntropy(tokens, vocabulary, logits.matrix(), labels.data(), 1. / 3);
  return together(loss, logits);
}

Bytes policy(Bench bench, std::int64_t tokens, std::int64_t vocabulary, bool hasEntropy) {
  Tensor logits = bench.matrix(tokens, vocabulary, 10);
  std::vector<std::int32_t> labels;
  std::vector<double> slopes, entropies(std::size_t(tokens), 0.);
  for (std::int64_t token = 0; token < tokens; ++token) {
    labels.push_back(token % 5 == 4 ? -1 : std::int32_t(token * 7 % vocabulary));
    slopes.push_back(double(token) / 3 - 1);
  }
  bench.kernels.entropies(tokens, vocabulary, logits.matrix(), entropies.data());
  bench.kernels.logProbabilitiesBackward(tokens, vocabulary, logits.matrix(), labels.data(),
                                         slopes.data(), hasEntropy ? slopes.data() : nullptr);
  Bytes all = together({&logits});
  for (const double entropy : entropies) {
    const auto *bytes = reinterpret_cast<const std::byte *>(&entropy);
    all.insert(all.end(), bytes, bytes + sizeof entropy);
  }
  return all;
}

Bytes rope(Bench bench, const std::vector<std::int32_t> &offsets, std::int32_t width) {
  Tensor table = bench.sums(offsets.back(), width), x = bench.matrix(offsets.back(), 3 * width);
  bench.kernels.ropeTable(offsets.back(), width, 1e4, table.data());
  bench.kernels.rope({offsets.data(), std::int32_t(offsets.size()) - 1}, 3, width, table.data(),
                     false, x.matrix());
  return together({&table, &x});
}

Bytes attend(Bench bench, const Attention &attention, const std::vector<std::int32_t> &offsets) {
  const Segments segments{offsets.data(), std::int32_t(offsets.size()) - 1};
  const std::int64_t tokens = segments.tokens();
  Tensor qkv = bench.matrix(tokens, attention.qkvWidth(), 2),
         out = bench.matrix(tokens, attention.queryWidth()),
         dOut = bench.matrix(tokens, attention.queryWidth());
  Tensor lse = bench.sums(tokens, attention.heads);
  Workspace workspace = bench.workspace(attentionWorkspace(bench.type, attention, tokens));
  bench.kernels.attentionForward(attention, segments, {}, qkv.matrix(), out.matrix(), lse.data(),
                                 workspace.poisoned());
  bench.kernels.attentionBackward(attention, segments, {}, qkv.matrix(), out.matrix(),
                                  dOut.matrix(), lse.data(), workspace.poisoned());
  return together({&out, &lse, &qkv});
}

Bytes attendInSlices(Bench bench, const SlicedAttention &sliced) {
  const Tensor qkv = bench.matrix(sliced.rows(), sliced.attention.qkvWidth(), 2),
               dOut = bench.matrix(sliced.rows(), sliced.attention.queryWidth());
  const auto results = sliced.run(bench.kernels, KernelLibrary::Native, qkv, dOut);
  return together({&results.out, &results.lse, &results.gradient});
}

Bytes attendWithCache(Bench bench, const Attention &attention) {
  const Tensor qkv = bench.matrix(150, attention.qkvWidth(), 2);
  const Tensor out = CachedAttention{attention, 160}.run(bench.kernels, KernelLibrary::Native, qkv,
                                                         {1, 20, 1, 105, 1, 1, 21});
  return together({&out});
}

Bytes softmax(Bench bench, std::int64_t tokens, std::int64_t vocabulary) {
  const Tensor logits = bench.matrix(tokens, vocabulary, 10);
  Tensor weights = bench.sums(tokens, vocabulary);
  std::vector<std::int32_t> labels;
  for (std::int64_t token = 0; token < tokens; ++token)
    labels.push_back(std::int32_t(token * 7 % vocabulary));
  std::vector<double> found(static_cast<std::size_t>(tokens));
  bench.kernels.softmaxWeights(tokens, vocabulary, logits.matrix(), 0.7, weights.matrix());
  bench.kernels.logProbabilities(tokens, vocabulary, logits.matrix(), labels.data(), found.data());
  Bytes all = together({&weights});
  for (const double value : found) {
    const auto *bytes = reinterpret_cast<const std::byte *>(&value);
    all.insert(all.end(), bytes, bytes + sizeof value);
  }
  return all;
}

Bytes vectors(Bench bench, std::int64_t count) {
  Tensor x = bench.sums(1, count), y = bench.sums(1, count), rounded = bench.vector(count);
  bench.kernels.add(count, y.data(), x.data());
  bench.kernels.scale(count, 1. / 3, x.data());
  bench.kernels.round(count, x.data(), rounded.data());
  Bytes all = x.bytes();
  const Bytes rest = rounded.bytes();
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

Bytes embedding(Bench bench, std::int64_t width) {
  const std::vector<std::int32_t> ids = {2, 0, 2, 6, 2};
  Tensor table = bench.weight(7, width), out = bench.matrix(5, width),
         gradient = bench.sums(7, width);
  bench.kernels.embeddingForward(5, width, table.data(), ids.data(), out.matrix());
  bench.kernels.embeddingBackward(5, width, ids.data(), out.matrix(), gradient.data());
  return together({&out, &gradient});
}

Bytes adamw(Bench bench, std::int64_t count) {
  Tensor p = bench.sums(1, count), g = bench.sums(1, count), m = bench.sums(1, count, 0.1),
         v = bench.sums(1, count), rounded = bench.vector(count);
  v.fill([&](std::int64_t row, std::int64_t column) { return std::abs(g.get(row, column)) * 0.3; });
  bench.kernels.adamw({.learningRate = 1e-3,
                       .weightDecay = 0.01,
                       .beta1 = 0.9,
                       .beta2 = 0.999,
                       .epsilon = 1e-8,
                       .biasCorrection1 = 0.271,
                       .biasCorrection2 = 0.003,
                       .gradientScale = 0.7},
                      count, g.data(), p.data(), m.data(), v.data(), rounded.data());
  return together({&p, &m, &v, &rounded});
}

Bytes initialize(Bench bench, Initializer::Kind kind, std::int64_t count) {
  Tensor x = bench.sums(1, count);
  bench.kernels.initialize({kind, 0, 0.02, 11, 13}, 5, count, x.data());
  return together({&x});
}

template <typename... Numbers> std::string named(const char *kernel, Numbers... numbers) {
  std::string name = kernel;
  ((name += ' ' + std::to_string(numbers)), ...);
  return name;
}

template <typename Function>
void addTo(std::vector<Workout> &all, std::string name, Function function) {
  all.push_back({std::move(name), [function](const Kernels &kernels, Placement placement) {
                   return function(Bench(kernels, placement));
                 }});
}

} // namespace

std::vector<Workout> workouts() {
  std::vector<Workout> all;
  for (const Linear size : {Linear{1, 1, 1},
                            {1, 20, 20},
                            {7, 20, 51},
                            {7, 51, 20},
                            {33, 20, 259},
                            {19, 130, 17},
                            {130, 33, 31},
                            {300, 8, 24},
                            {5, 257, 65},
                            {16, 700, 33, true},
                            {7, 33, 51, true},
                            {75, 130, 70, true},
                            {193, 40, 37, true},
                            {530, 259, 120}})
    addTo(all, named("linear", size.tokens, size.inputs, size.outputs, size.hasFewTokens),
          [=](Bench bench) { return linear(bench, size); });
  for (const std::int64_t width : {1, 5, 15, 16, 17, 20, 51, 64, 100, 259}) {
    addTo(all, named("rms norm", width), [=](Bench bench) { return rmsNorm(bench, 7, width); });
    addTo(all, named("column sums", width),
          [=](Bench bench) { return columnSums(bench, 7, width); });
    addTo(all, named("swiglu", width), [=](Bench bench) { return swiglu(bench, 7, width); });
    addTo(all, named("cross-entropy", width),
          [=](Bench bench) { return crossEntropy(bench, 9, width); });
    for (const bool hasEntropy : {false, true})
      addTo(all, named("policy", width, hasEntropy),
            [=](Bench bench) { return policy(bench, 9, width, hasEntropy); });
    addTo(all, named("softmax", width), [=](Bench bench) { return softmax(bench, 9, width); });
    addTo(all, named("vectors", width), [=](Bench bench) { return vectors(bench, width); });
    addTo(all, named("embedding", width), [=](Bench bench) { return embedding(bench, width); });
    addTo(all, named("adamw", width), [=](Bench bench) { return adamw(bench, width); });
    for (const auto kind : {Initializer::Kind::Normal, Initializer::Kind::Uniform})
      addTo(all, named("initialize", int(kind), width),
            [=](Bench bench) { return initialize(bench, kind, width); });
  }
  const std::vector<std::int32_t> segments[] = {
      {0, 1}, {0, 7}, {0, 31, 33}, {0, 20, 20, 140}, {0, 300}};
  for (const std::int32_t width : {2, 4, 6, 8, 10, 16, 18, 20, 32, 34, 64, 132}) {
    addTo(all, named("attention in slices", width),
          [=](Bench bench) { return attendInSlices(bench, {{2, 1, width}, 2, 84, 3}); });
    for (const std::int32_t keyHeads : {1, 3})
      addTo(all, named("attention with a cache", keyHeads, width),
            [=](Bench bench) { return attendWithCache(bench, {3, keyHeads, width}); });
    for (const auto &offsets : segments) {
      addTo(all, named("rope", offsets.back(), width),
            [=](Bench bench) { return rope(bench, offsets, width); });
      addTo(all, named("attention", offsets.back(), width),
            [=](Bench bench) { return attend(bench, {2, 1, width}, offsets); });
    }
  }
  return all;
}

} // namespace vime
