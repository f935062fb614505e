// TiedHead: what a head that computes with the embedding's matrix adds to the programs.
//
// The embedding's stage owns the matrix: it alone scales, counts in the norm and optimizes it. The
// head's gradient adds up in a buffer of its own and is added to the embedding's once a step,
// before anything else happens to it. Where the two stages are on different ranks, the gradient
// travels to the embedding, and the new matrix back to a copy beside the head; on one rank the head
// reads the matrix where it lies. Sums are the same either way.
#pragma once

#include "compiler/Lowering/ProgramWriter.h"
#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

class TiedHead {
public:
  /// `first` is the spec of the embedding's stage. Does nothing for a model without a tied head.
  TiedHead(const ModelConfig &config, const StageSpec &first, ProgramWriter::End embedding,
           ProgramWriter::End head);

  /// Behind whatever writes the weights of the embedding.
  void shareWeights(ProgramWriter &programs) const;
  /// Between the last weight gradient of a step and what is done with the sum.
  void addGradients(ProgramWriter &programs) const;

private:
  bool tied, travels;
  ProgramWriter::End embedding, head;
  plan::Message weights, gradients;
};

} // namespace vime
