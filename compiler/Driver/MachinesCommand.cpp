// vimec machines: machines by name, and files of machines; and how both are found for other verbs.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Driver/Commands.h"
#include "compiler/Driver/PlanCosts.h"
#include "compiler/Machine/PrintMachine.h"
#include "compiler/Machine/Profiles.h"
#include "compiler/Machine/ReadMachine.h"
#include "runtime/Base/Nearest.h"

namespace vime {
namespace {

/// A path, and not the name of a profile that does not exist.
bool namesFile(const std::string &text) {
  std::error_code error;
  return text.find_first_of("/.") != text.npos || text == "-" ||
         std::filesystem::exists(text, error);
}

int reportUnknown(const std::string &name, const OutputOptions &output) {
  std::vector<std::string_view> names;
  std::string all;
  for (const MachineProfile &profile : machineProfiles()) {
    names.push_back(profile.name);
    all += fmt::format("{}`{}`", all.empty() ? "" : ", ", profile.name);
  }
  const auto longer = std::find_if(names.begin(), names.end(),
                                   [&](std::string_view known) { return known.starts_with(name); });
  const auto near = longer == names.end() ? nearest(name, names) : std::optional(*longer);
  return reportFailure(Status(StatusCode::Usage, fmt::format("unknown machine `{}`", name)), output,
                       near ? fmt::format("did you mean `{}`?", *near)
                            : fmt::format("one of {}, or a file such as ./mine.yaml", all));
}

/// The line that a file begins with, without its `#`: what the machine is.
std::string_view sentenceOf(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.starts_with("# ") ? line.substr(2) : std::string_view();
}

int listAll(const OutputOptions &output) {
  auto json = nlohmann::ordered_json::array();
  for (const MachineProfile &profile : machineProfiles()) {
    if (output.json)
      json.push_back({{"name", profile.name}, {"sentence", sentenceOf(profile.text)}});
    else
      std::cout << fmt::format("{:<12}{}\n", profile.name, sentenceOf(profile.text));
  }
  if (output.json)
    std::cout << nlohmann::ordered_json{{"machines", json}}.dump(2) << "\n";
  return 0;
}

} // namespace

std::optional<Machine> findMachine(const std::string &nameOrFile, const OutputOptions &output,
                                   int &code) {
  SourceCache sources;
  Findings findings;
  std::string text, file = nameOrFile;
  if (const MachineProfile *profile = findProfile(nameOrFile)) {
    text = profile->text;
  } else if (!namesFile(nameOrFile)) {
    code = reportUnknown(nameOrFile, output);
    return std::nullopt;
  } else {
    StatusOr<std::string> read = readFile(nameOrFile);
    if (!read.ok()) {
      code = reportFailure(read.status(), output);
      return std::nullopt;
    }
    text = std::move(*read);
  }
  sources.add(file, text);
  std::optional<Machine> machine = readMachine(text, file, findings);
  if (!machine)
    code = reportFindings(findings, sources, output);
  return machine;
}

int runMachines(const std::string &machine, const OutputOptions &output) {
  if (machine.empty())
    return listAll(output);
  int code = 0;
  const std::optional<Machine> found = findMachine(machine, output, code);
  if (!found)
    return code;
  const MachineProfile *profile = findProfile(machine);
  std::cout << (output.json ? machineJson(*found)
                : profile   ? std::string(profile->text)
                            : printMachine(*found));
  return 0;
}

} // namespace vime
