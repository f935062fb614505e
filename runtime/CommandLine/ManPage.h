// ManPage: section 1 of the manual, from the same table as `--help`.
//
//   manPage(app, {.version = "0.1.0", .seeAlso = {"vime-exec(1)"}})   // roff for man(1)
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace vime {

struct ManPageFacts {
  std::string version;
  std::vector<std::string> seeAlso;
};

/// Options, verbs with theirs, and the paragraphs of the app's footer: what stands before the first
/// colon of one is its heading.
std::string manPage(const CLI::App &app, const ManPageFacts &facts);

/// Text as roff shows it: nothing in it is a command.
std::string roffText(std::string_view text);

} // namespace vime
