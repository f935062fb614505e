// Output: how every verb of vimec speaks. Data to stdout, everything else to stderr, findings in
// one manner.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Diagnostics/SourceCache.h"
#include "runtime/Base/Status.h"

namespace vime {

/// What the user asked of all verbs.
struct OutputOptions {
  bool json = false; // results and findings as JSON
};

/// Prints the findings, as text to stderr or as one JSON object to stdout; returns the exit code:
/// that of `code` if there are any.
int reportFindings(const Findings &findings, SourceCache &sources, const OutputOptions &output,
                   StatusCode code = StatusCode::InvalidInput);

/// `error: …` and, if there is one, `help: …`; returns the status's exit code.
int reportFailure(const Status &status, const OutputOptions &output, const std::string &help = {});

/// The file, or why not; of one that is longer than any job only the beginning. `-` is standard
/// input.
StatusOr<std::string> readFile(const std::string &path);

/// The whole file, up to 1 GiB of text. `-` is standard input.
StatusOr<std::string> readWholeFile(const std::string &path);

/// Text to stdout, or to a file that is complete or absent.
Status writeText(const std::string &path, const std::string &text);

/// The first of the files that writing to `path` would replace; empty: none.
std::string replacedBy(const std::string &path, const std::vector<std::string> &files);

/// As a shell reads it back: in quotes where it needs them.
std::string shellWord(const std::string &text);

/// Runs a verb. What the standard library throws becomes an error with its exit code: standard
/// output that takes nothing 3, anything else 70.
int guarded(const std::function<int()> &verb);

} // namespace vime
