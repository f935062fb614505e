#include "runtime/Transport/GlooPlugin.h"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include <fmt/format.h>

namespace vime {
namespace {

constexpr const char *kLibrary = "libvime_gloo.so";

std::vector<std::filesystem::path> candidates() {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  // Of a build folder, and of an installation.
  return {folder / kLibrary, folder.parent_path() / "lib" / kLibrary,
          folder.parent_path() / "lib" / "vime" / kLibrary};
}

StatusOr<GlooEntry> open() {
  std::string reason = fmt::format("`{}` is in none of the folders of the program", kLibrary);
  for (const std::filesystem::path &path : candidates()) {
    std::error_code error;
    if (!std::filesystem::exists(path, error))
      continue;
    if (void *library =
            dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) // stays open: ranks end with the process
      if (void *entry = dlsym(library, kGlooEntry))
        return reinterpret_cast<GlooEntry>(entry);
    reason = dlerror();
  }
  return Status(StatusCode::Unacceptable, "the transport `gloo` is not available: " + reason);
}

} // namespace

StatusOr<std::unique_ptr<Transport>> connectGloo(const RankEnds &ends,
                                                 const GlooRendezvous &rendezvous) {
  StatusOr<GlooEntry> entry = open();
  if (!entry.ok())
    return entry.status();
  Status status;
  std::unique_ptr<Transport> transport((*entry)(ends, rendezvous, status));
  if (!transport)
    return status;
  return transport;
}

} // namespace vime
