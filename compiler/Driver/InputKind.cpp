#include "compiler/Driver/InputKind.h"

#include <array>
#include <fstream>

#include "compiler/Driver/Commands.h"

namespace vime {

InputKind kindOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 1024> bytes{};
  file.read(bytes.data(), bytes.size());
  const std::string_view beginning(bytes.data(), static_cast<std::size_t>(file.gcount()));
  if (beginning.starts_with("VIME"))
    return InputKind::Plan;
  for (const std::string_view sign : {"\"displayTimeUnit\"", "\"vime-trace\"", "\"traceEvents\""})
    if (beginning.find(sign) != beginning.npos)
      return InputKind::Trace;
  return holdsTable(path) ? InputKind::Table : InputKind::Job;
}

std::string_view nameOf(InputKind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"job", "plan", "table", "trace"};
  return kNames[static_cast<std::size_t>(kind)];
}

} // namespace vime
