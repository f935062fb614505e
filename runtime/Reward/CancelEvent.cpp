#include "runtime/Reward/CancelEvent.h"

#include <cstdint>
#include <cstdlib>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace vime {

CancelEvent::CancelEvent() : file(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (file < 0)
    std::abort(); // no file descriptors are left to a process that has hardly begun
}

CancelEvent::~CancelEvent() { close(file); }

void CancelEvent::set() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(file, &one, sizeof(one)); // full: it is set
}

bool CancelEvent::isSet() const { return waitFor(0); }

bool CancelEvent::waitFor(double seconds) const {
  pollfd wanted{.fd = file, .events = POLLIN};
  return poll(&wanted, 1, static_cast<int>(seconds * 1000)) > 0;
}

} // namespace vime
