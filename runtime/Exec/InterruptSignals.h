// InterruptSignals: SIGINT, SIGTERM and SIGHUP (unless it is ignored) as something to poll, instead
// of a handler that may do nothing useful.
//
// Blocks these signals in the calling thread and in all threads it starts afterwards; made before
// any thread.
#pragma once

namespace vime {

class InterruptSignals {
public:
  InterruptSignals();
  ~InterruptSignals();
  InterruptSignals(const InterruptSignals &) = delete;

  /// Readable when a signal has come.
  int descriptor() const { return file; }

private:
  int file;
};

/// Takes one signal off the descriptor.
void consumeInterrupt(int descriptor);

} // namespace vime
