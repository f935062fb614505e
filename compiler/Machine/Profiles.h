// Profiles: machines by name, which come with the compiler. Their files lie in Profiles/ and are
// put into it when it is built.
//
//   for (const MachineProfile &profile : machineProfiles())
//     profile.text                          // what `vimec machines h100-80g` prints
#pragma once

#include <span>
#include <string_view>

namespace vime {

struct MachineProfile {
  std::string_view name; // `h100-80g`
  std::string_view text; // the file
};

/// In the order of their names.
std::span<const MachineProfile> machineProfiles();

/// Null if there is none of that name.
const MachineProfile *findProfile(std::string_view name);

} // namespace vime
