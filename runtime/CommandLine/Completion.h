// Completion: what a shell offers behind Tab, from the same table as `--help`.
//
//   completionScript(app, "bash", {{"ORDER", {"gpipe", "1f1b"}}})
//
// What an argument takes stands in its type name: words (`text|grid`), a kind that `kinds` has
// words for (`ORDER`), else a file, or a folder for `DIR`. A kind's words that end with `=` are
// completed further.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace vime {

using CompletionKinds = std::map<std::string, std::vector<std::string>>;

/// The shells that there are scripts for.
std::vector<std::string> completionShells();

/// One of them. The script of zsh is bash's behind zsh's own `bashcompinit`.
std::string completionScript(const CLI::App &app, std::string_view shell,
                             const CompletionKinds &kinds);

} // namespace vime
