// Sleeper: where one thread blocks until something has happened, and others wake it.
//
//   sleeper.await(counter, 3, 600s);                 // the thread itself
//   sleeper.advance(counter, 3);                     // any other
//
// The only place of the runtime that sleeps. A satisfied wait costs one load, a change one store
// and one load unless the thread really sleeps. Spinning pays only when every rank has a core of
// its own: with 4 ranks on 2 cores a spinning rank takes the core that the awaited one needs
// (measured: 25 µs a hop instead of 2.3 µs).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace vime {

class Sleeper {
public:
  enum class Outcome : std::uint8_t { Reached, Late, Interrupted };

  /// What a thread sleeps for: who changes it names it, and wakes nobody who sleeps for something
  /// else. Never zero.
  using Cause = std::uint32_t;
  /// Two objects may share a cause: then somebody is woken who sleeps on.
  static Cause causeOf(const void *object) {
    return static_cast<Cause>(reinterpret_cast<std::uintptr_t>(object) >> 3) | 1u;
  }

  explicit Sleeper(bool spins);
  Sleeper(const Sleeper &) = delete;

  bool spins() const { return pays; }
  /// Looks whether `isReached()` for about as long as a sleep and a wake take.
  template <typename IsReached> bool linger(IsReached &&isReached) {
    for (Lingering lingering(*this); lingering.goesOn();)
      if (isReached())
        return true;
    return false;
  }

  /// Sleeps until `isReached()`, `limit` has passed, or `interrupt`. By one thread at a time. What
  /// `isReached` loads it loads sequentially consistently; others change it by `publish` with this
  /// cause, or `rouse` this thread afterwards.
  template <typename IsReached>
  Outcome sleep(IsReached &&isReached, Cause cause, std::chrono::nanoseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    for (;;) {
      announce(cause); // first, and look second: see `publish`
      const bool reached = isReached();
      const bool isOver = reached || interrupted();
      if (isOver || !sleepUntil(deadline, cause)) {
        state.store(kAwake, std::memory_order_relaxed);
        return reached ? Outcome::Reached : isOver ? Outcome::Interrupted : Outcome::Late;
      }
    }
  }

  /// Both, for a counter ≥ count that others `advance`.
  Outcome await(const std::atomic<std::uint64_t> &counter, std::uint64_t count,
                std::chrono::nanoseconds limit) {
    const auto isReached = [&] { return counter.load(std::memory_order_seq_cst) >= count; };
    return linger(isReached) ? Outcome::Reached : sleep(isReached, causeOf(&counter), limit);
  }

  /// Changes a place that this thread may sleep for, and wakes it if it does.
  template <typename Value> void publish(std::atomic<Value> &place, Value value, Cause cause) {
    // The store must not come after the load: whoever goes to sleep announces it first and looks
    // second, so that at least one of the two sees the other. Where this thread rarely sleeps, its
    // `announce` makes all others put theirs in order (membarrier), and nobody pays for it here.
    if (orders) {
      place.store(value, std::memory_order_release);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      place.store(value, std::memory_order_seq_cst);
    }
    if (state.load(std::memory_order_seq_cst) == cause)
      wake();
  }
  void advance(std::atomic<std::uint64_t> &counter, std::uint64_t count) {
    publish(counter, count, causeOf(&counter));
  }

  /// Lets the thread look again if it sleeps, whatever for. What it is to see was published before.
  void rouse() {
    if (state.load(std::memory_order_seq_cst) != kAwake)
      wake();
  }

  /// Every wait from now on, also the present one, ends as interrupted unless it is reached.
  void interrupt();
  bool interrupted() const { return stopped.load(std::memory_order_acquire); }

private:
  class Lingering {
  public:
    explicit Lingering(Sleeper &sleeper) : sleeper(sleeper) {}
    bool goesOn() { return looks++ == 0 || (sleeper.pays ? pause() : yield()); }

  private:
    bool pause();
    bool yield();
    Sleeper &sleeper;
    unsigned looks = 0;
    std::chrono::steady_clock::time_point end;
  };

  static constexpr Cause kAwake = 0;
  void announce(Cause cause);
  bool sleepUntil(std::chrono::steady_clock::time_point deadline, Cause cause);
  void wake();

  // Read by those who wake, written when this thread goes to sleep.
  alignas(64) std::atomic<Cause> state{kAwake}; // the futex
  std::atomic<bool> stopped{false};
  const bool pays;      // to spin
  unsigned crowded = 0; // waits to come that do not yield
  const bool orders;    // `announce` puts the stores and loads of all threads in order
};

} // namespace vime
