// TorchTable: an order in PyTorch's notation, for those verbs that print one.
#pragma once

#include <string>

#include "compiler/Driver/Output.h"
#include "schedules/Schedule.h"

namespace vime {

/// Prints it, `with` the `transfers` or `shards` of PyTorch's lowering, or reports that PyTorch has
/// no word for the order of that name. The exit code.
int printTorchTable(const std::string &name, const Schedule &order, const std::string &with,
                    const OutputOptions &output);

} // namespace vime
