// Gloo plug-in: opens libvime_gloo.so, the only library of vime that links Gloo, when a run asks
// for `--transport gloo`.
//
// It lies in the folder of the executable or in ../lib beside it. RTLD_LOCAL keeps its symbols
// apart from the newer Gloo inside LibTorch.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "runtime/Transport/Transport.h"

namespace vime {

/// What a rank needs to find its peers over Gloo.
struct GlooRendezvous {
  std::string store;                // folder that all ranks see and nobody else writes to
  std::string planId;               // as text; a peer that publishes another one is refused by name
  std::vector<std::uint32_t> peers; // ranks to connect to, in the order of the connect rounds
  std::chrono::milliseconds connectLimit; // for the start
  std::chrono::milliseconds limit;        // for one transfer
};

/// Connects this rank with its peers. `Unacceptable` when the plug-in is missing or a peer runs
/// another plan, `RankFailed` when one does not come.
StatusOr<std::unique_ptr<Transport>> connectGloo(const RankEnds &ends,
                                                 const GlooRendezvous &rendezvous);

/// The plug-in's one symbol.
using GlooEntry = Transport *(*)(const RankEnds &ends, const GlooRendezvous &rendezvous,
                                 Status &status);
constexpr const char *kGlooEntry = "vimeConnectGloo";

} // namespace vime
