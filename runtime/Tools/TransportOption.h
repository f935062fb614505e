// TransportOption: the value of `--transport`.
#pragma once

#include <optional>
#include <string>

#include "runtime/Transport/RendezvousTransport.h"

namespace vime {

/// `rendezvous`: queues as the plan has them; `:merged`: one a rank; `:SEED`: shared at random.
/// Nothing when it is none of these.
std::optional<QueueMerging> parseRendezvous(const std::string &transport);

/// What is wrong with the name of a transport, and on a second line what it may be; empty when
/// nothing is.
std::string objectionToTransport(const std::string &name);

} // namespace vime
