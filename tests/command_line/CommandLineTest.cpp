// Usage errors, manual page and completion of a small tool.
#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include "runtime/CommandLine/Arguments.h"
#include "runtime/CommandLine/Completion.h"
#include "runtime/CommandLine/ManPage.h"
#include "runtime/CommandLine/UsageError.h"

namespace vime {
namespace {

/// `tool`, with an option of each kind and a verb.
struct Tool {
  CLI::App app{"does something", "tool"};
  std::string file, format;
  std::vector<std::string> settings;
  int ranks = 0;
  bool json = false;

  Tool() {
    app.set_help_flag("-h,--help", "print this help");
    takesWord(app.add_option("--format", format, "how to print"), {"text", "grid"});
    takesCount(app.add_option("--ranks", ranks, "how many"));
    app.add_flag("--json", json, "as JSON")->disable_flag_override();
    CLI::App *verb = app.add_subcommand("check", "looks at a file");
    verb->add_option("file", file, "what to look at")->required()->type_name("FILE");
    app.footer("\nexamples:\n  tool check .profile\n\nexit codes: 0 ok");
  }

  std::string error(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());
    try {
      app.parse(arguments);
    } catch (const CLI::ParseError &error) {
      const UsageError problem = usageError(app, error);
      return problem.message + " | " + problem.help;
    }
    return "";
  }
};

TEST(UsageError, OneForEachKind) {
  EXPECT_EQ(Tool().error({"--ranks", "-3", "--format=grid", "check", "x"}), "");
  EXPECT_EQ(Tool().error({"--fromat=x"}),
            "`tool` has no option `--fromat` | did you mean `--format`?");
  EXPECT_EQ(Tool().error({"-x"}), "`tool` has no option `-x` | run `tool --help`");
  EXPECT_EQ(Tool().error({"check", "--xyzzy"}),
            "`tool check` has no option `--xyzzy` | run `tool check --help`");
  EXPECT_EQ(Tool().error({"check"}), "`file` is missing | run `tool check --help`");
  EXPECT_EQ(Tool().error({"--format=gird"}),
            "`--format` cannot be `gird` | did you mean `grid`? one of `text`, `grid`");
  EXPECT_EQ(Tool().error({"--ranks"}), "`--ranks` needs a value | run `tool --help`");
  EXPECT_EQ(Tool().error({"--json=yes"}), "`--json` takes no value | run `tool --help`");
  EXPECT_EQ(Tool().error({"--ranks=1", "--ranks=2"}),
            "`--ranks` is given more than once | it takes one value: keep one");
}

TEST(UsageError, NumbersAreDigits) {
  for (const char *number : {"0x4", "+4", "4.0", "four", "99999999999", " 4", "4 ", "0b1"})
    EXPECT_NE(Tool().error({std::string("--ranks=") + number}).find("takes a whole number"),
              std::string::npos)
        << number;
}

TEST(ManPage, ASmallTool) {
  EXPECT_EQ(manPage(Tool().app, {"1.2", {"other(1)"}}), R"(.TH TOOL 1 "" "vime 1.2" "User Commands"
.SH NAME
tool \- does something
.SH SYNOPSIS
.B tool
[options]
.br
.B tool check
\fIFILE\fR
[options]
.SH OPTIONS
.TP
\fB\-h,\-\-help\fR
print this help
.TP
\fB\-\-format\fR \fItext|grid\fR
how to print
.TP
\fB\-\-ranks\fR \fIN\fR
how many
.TP
\fB\-\-json\fR
as JSON
.SH VERBS
.SS check
looks at a file.
.TP
\fB\-h,\-\-help\fR
print this help
.TP
\fIFILE\fR
what to look at
.SH EXAMPLES
.nf
  tool check .profile
.fi
.SH EXIT CODES
.nf
 0 ok
.fi
.SH SEE ALSO
other(1)
)");
}

TEST(ManPage, NothingInATextIsACommand) {
  EXPECT_EQ(roffText(".x -o\n'y\\z"), "\\&.x \\-o\n\\&'y\\ez");
}

TEST(Completion, WordsKindsAndFiles) {
  const std::string script = completionScript(Tool().app, "bash", {});
  EXPECT_NE(script.find("    ,--format) _tool_words 'text grid'; return ;;\n"), script.npos)
      << script;
  EXPECT_NE(script.find("    ,--ranks) : ; return ;;\n"), script.npos) << script;
  EXPECT_NE(script.find("    'check') _tool_paths -f; ;;\n"), script.npos) << script;
  const std::string kinds = completionScript(Tool().app, "bash", {{"FILE", {"a=", "b="}}});
  EXPECT_NE(kinds.find("    'check') _tool_words 'a= b='; ;;\n"), kinds.npos) << kinds;
}

} // namespace
} // namespace vime
