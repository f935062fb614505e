// Local end: one rank's end of a channel or group between threads of one process.
//
// Used by the rank's own thread alone; what it shares with the others is the Channel or Meeting
// behind it.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/Transport/Sleeper.h"
#include "runtime/Transport/Transport.h"

namespace vime {

class LocalEnd {
public:
  virtual ~LocalEnd() = default;

  /// Whether one more transfer may be posted now.
  virtual bool hasRoom() = 0;
  /// Before this thread waits for room that a peer must make.
  virtual void askForRoom() {}
  /// The next transfer; there is room. False when sizes differ.
  virtual bool post(const Payload &payload) = 0;
  /// Takes what has come. False when sizes differ.
  virtual bool look() { return true; }

  /// What the rank's thread sleeps for when it waits for this end.
  virtual Sleeper::Cause cause() const = 0;
  /// A party that has not come to transfer `index` yet (Ends.h, partyOf), or -1.
  virtual int missing(std::uint64_t index) const = 0;

  std::uint64_t posted() const { return postedCount; }
  virtual const std::atomic<std::uint64_t> &finished() const = 0;

protected:
  std::uint64_t postedCount = 0;
};

} // namespace vime
