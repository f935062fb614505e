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
};

constexpr Work operator+(Work one, Work other) {
  return {one.flops + other.flops, one.bytes + other.bytes};
}
constexpr Work operator*(double times, Work work) {
  return {times * work.flops, times * work.bytes};
}

/// Of one layer, of the embedding, and of the final norm with the head.
struct PartWork {
  Work layer, embedding, head;
  Work of(const StageRange &range) const {
    return static_cast<double>(range.end - range.first) * layer +
           (range.embedding ? 1.0 : 0.0) * embedding + (range.head ? 1.0 : 0.0) * head;
  }
};

/// Of tasks: of one microbatch that is as full as it can be; where samples pass in slices, of the
/// mean slice. Of updates: once a step, for a replica that keeps one of `sharers` shares. Nothing
/// for any other action, and for families that are no decoders.
PartWork workOf(const ModelConfig &config, const MicrobatchCaps &caps, plan::Opcode opcode,
                std::uint32_t sharers = 1);

} // namespace vime
