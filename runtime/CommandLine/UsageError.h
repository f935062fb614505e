// UsageError: what is wrong with a command line, in our words instead of CLI11's.
//
//   try { app.parse(count, values); }
//   catch (const CLI::ParseError &error) { usageError(app, error).message; } // "unknown option
//   `--fo`"
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
} // namespace CLI

namespace vime {

struct UsageError {
  std::string message, help;
};

/// For an `error` that `app` threw while parsing and that is no call for help or version.
UsageError usageError(const CLI::App &app, const CLI::ParseError &error);

} // namespace vime
