// fitParts: from how long stages of different sizes took to what a layer, the embedding and the
// head take.
//
//   fitParts({{.range = {0, 4, true, false}, .seconds = 0.021}, {…}}, work)   // .layer, .head, …
//
// Least squares: a stage takes its layers times a layer, and its ends. Where a plan has too few
// different stages to tell ends from layers, or stages vary by more than an end takes, ends are
// taken in the proportion of their work; so is a part that no stage has.
#pragma once

#include <span>

#include "compiler/Machine/Work.h"
#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

struct StageTime {
  StageRange range;
  double seconds = 0;
  double spread = 0; // how far off it may be, relative to itself
};

struct FittedParts {
  double layer = 0, embedding = 0, head = 0; // seconds
};

/// `work` of the three parts; a part without any takes nothing (`weightsOf`). All without: nobody
/// knows the model, the ends are taken for a layer each where nothing else can be told.
FittedParts fitParts(std::span<const StageTime> stages, const PartWork &work);

} // namespace vime
