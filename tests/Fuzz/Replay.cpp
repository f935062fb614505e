// Feeds a target with its seeds and with every file of the folders named, by any compiler: what
// once made it fail stays mended.
#include <chrono>
#include <iostream>

#include "tests/Fuzz/Files.h"
#include "tests/Fuzz/Target.h"

int main(int count, char **arguments) {
  using namespace vime::fuzz;
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::size_t inputs = 0;
  const auto feed = [&](const std::string &name, const std::string &bytes) {
    std::cout << name << std::endl; // the last line names what a crash came from
    eat(bytes);
    ++inputs;
  };
  for (const std::string &seed : seeds())
    feed("seed " + std::to_string(inputs), seed);
  for (int folder = 1; folder < count; ++folder)
    for (const auto &path : filesIn(arguments[folder]))
      feed(path.string(), contentsOf(path));
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  std::cout << inputs << " inputs in " << seconds.count() << " s\n";
  return inputs == 0 ? EXIT_FAILURE : EXIT_SUCCESS; // a test of nothing is none
}
