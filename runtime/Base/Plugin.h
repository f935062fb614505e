// Plugin: a shared library of vime that is opened when a run needs it, because few runs need what
// it links.
//
//   StatusOr<void *> entry = openPlugin({.file = "libvime_gloo.so", …});
//
// It lies in the folder of the executable, or in ../lib or ../lib/vime beside it. RTLD_LOCAL keeps
// the libraries of two plug-ins apart: LibTorch brings a Gloo of its own. It stays open, since
// ranks end with the process. C++ types pass through, so a plug-in of other sources than the
// program's is refused by a number that both have from their headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/Base/Status.h"

namespace vime {

struct Plugin {
  const char *what;            // `the transport `gloo` is`, for messages
  const char *file;            // `libvime_gloo.so`
  const char *entry;           // the symbol of its one function
  const char *interfaceSymbol; // of a std::uint64_t
  std::uint64_t interfaceIs;   // what that must be
};

/// The plug-in's function. Unacceptable: there is no such file, it cannot be opened, or it is of
/// another version.
StatusOr<void *> openPlugin(const Plugin &plugin);

/// A number for what passes between program and plug-in: the sizes of the types, and `revision`,
/// which is raised when they or what they mean change in another way.
template <typename... Types> consteval std::uint64_t interfaceOf(std::uint64_t revision) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const std::uint64_t number : {revision, std::uint64_t(sizeof(Types))...})
    hash = (hash ^ number) * 0x100000001B3u;
  return hash;
}

} // namespace vime
