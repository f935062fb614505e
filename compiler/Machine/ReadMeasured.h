// readMeasured: the section `measured` of the file of a machine.
#pragma once

#include "compiler/Machine/NodeReader.h"

namespace vime {

/// What is wrong with it is reported.
Measurements readMeasured(const Entry &section, NodeReader &reader);

} // namespace vime
