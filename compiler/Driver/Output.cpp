#include "compiler/Driver/Output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace vime {

int reportFindings(const Findings &findings, SourceCache &sources, const OutputOptions &output,
                   StatusCode code) {
  if (output.json)
    std::cout << renderJson(findings, sources);
  else if (findings.any())
    std::cerr << renderText(findings, sources,
                            isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr);
  return findings.any() ? static_cast<int>(code) : 0;
}

int reportFailure(const Status &status, const OutputOptions &output, const std::string &help) {
  if (output.json) {
    nlohmann::ordered_json failure{{"errors", {{{"message", status.message()}, {"help", help}}}}};
    std::cout << failure.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  } else {
    std::cerr << "error: " << status.message() << "\n";
    if (!help.empty())
      std::cerr << "  = help: " << help << "\n";
  }
  return status.exitCode();
}

StatusOr<std::string> readFile(const std::string &path) {
  if (path == "-")
    return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return Status(StatusCode::File, "cannot read `" + path + "`: it is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Status(StatusCode::File, "cannot read `" + path + "`: " + std::strerror(errno));
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (file.bad())
    return Status(StatusCode::File, "cannot read `" + path + "`: " + std::strerror(errno));
  return text;
}

Status writeText(const std::string &path, const std::string &text) {
  if (path == "-") {
    std::cout << text << std::flush;
    return std::cout ? Status() : Status(StatusCode::File, "cannot write to standard output");
  }
  const std::string temporary = path + ".tmp" + std::to_string(getpid());
  {
    std::ofstream file(temporary, std::ios::binary);
    file << text << std::flush;
    if (!file) {
      const std::string reason = std::strerror(errno);
      std::remove(temporary.c_str());
      return Status(StatusCode::File, "cannot write `" + path + "`: " + reason);
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(temporary.c_str());
    return Status(StatusCode::File, "cannot write `" + path + "`: " + reason);
  }
  return Status();
}

} // namespace vime
