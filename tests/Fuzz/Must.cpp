#include "tests/Fuzz/Target.h"

#include <cstdlib>
#include <iostream>

namespace vime::fuzz {

void must(bool holds, std::string_view sentence) {
  if (holds)
    return;
  std::cerr << "broken: " << sentence << std::endl;
  std::abort();
}

} // namespace vime::fuzz
