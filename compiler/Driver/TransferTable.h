// TransferTable: what slots for received messages are worth to each order: `vimec schedules
// --slots`.
#pragma once

#include <string>

#include "schedules/TransferComparison.h"

namespace vime {

std::string transferText(const ComparedShape &shape, const std::vector<ComparedTransfers> &all);
std::string transferJson(const ComparedShape &shape, const std::vector<ComparedTransfers> &all);

} // namespace vime
