#include "runtime/Tools/StandardStreams.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace vime {

void prepareStandardStreams() {
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file)
    if (fcntl(file, F_GETFD) <
        0) // the lowest free number; for reading, so that writing still fails
        [[maybe_unused]]
      const int opened = open("/dev/null", O_RDONLY);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

Status writeResult(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return Status();
  return Status(StatusCode::File,
                fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

void show(std::FILE *stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

} // namespace vime
