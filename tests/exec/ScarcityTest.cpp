// vime-exec where something is missing: a stream to write to, threads, a temporary folder, its
// terminal. Always a sentence and an exit code, never a signal.
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/exec/SmallJob.h"

namespace vime {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

struct Outcome {
  int code;
  std::string err;
};

/// `setup; vime-exec plan arguments` in a shell, which may redirect; standard error goes to a file
/// unless the arguments say otherwise.
Outcome outcomeOf(const SmallJob &job, const std::string &setup, const std::string &arguments) {
  const std::string err = (job.folder / "err").string();
  const std::string command = setup + "\"" VIME_EXEC "\" " + job.write() + " --base " +
                              job.folder.string() + " >/dev/null 2>" + err + " " + arguments;
  const int status = std::system(command.c_str());
  std::ostringstream text;
  text << std::ifstream(err).rdbuf();
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text.str()};
}

TEST(Scarcity, ProgressThatCannotBeShownEndsNoRun) {
  const SmallJob job({.steps = 20});
  for (const std::string transport : {"local", "gloo"})
    for (const std::string closed : {"2>/dev/full", "2>&-"})
      EXPECT_EQ(outcomeOf(job, "", "--transport " + transport + " " + closed).code, 0)
          << transport << " " << closed;
}

TEST(Scarcity, AnErrorThatCannotBeShownKeepsItsExitCode) {
  SmallJob job;
  job.plan.data.text = "nowhere.txt";
  for (const std::string closed : {"2>/dev/full", "2>&-", "--json >/dev/full 2>&-"})
    EXPECT_EQ(outcomeOf(job, "", closed).code, 3) << closed;
}

TEST(Scarcity, AResultThatCannotBeWrittenIsAFailure) {
  const SmallJob job({.steps = 2});
  for (const std::string arguments : {">/dev/full", ">&-", "--json >/dev/full", "--check >&-"}) {
    const Outcome outcome = outcomeOf(job, "", arguments);
    EXPECT_EQ(outcome.code, 3) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr("error: cannot write to standard output: ")) << arguments;
  }
}

TEST(Scarcity, NoTemporaryFolderIsNeeded) {
  const SmallJob job({.steps = 2});
  for (const std::string transport : {"local", "gloo"})
    EXPECT_EQ(outcomeOf(job, "TMPDIR=/nonexistent ", "--transport " + transport).code, 0);
}

// Sanitizers need much address space.
#if !defined(VIME_ADDRESS_SANITIZER) && !defined(VIME_THREAD_SANITIZER)
TEST(Scarcity, AThreadThatCannotBeStartedIsNamed) {
  const SmallJob job;
  // Room for the stack of one thread, not of two.
  const Outcome outcome = outcomeOf(job, "ulimit -s 1000000; ulimit -v 1700000; ", "");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, StartsWith("error: cannot start "));
}
#endif

TEST(Scarcity, ATerminalThatGoesAwayEndsTheRun) {
  const SmallJob job({.steps = 100'000'000});
  const std::string err = (job.folder / "err").string();
  for (const std::string transport : {"local", "gloo"}) {
    std::ofstream(job.folder / "err", std::ios::trunc); // of the run before
    const Outcome outcome =
        outcomeOf(job, "",
                  "--transport " + transport + " & run=$!; for i in $(seq 600); do grep -q step " +
                      err + " && break; sleep 0.05; done; kill -HUP $run; wait $run");
    EXPECT_EQ(outcome.code, 130) << transport;
    EXPECT_THAT(outcome.err, HasSubstr("error: interrupted\n")) << transport;
  }
}

} // namespace
} // namespace vime
