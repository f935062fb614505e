// Work: what an action of a decoder's stage has to do: floating-point operations of its products
// and of attention, and bytes that it reads and writes.
//
//   const PartWork work = workOf(config, caps, plan::Opcode::Forward);
//   work.of(range).flops        // 2 · parameters · tokens + attention
//
// A product of M × K and K × N is 2 M N K operations; attention counts the pairs of a query and a
// key that it may see. Elementwise kernels count by their bytes alone. Formulas: Work.cpp.
#pragma once

#include "runtime/ModelSpec/ModelSpec.h"
#include "runtime/Plan/Opcode.h"

namespace vime {

struct Work {
  double flops = 0, bytes = 0;
  bool operator==(const Work &) const = default;
};

constexpr Work operator+(Work one, Work other) {
  return {one.flops + other.flops, one.bytes + other.bytes};
}
constexpr Work operator*(double times, Work work) {
  return {times * work.flops, times * work.bytes};
}

/// One number for both, to compare parts by: operations, and where there are none, bytes, of which
/// machines move one in about the time of twenty operations.
constexpr double weightOf(Work work) { return work.flops > 0 ? work.flops : 20 * work.bytes; }

/// Of one layer, of the embedding, and of the final norm with the head.
struct PartWork {
  Work layer, embedding, head;
  Work of(const StageRange &range) const {
    return static_cast<double>(range.end - range.first) * layer +
           (range.embedding ? 1.0 : 0.0) * embedding + (range.head ? 1.0 : 0.0) * head;
  }
};

struct PartWeights {
  double layer = 0, embedding = 0, head = 0;
};

/// Of a model that nobody knows, a user's module, each part weighs the same.
constexpr PartWeights weightsOf(const PartWork &work) {
  const PartWeights weights = {weightOf(work.layer), weightOf(work.embedding), weightOf(work.head)};
  return weights.layer + weights.embedding + weights.head > 0 ? weights : PartWeights{1, 1, 1};
}

/// Of tasks: of one microbatch that is as full as it can be; where samples pass in slices, of the
/// mean slice. Of updates: once a step, for a replica that keeps one of `sharers` shares. Nothing
/// for any other action, and for families that are no decoders.
PartWork workOf(const ModelConfig &config, const MicrobatchCaps &caps, plan::Opcode opcode,
                std::uint32_t sharers = 1);

} // namespace vime
