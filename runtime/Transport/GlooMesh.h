// Gloo mesh: the TCP connections of one rank, only those that its plan uses.
//
// Gloo's own `connectFullMesh` joins every rank with every other; here each rank meets its peers in
// the plan's connect rounds: one at a time, and each pair at the same place of both lists, so that
// nobody waits for a peer that is waiting for somebody else. Addresses are left in the store.
#pragma once

#include <memory>

#include "runtime/Transport/GlooPlugin.h"
#include "runtime/Transport/GlooThread.h"

namespace gloo::transport {
class Context;
} // namespace gloo::transport

namespace vime {

class GlooMesh {
public:
  GlooMesh(std::shared_ptr<gloo::transport::tcp::Device> device, int rank, int size);

  /// Gloo's errors, converted.
  Status join(const GlooRendezvous &rendezvous);

  std::unique_ptr<gloo::transport::UnboundBuffer> buffer(void *data, std::size_t bytes);

  /// Where messages are started, and nowhere else.
  GlooThread &thread() { return starter; }

  /// Starts no more messages and closes every connection: waits of this rank fail now, those of its
  /// peers when they see the end of the stream.
  void close();

private:
  Status meet(const GlooRendezvous &rendezvous, std::uint32_t peer);

  const std::shared_ptr<gloo::transport::tcp::Device> device; // runs Gloo's thread
  const std::shared_ptr<gloo::transport::Context> context;
  GlooThread starter;
};

} // namespace vime
