#include "runtime/Transport/GlooPlugin.h"

#include "runtime/Base/Plugin.h"
#include "runtime/Transport/Ends.h"

namespace vime {

StatusOr<std::unique_ptr<Transport>> connectGloo(const RankEnds &ends,
                                                 const GlooRendezvous &rendezvous) {
  if (Status status = checkCaps(ends); !status.ok())
    return status;
  StatusOr<void *> entry = openPlugin({.what = "the transport `gloo` is",
                                       .file = "libvime_gloo.so",
                                       .entry = kGlooEntry,
                                       .interfaceSymbol = kGlooInterfaceSymbol,
                                       .interfaceIs = kGlooInterface});
  if (!entry.ok())
    return entry.status();
  Status status;
  std::unique_ptr<Transport> transport(
      reinterpret_cast<GlooEntry>(*entry)(ends, rendezvous, status));
  if (!transport)
    return status;
  return transport;
}

} // namespace vime
