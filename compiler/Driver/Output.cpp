#include "compiler/Driver/Output.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "runtime/Base/AtomicFile.h"

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

int reportFailure(const Status &status, const OutputOptions &output, const std::string &remedy) {
  // What the runtime says brings its own remedy, in a line behind.
  constexpr std::string_view kHelp = "\nhelp: ";
  const std::size_t end = status.message().find(kHelp);
  const std::string message = status.message().substr(0, end);
  const std::string help =
      end == message.npos ? remedy : status.message().substr(end + kHelp.size());
  if (output.json) {
    nlohmann::ordered_json failure{{"errors", {{{"message", message}, {"help", help}}}}};
    std::cout << failure.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  } else {
    std::cerr << "error: " << message << "\n";
    if (!help.empty())
      std::cerr << "  = help: " << help << "\n";
  }
  return status.exitCode();
}

namespace {

// One byte more than a job may have: the front end says that it is too long, whatever follows.
constexpr std::size_t kMostBytes = (256 << 10) + 1;

std::string readBounded(std::istream &stream) {
  std::string text(kMostBytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

Status cannotRead(const std::string &path) {
  return Status(StatusCode::File, "cannot read `" + path + "`: " + std::strerror(errno));
}

Status open(const std::string &path, std::ifstream &file) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return Status(StatusCode::File, "cannot read `" + path + "`: it is a directory");
  file.open(path, std::ios::binary);
  return file ? Status() : cannotRead(path);
}

// What can be read to its end; nothing of a device that has none, whose bytes are no text.
StatusOr<std::string> readText(std::istream &stream, const std::string &path) {
  constexpr std::size_t kMost = std::size_t{1} << 30, kChunk = 1 << 20;
  std::string text;
  while (stream && text.size() <= kMost) {
    const std::size_t before = text.size();
    text.resize(before + kChunk);
    stream.read(text.data() + before, kChunk);
    text.resize(before + static_cast<std::size_t>(stream.gcount()));
    if (text.find('\0', before) != text.npos)
      return Status(StatusCode::InvalidInput, "`" + path + "` is no text");
  }
  if (text.size() > kMost)
    return Status(StatusCode::InvalidInput, "`" + path + "` has more than 1 GiB");
  return text;
}

} // namespace

StatusOr<std::string> readFile(const std::string &path) {
  if (path == "-")
    return readBounded(std::cin);
  std::ifstream file;
  if (Status opened = open(path, file); !opened.ok())
    return opened;
  std::string text = readBounded(file);
  return file.bad() ? StatusOr<std::string>(cannotRead(path)) : text;
}

StatusOr<std::string> readWholeFile(const std::string &path) {
  if (path == "-")
    return readText(std::cin, "standard input");
  std::ifstream file;
  if (Status opened = open(path, file); !opened.ok())
    return opened;
  StatusOr<std::string> text = readText(file, path);
  return file.bad() ? StatusOr<std::string>(cannotRead(path)) : text;
}

Status writeText(const std::string &path, const std::string &text) {
  if (path == "-") {
    std::cout << text << std::flush;
    return Status(); // else it throws: see `guarded`
  }
  return writeFileAtomically(path, text);
}

std::string replacedBy(const std::string &path, const std::vector<std::string> &files) {
  std::error_code error;
  for (const std::string &named : files) {
    const std::string file = named == "-" ? "/dev/stdin" : named;
    if (!path.empty() && std::filesystem::equivalent(path, file, error))
      return file;
  }
  return {};
}

std::string shellWord(const std::string &text) {
  const auto isPlain = [](unsigned char letter) {
    return std::isalnum(letter) || std::strchr("_./-+=:,@%", letter) != nullptr;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), isPlain))
    return text;
  std::string quoted = "'";
  for (const char letter : text)
    quoted += letter == '\'' ? "'\\''" : std::string(1, letter);
  return quoted + '\'';
}

int guarded(const std::function<int()> &verb) {
  // The first write that fails throws, while `errno` still says why.
  std::cout.exceptions(std::ios::badbit | std::ios::failbit);
  try {
    const int code = verb();
    std::cout.flush();
    std::cout.exceptions(std::ios::goodbit);
    return code;
  } catch (const std::ios_base::failure &) {
    const std::string cause = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
    std::cout.exceptions(std::ios::goodbit); // the end of the process tries again
    return reportFailure(Status(StatusCode::File, "cannot write to standard output" + cause), {});
  } catch (const std::exception &error) {
    return reportFailure(
        Status(StatusCode::Internal, std::string("internal error: ") + error.what()), {});
  }
}

} // namespace vime
