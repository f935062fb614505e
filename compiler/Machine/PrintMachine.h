// printMachine: a machine as its file says it; readMachine reads the same from it.
#pragma once

#include <string>

#include "compiler/Machine/Machine.h"

namespace vime {

std::string printMachine(const Machine &machine);

/// {"format": "vime-machine", "format_version": 1, "name", "figures": [{path, value, unit, text,
/// source}], "measured"?: {source, model, microbatch, times: [{of, what, seconds, spread}]}}
std::string machineJson(const Machine &machine);

} // namespace vime
