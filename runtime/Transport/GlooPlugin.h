// Gloo plug-in: opens libvime_gloo.so, the only library of vime that links Gloo, when a run asks
// for `--transport gloo` (runtime/Base/Plugin.h).
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "runtime/Base/Plugin.h"
#include "runtime/Transport/TcpStore.h"
#include "runtime/Transport/Transport.h"

namespace vime {

/// What a rank needs to find its peers over Gloo.
struct GlooRendezvous {
  TcpStore &store;                  // where ranks leave their addresses
  std::string address;              // numeric, of this machine: where peers reach this rank
  std::vector<std::uint32_t> peers; // ranks to connect to, in the order of the connect rounds
  Deadline deadline;                // for the start
  std::chrono::milliseconds limit;  // for one transfer
};

/// Connects this rank with its peers. `Unacceptable` when the plug-in is missing, `RankFailed` when
/// a peer does not come.
StatusOr<std::unique_ptr<Transport>> connectGloo(const RankEnds &ends,
                                                 const GlooRendezvous &rendezvous);

/// The plug-in's one function, and what its other symbol must be.
using GlooEntry = Transport *(*)(const RankEnds &ends, const GlooRendezvous &rendezvous,
                                 Status &status);
constexpr const char *kGlooEntry = "vimeConnectGloo", *kGlooInterfaceSymbol = "vimeGlooInterface";
constexpr std::uint64_t kGlooInterface =
    interfaceOf<RankEnds, End, GlooRendezvous, Payload, Transport, Status>(1);

} // namespace vime
