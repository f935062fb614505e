// Interfaces: network interfaces of this machine by name.
#pragma once

#include <string>

#include "runtime/Base/Status.h"

namespace vime {

/// The numeric address of an interface, IPv4 before IPv6. `Usage` when there is none, naming those
/// that are there.
StatusOr<std::string> addressOfInterface(const std::string &name);

} // namespace vime
