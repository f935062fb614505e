#include "runtime/Base/Plugin.h"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include <fmt/format.h>

namespace vime {
namespace {

std::vector<std::filesystem::path> candidates(const char *file) {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  // Of a build folder, and of an installation.
  return {folder / file, folder.parent_path() / "lib" / file,
          folder.parent_path() / "lib" / "vime" / file};
}

StatusOr<void *> entryOf(void *library, const std::filesystem::path &path, const Plugin &plugin) {
  const auto *interfaceIs =
      static_cast<const std::uint64_t *>(dlsym(library, plugin.interfaceSymbol));
  if (!interfaceIs || *interfaceIs != plugin.interfaceIs)
    return Status(StatusCode::Unacceptable,
                  fmt::format("`{}` is of another version than this program", path.string()));
  if (void *entry = dlsym(library, plugin.entry))
    return entry;
  return Status(StatusCode::Unacceptable, dlerror());
}

StatusOr<void *> openFirst(const Plugin &plugin) {
  std::string reason = fmt::format("`{}` is in none of the folders of the program", plugin.file);
  for (const std::filesystem::path &path : candidates(plugin.file)) {
    std::error_code error;
    if (!std::filesystem::exists(path, error))
      continue;
    if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return entryOf(library, path, plugin);
    reason = dlerror();
  }
  return Status(StatusCode::Unacceptable, reason);
}

} // namespace

StatusOr<void *> openPlugin(const Plugin &plugin) {
  StatusOr<void *> entry = openFirst(plugin);
  if (entry.ok())
    return entry;
  return Status(entry.status().code(),
                fmt::format("{} not available: {}", plugin.what, entry.status().message()));
}

} // namespace vime
