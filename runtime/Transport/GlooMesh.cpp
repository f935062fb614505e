#include "runtime/Transport/GlooMesh.h"

#include <fmt/format.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/unbound_buffer.h>

namespace vime {
namespace {

std::string addressKey(int from, std::uint32_t to) {
  return fmt::format("address/{}/{}", from, to);
}
std::string planKey(std::uint32_t rank) { return fmt::format("plan/{}", rank); }

} // namespace

GlooMesh::GlooMesh(std::shared_ptr<gloo::transport::Device> device, int rank, int size)
    : device(std::move(device)), context(this->device->createContext(rank, size)) {}

std::unique_ptr<gloo::transport::UnboundBuffer> GlooMesh::buffer(void *data, std::size_t bytes) {
  return context->createUnboundBuffer(data, bytes);
}

void GlooMesh::close() {
  // The one public way to close all pairs of a context together, and to wake who waits: a wait that
  // times out.
  std::byte nothing{};
  try {
    buffer(&nothing, 1)->waitRecv(nullptr, std::chrono::milliseconds(1));
  } catch (const std::exception &) {
  }
}

Status GlooMesh::join(gloo::rendezvous::Store &store, const GlooRendezvous &rendezvous) {
  // A pair waits five times its limit for its peer.
  context->setTimeout(rendezvous.connectLimit / 5);
  for (const std::uint32_t peer : rendezvous.peers)
    store.set(addressKey(context->rank, peer),
              context->createPair(static_cast<int>(peer))->address().bytes());
  store.set(planKey(static_cast<std::uint32_t>(context->rank)),
            {rendezvous.planId.begin(), rendezvous.planId.end()});
  for (const std::uint32_t peer : rendezvous.peers)
    if (Status status = meet(store, rendezvous, peer); !status.ok())
      return status;
  return Status();
}

Status GlooMesh::meet(gloo::rendezvous::Store &store, const GlooRendezvous &rendezvous,
                      std::uint32_t peer) {
  try {
    store.wait({planKey(peer)}, rendezvous.connectLimit);
    const std::vector<char> planId = store.get(planKey(peer));
    if (std::string(planId.begin(), planId.end()) != rendezvous.planId)
      return Status(StatusCode::Unacceptable,
                    fmt::format("rank {} runs another plan than rank {}", peer, context->rank));
    const std::string key =
        addressKey(static_cast<int>(peer), static_cast<std::uint32_t>(context->rank));
    store.wait({key}, rendezvous.connectLimit);
    context->getPair(static_cast<int>(peer))->connect(store.get(key));
  } catch (const std::exception &error) {
    return Status(StatusCode::RankFailed, fmt::format("rank {} did not connect to rank {}: {}",
                                                      peer, context->rank, error.what()));
  }
  return Status();
}

} // namespace vime
