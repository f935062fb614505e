# Writes the machines of this folder as strings of a source file.
set(rows "")
set(count 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND rows "    MachineProfile{\"${name}\", R\"machine(${text})machine\"},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Made from compiler/Machine/Profiles.
#include \"compiler/Machine/Profiles.h\"

#include <array>

namespace vime {

namespace {
constexpr std::array<MachineProfile, ${count}> kProfiles = {
${rows}};
} // namespace

std::span<const MachineProfile> machineProfiles() { return kProfiles; }

const MachineProfile *findProfile(std::string_view name) {
  for (const MachineProfile &profile : kProfiles)
    if (profile.name == name)
      return &profile;
  return nullptr;
}

} // namespace vime
")
