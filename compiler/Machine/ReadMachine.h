// readMachine: the text of a machine's file to a Machine, or to everything that is wrong with it.
//
//   Findings findings;
//   std::optional<Machine> machine = readMachine(text, "machine.yaml", findings);
//
// As strict as a job: unknown keys, wrong units, figures without a source are errors at their
// place.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Machine/Machine.h"

namespace vime {

/// A machine if and only if nothing was found. `file` names the text in messages.
std::optional<Machine> readMachine(std::string_view text, const std::string &file,
                                   Findings &findings);

} // namespace vime
