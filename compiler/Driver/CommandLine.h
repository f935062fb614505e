// CommandLine: from `argv` to a verb.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/Driver/Output.h"

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace vime {

/// What the command line asks for, while it is being read.
struct Invocation {
  OutputOptions output;
  std::function<int()> run;                     // set by the verb that was named
  std::vector<const CLI::Option *> textFormats; // options that choose a text: not beside --json
};

/// The verbs, each with its arguments; a verb that is named sets `invocation.run`. Verbs.cpp.
void addVerbs(CLI::App &app, Invocation &invocation);

/// What a job needs that is compiled without a verb.
void addCompile(CLI::App &app, Invocation &invocation);

/// `--json`, on an app or verb.
CLI::Option *takesJson(CLI::App &app, Invocation &invocation);

/// The whole of vimec: the exit code.
int runCommandLine(int count, char **values);

} // namespace vime
