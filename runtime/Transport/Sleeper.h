// Sleeper: where one thread blocks until a counter reaches a value, and others wake it.
//
// The only place of the runtime that sleeps. A satisfied wait costs one load; a wake costs one load
// unless the thread really sleeps. Spinning pays only when every rank has a core of its own: with 4
// ranks on 2 cores a spinning rank takes the core that the awaited one needs (measured: 25 µs a hop
// instead of 2.3 µs).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace vime {

class Sleeper {
public:
  enum class Outcome : std::uint8_t { Reached, Late, Interrupted };

  explicit Sleeper(bool spins) : spins(spins) {}
  Sleeper(const Sleeper &) = delete;

  /// Blocks until counter ≥ count, `limit` has passed, or `interrupt`. By one thread at a time.
  Outcome await(const std::atomic<std::uint64_t> &counter, std::uint64_t count,
                std::chrono::nanoseconds limit);

  /// Advances a counter that this thread may wait for.
  void advance(std::atomic<std::uint64_t> &counter, std::uint64_t count) {
    counter.store(count, std::memory_order_seq_cst); // ordered before the load below: see `await`
    if (state.load(std::memory_order_seq_cst) == kAsleep)
      wake();
  }

  /// Every wait from now on, also the present one, ends as interrupted unless its counter has been
  /// reached.
  void interrupt();
  bool interrupted() const { return stopped.load(std::memory_order_acquire); }

private:
  static constexpr std::uint32_t kAwake = 0, kAsleep = 1;
  void wake();
  void sleep(std::chrono::nanoseconds remaining);

  std::atomic<std::uint32_t> state{kAwake}; // the futex
  std::atomic<bool> stopped{false};
  const bool spins;
};

/// Processors this process may run on.
unsigned availableCores();

} // namespace vime
