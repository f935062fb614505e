// Gloo thread: has Gloo's own thread start the messages of a rank.
//
//   GlooThread thread(device);
//   thread.start({.buffer = buffer, .peer = 3, .slot = slot, .sends = true});
//   if (thread.awaitStarted(600s)) …                       // Gloo's own wait may begin
//
// Starting a message takes the lock of its connection. Gloo's thread does not wait for that lock
// but looks again and again as long as another thread has it and there is news of the connection;
// where the other one has lost its core meanwhile, to it, that takes all there is (4 ranks on 2
// cores, tasks that do little: 80,000 looks a step, 200 µs of CPU an action). Where all is started
// by Gloo's thread, nobody else has the lock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/Transport/Sleeper.h"

namespace gloo::transport {
class UnboundBuffer;
namespace tcp {
class Device;
} // namespace tcp
} // namespace gloo::transport

namespace vime {

class GlooThread {
public:
  /// Gloo's send or receive of a whole buffer, which lives until it has been waited for.
  struct Call {
    gloo::transport::UnboundBuffer *buffer = nullptr;
    int peer = 0;
    std::uint64_t slot = 0;
    bool sends = false;
  };

  explicit GlooThread(std::shared_ptr<gloo::transport::tcp::Device> device);
  ~GlooThread();

  /// By the rank's own thread; returns at once.
  void start(const Call &call);

  /// Returns when all have been started; false when time runs out or `stop` comes first. By the
  /// rank's own thread.
  bool awaitStarted(std::chrono::nanoseconds limit);

  /// Gloo's words when starting a message from or to `peer` failed.
  std::optional<std::string> failureOf(int peer);

  /// None is started from now on, and none is being started. From any thread but Gloo's.
  void stop();

private:
  class Handler; // what Gloo calls

  void makeAll();
  void make(const Call &call);

  const std::shared_ptr<gloo::transport::tcp::Device> device;
  const std::unique_ptr<Handler> handler;
  const int news;    // an eventfd
  std::mutex making; // held while calls are made
  bool stopped = false;
  std::vector<Call> taken; // being made
  std::mutex mutex;        // of what follows
  std::vector<Call> calls; // to be made
  std::vector<std::pair<int, std::string>> failures;
  std::atomic<std::uint64_t> started{0};
  std::uint64_t handedOver = 0;     // the rank's thread's
  Sleeper sleeper{/*spins=*/false}; // of the rank's thread
};

} // namespace vime
