// Arguments: values of options that are judged in one manner by both tools.
//
//   takesWord(app.add_option("--format", format, "how to print"), {"text", "grid"});
//   takesCount(app.add_option("--ranks", ranks, "ranks of the pipeline"));
//
// The words stand in the option's type name, `text|grid`: help, man page and completion read them
// there.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace vime {

/// The value is one of these words.
CLI::Option *takesWord(CLI::Option *option, const std::vector<std::string> &words);

/// The value is a whole number that fits into an `int`: digits, behind a `-` if need be.
CLI::Option *takesCount(CLI::Option *option);

/// The value is the name of something: not empty, as a variable that is not set makes it.
CLI::Option *takesName(CLI::Option *option, std::string type);

/// The words of `takesWord`, or none.
std::vector<std::string> wordsOf(const CLI::Option &option);

/// `-o,--output`, `--json`, or the name of an argument without dashes.
std::string namesOf(const CLI::Option &option);

/// What an option or argument takes, as the help says it: `FILE`, `text|grid`; empty for a flag.
std::string valueOf(const CLI::Option &option);

} // namespace vime
