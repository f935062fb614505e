// Cores: where the threads of a run's ranks are, so that two of them do not share a core for long
// while another has none.
//
// A thread that was woken often goes on where its waker runs: then one of the two waits for the
// other in vain as long as it spins (measured: 30 µs a message instead of 0.1 µs, for as long as
// the system leaves them there). Threads are moved, not bound: where they go from there the system
// decides.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace vime {

/// Processors this process may run on.
unsigned availableCores();

class Cores {
public:
  explicit Cores(std::uint32_t ranks);

  /// Notes where the calling thread, that of `rank`, is.
  void note(std::uint32_t rank);
  /// Moves the calling thread, that of `rank`, when another rank was last on the same core and no
  /// rank on another one. Whether it did.
  bool spread(std::uint32_t rank);

private:
  struct alignas(64) Place {
    std::atomic<int> core{-1};
  };
  const std::uint32_t ranks;
  const std::unique_ptr<Place[]> places;
};

} // namespace vime
