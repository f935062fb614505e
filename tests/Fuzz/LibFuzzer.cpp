// What libFuzzer calls. `--write-seeds FOLDER` writes what a target starts from, and ends.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/Fuzz/Target.h"

extern "C" int LLVMFuzzerInitialize(int *count, char ***arguments) {
  if (*count != 3 || std::string_view((*arguments)[1]) != "--write-seeds")
    return 0;
  const std::filesystem::path folder = (*arguments)[2];
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const std::string &seed : vime::fuzz::seeds())
    std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
  std::exit(EXIT_SUCCESS);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t size) {
  vime::fuzz::eat({reinterpret_cast<const char *>(bytes), size});
  return 0;
}
