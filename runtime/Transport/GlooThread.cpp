#include "runtime/Transport/GlooThread.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <gloo/transport/tcp/device.h>
#include <gloo/transport/tcp/loop.h>
#include <gloo/transport/unbound_buffer.h>

namespace vime {

class GlooThread::Handler final : public gloo::transport::tcp::Handler {
public:
  explicit Handler(GlooThread &owner) : owner(owner) {}
  void handleEvents(int) override { owner.makeAll(); }

private:
  GlooThread &owner;
};

GlooThread::GlooThread(std::shared_ptr<gloo::transport::tcp::Device> device)
    : device(std::move(device)), handler(std::make_unique<Handler>(*this)),
      news(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  this->device->registerDescriptor(news, EPOLLIN, handler.get());
}

GlooThread::~GlooThread() {
  stop();
  device->unregisterDescriptor(news, handler.get()); // returns when Gloo's thread has passed it
  close(news);
}

void GlooThread::start(const Call &call) {
  bool isFirst;
  {
    const std::lock_guard lock(mutex);
    isFirst = calls.empty();
    calls.push_back(call);
  }
  if (isFirst) // else it has been told, and will see this one too
    eventfd_write(news, 1);
  ++handedOver;
}

void GlooThread::makeAll() {
  eventfd_t count;
  eventfd_read(news, &count);
  const std::lock_guard busy(making);
  {
    const std::lock_guard lock(mutex);
    taken.swap(calls);
  }
  for (const Call &call : taken)
    make(call);
  if (!taken.empty())
    sleeper.advance(started, started.load(std::memory_order_relaxed) + taken.size());
  taken.clear();
}

void GlooThread::make(const Call &call) {
  if (stopped)
    return;
  try {
    if (call.sends)
      call.buffer->send(call.peer, call.slot, 0, call.buffer->size);
    else
      call.buffer->recv(call.peer, call.slot, 0, call.buffer->size);
  } catch (const std::exception &error) {
    const std::lock_guard lock(mutex);
    failures.emplace_back(call.peer, error.what());
  }
}

bool GlooThread::awaitStarted(std::chrono::nanoseconds limit) {
  return started.load(std::memory_order_acquire) >= handedOver ||
         sleeper.await(started, handedOver, limit) == Sleeper::Outcome::Reached;
}

std::optional<std::string> GlooThread::failureOf(int peer) {
  const std::lock_guard lock(mutex);
  for (const auto &[lost, why] : failures)
    if (lost == peer)
      return why;
  return std::nullopt;
}

void GlooThread::stop() {
  sleeper.interrupt();
  const std::lock_guard busy(making); // not while one is being started
  stopped = true;
}

} // namespace vime
