#include "compiler/Lowering/TiedHead.h"

#include "kernels/SumType.h"

namespace vime {

using namespace plan;

TiedHead::TiedHead(const ModelConfig &config, const StageSpec &first, ProgramWriter::End embedding,
                   ProgramWriter::End head)
    : tied(config.tiedHead), travels(embedding.rank != head.rank), embedding(embedding), head(head),
      weights{.type = config.type, .fixed = static_cast<std::uint32_t>(first.tiedWeightBytes)},
      gradients{.type = sumTypeOf(config.type),
                .fixed = static_cast<std::uint32_t>(first.tiedGradientBytes)} {}

void TiedHead::shareWeights(ProgramWriter &programs) const {
  if (tied && travels)
    programs.transfer(embedding, head, Flow::Weights, weights, BufferKind::TiedWeights);
}

void TiedHead::addGradients(ProgramWriter &programs) const {
  if (!tied)
    return;
  if (travels)
    programs.transfer(head, embedding, Flow::Weights, gradients, BufferKind::TiedGradients);
  programs.local(embedding.rank, Opcode::AddTied, embedding.chunk);
}

} // namespace vime
