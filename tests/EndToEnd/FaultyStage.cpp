// A library to preload into vime-exec: makes one `sleep` task throw, or never return.
//
//   LD_PRELOAD=libvime_faulty_stage.so VIME_FAULT=throw:2:40 vime-exec …   # rank 2, its 40th task
//
// The stages of family `sleep` are all that calls clock_nanosleep in vime-exec, so nothing in the
// program knows of faults. Where ranks are threads, the rank is `-` and tasks of all are counted.
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>

#include <sys/syscall.h>
#include <unistd.h>

namespace {

struct Fault {
  bool throws = false;
  bool isHere = false;
  long task = 0;
};

Fault readFault() {
  const char *stated = std::getenv("VIME_FAULT"), *rank = std::getenv("RANK");
  if (!stated)
    return {};
  const std::string text = stated;
  const std::size_t first = text.find(':'), second = text.find(':', first + 1);
  return {.throws = text.compare(0, first, "throw") == 0,
          .isHere = text.substr(first + 1, second - first - 1) == (rank ? rank : "-"),
          .task = std::atol(text.c_str() + second + 1)};
}

std::atomic<long> tasks{0};

} // namespace

extern "C" int clock_nanosleep(clockid_t clock, int flags, const timespec *until, timespec *rest) {
  static const Fault fault = readFault();
  if (fault.isHere && ++tasks == fault.task) {
    if (fault.throws)
      throw std::runtime_error("a fault that the test asked for");
    for (;;)
      pause();
  }
  return syscall(SYS_clock_nanosleep, clock, flags, until, rest) == 0 ? 0 : errno;
}
