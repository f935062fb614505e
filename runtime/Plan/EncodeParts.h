// EncodeParts: a plan cut into the parts of its file.
#pragma once

#include "runtime/Plan/Container.h"

namespace vime::plan {

PlanParts encodeParts(const Plan &plan);

/// The tensors part: nothing that the models do not say already, written down so that a plan
/// explains itself.
flatbuffers::DetachedBuffer encodeTensors(const Plan &plan);

} // namespace vime::plan
