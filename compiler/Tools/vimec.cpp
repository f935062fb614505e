// vimec: compiles a declared training job into one verified program per rank.
#include <csignal>

#include "compiler/Driver/CommandLine.h"

int main(int count, char **values) {
  // A file that may grow no further is an error of the write, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  return vime::guarded([=] { return vime::runCommandLine(count, values); });
}
