#include "runtime/Transport/GlooMesh.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

namespace vime {
namespace {

std::string addressKey(int from, std::uint32_t to) {
  return fmt::format("address/{}/{}", from, to);
}

} // namespace

GlooMesh::GlooMesh(std::shared_ptr<gloo::transport::tcp::Device> device, int rank, int size)
    : device(std::move(device)), context(this->device->createContext(rank, size)),
      starter(this->device) {}

std::unique_ptr<gloo::transport::UnboundBuffer> GlooMesh::buffer(void *data, std::size_t bytes) {
  return context->createUnboundBuffer(data, bytes);
}

void GlooMesh::close() {
  starter.stop(); // closing waits for Gloo's thread, which must not wait for a connection meanwhile
  // The one public way to close all pairs of a context together, and to wake who waits: a wait that
  // times out.
  std::byte nothing{};
  try {
    buffer(&nothing, 1)->waitRecv(nullptr, std::chrono::milliseconds(1));
  } catch (const std::exception &) {
  }
}

Status GlooMesh::join(const GlooRendezvous &rendezvous) {
  try {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        rendezvous.deadline - std::chrono::steady_clock::now());
    // A pair waits five times its limit for its peer.
    context->setTimeout(std::max(left / 5, std::chrono::milliseconds(1)));
    for (const std::uint32_t peer : rendezvous.peers) {
      const std::vector<char> address =
          context->createPair(static_cast<int>(peer))->address().bytes();
      if (Status status = rendezvous.store.set(addressKey(context->rank, peer),
                                               {address.data(), address.size()});
          !status.ok())
        return status;
    }
  } catch (const std::exception &error) {
    return Status(StatusCode::Unacceptable,
                  fmt::format("rank {} cannot listen on {}: {}", context->rank, rendezvous.address,
                              error.what()));
  }
  for (const std::uint32_t peer : rendezvous.peers)
    if (Status status = meet(rendezvous, peer); !status.ok())
      return status;
  return Status();
}

Status GlooMesh::meet(const GlooRendezvous &rendezvous, std::uint32_t peer) {
  const std::string key =
      addressKey(static_cast<int>(peer), static_cast<std::uint32_t>(context->rank));
  const StatusOr<std::string> address = rendezvous.store.get(key, rendezvous.deadline);
  std::string reason = address.ok() ? "" : address.status().message();
  try {
    if (address.ok()) {
      context->getPair(static_cast<int>(peer))->connect({address->begin(), address->end()});
      return Status();
    }
  } catch (const std::exception &error) {
    reason = error.what();
  }
  return Status(StatusCode::RankFailed,
                fmt::format("rank {} did not connect to rank {}: {}", peer, context->rank, reason));
}

} // namespace vime
