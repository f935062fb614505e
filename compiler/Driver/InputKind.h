// InputKind: what a file is that a verb is given, by how it begins and by the ending of its name.
#pragma once

#include <string>
#include <string_view>

namespace vime {

enum class InputKind : unsigned char {
  Job,
  Plan,
  Table, // of an order
  Trace  // what `vimec view -o trace.json` wrote
};

/// Of a file that cannot be read: `Job`; whoever reads it says why.
InputKind kindOf(const std::string &path);

/// `job`, `plan`, `table`, `trace`
std::string_view nameOf(InputKind kind);

} // namespace vime
