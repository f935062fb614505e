// vime-exec as a user meets it: exit codes, what it prints, and that nothing is left when it ends.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/exec/SmallJob.h"

namespace vime {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string contentOf(const std::filesystem::path &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// vime-exec in a process group of its own, its output in files of the job's folder, its temporary
/// files too.
class Program {
public:
  Program(const SmallJob &job, std::vector<std::string> arguments) : folder(job.folder) {
    std::filesystem::create_directory(temporary());
    arguments.insert(arguments.begin(), {VIME_EXEC, job.write(), "--base", folder.string()});
    process = fork();
    if (process == 0)
      become(arguments);
  }
  ~Program() {
    if (process > 0)
      kill(-process, SIGKILL);
  }

  /// The exit code, or the negative signal.
  int wait() {
    int status = 0;
    waitpid(process, &status, 0);
    process = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  void send(int signal) const { kill(process, signal); }

  /// Processes that it started, by rank.
  std::vector<pid_t> ranks() const {
    std::istringstream list(contentOf("/proc/" + std::to_string(process) + "/task/" +
                                      std::to_string(process) + "/children"));
    std::vector<pid_t> found;
    for (pid_t child; list >> child;)
      found.push_back(child);
    return found;
  }

  std::string out() const { return contentOf(folder / "out"); }
  std::string err() const { return contentOf(folder / "err"); }
  std::filesystem::path temporary() const { return folder / "tmp"; }
  std::vector<std::string> leftovers() const {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(temporary()))
      names.push_back(entry.path().filename());
    return names;
  }

  /// Until the first step was shown.
  void awaitFirstStep() const {
    const auto limit = std::chrono::steady_clock::now() + 30s;
    while (err().find("step") == std::string::npos && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(5ms);
  }

private:
  [[noreturn]] void become(const std::vector<std::string> &arguments) {
    setpgid(0, 0);
    setenv("TMPDIR", temporary().c_str(), 1);
    const int out = open((folder / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int err = open((folder / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    std::vector<char *> pointers;
    for (const std::string &argument : arguments)
      pointers.push_back(const_cast<char *>(argument.c_str()));
    pointers.push_back(nullptr);
    execv(VIME_EXEC, pointers.data());
    _exit(127);
  }

  const std::filesystem::path folder;
  pid_t process = -1;
};

bool isGone(pid_t process) {
  const auto limit = std::chrono::steady_clock::now() + 5s;
  while (kill(process, 0) == 0 && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(5ms); // somebody else reaps it
  return kill(process, 0) != 0;
}

constexpr std::uint64_t kEndless = 100'000'000;

class Transports : public testing::TestWithParam<const char *> {};

TEST_P(Transports, ARunEndsWithItsSummary) {
  const SmallJob job({.steps = 40});
  Program program(job, {"--transport", GetParam()});
  EXPECT_EQ(program.wait(), 0) << program.err();
  EXPECT_THAT(program.out(), StartsWith("small: 40 steps in "));
  EXPECT_THAT(program.out(), HasSubstr("loss 0.0000 → 0.0000"));
  EXPECT_THAT(program.out(), HasSubstr("slowest rank"));
  const std::string lines = program.err();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 21)
      << lines; // every second step, and the last
  EXPECT_THAT(lines, StartsWith("step  1/40  loss 0.0000"));
  EXPECT_THAT(program.leftovers(), IsEmpty());
}

TEST_P(Transports, ARankWithALoopOverMicrobatchesRunsBesideAFlatOne) {
  const SmallJob job(foldedPlan({.steps = 20}));
  Program program(job, {"--transport", GetParam()});
  EXPECT_EQ(program.wait(), 0) << program.err();
  EXPECT_THAT(program.out(), StartsWith("small: 20 steps in "));
}

TEST_P(Transports, JsonIsAllThatStandardOutputHolds) {
  const SmallJob job({.steps = 3});
  Program program(job, {"--transport", GetParam(), "--json", "--quiet"});
  EXPECT_EQ(program.wait(), 0) << program.err();
  EXPECT_THAT(program.out(), StartsWith("{\n  \"name\": \"small\",\n"));
  EXPECT_THAT(program.out(), HasSubstr("\"step\": 2,"));
  EXPECT_THAT(program.err(), IsEmpty());
}

TEST_P(Transports, CtrlCEndsEverything) {
  const SmallJob job({.steps = kEndless});
  Program program(job, {"--transport", GetParam()});
  program.awaitFirstStep();
  const std::vector<pid_t> ranks = program.ranks();
  program.send(SIGINT);
  EXPECT_EQ(program.wait(), 130);
  EXPECT_THAT(program.err(), HasSubstr("error: interrupted\n"));
  EXPECT_THAT(program.leftovers(), IsEmpty());
  for (const pid_t rank : ranks)
    EXPECT_TRUE(isGone(rank));
}

TEST_P(Transports, AMissingTextEndsWithItsExitCode) {
  SmallJob job;
  job.plan.data.text = "nowhere.txt";
  Program program(job, {"--transport", GetParam()});
  EXPECT_EQ(program.wait(), 3);
  EXPECT_THAT(program.err(), StartsWith("error: "));
  EXPECT_THAT(program.err(), HasSubstr("nowhere.txt"));
  EXPECT_THAT(program.err(), HasSubstr("\n  = help: paths of the job are relative to its folder"));
  EXPECT_THAT(program.leftovers(), IsEmpty());
}

TEST_P(Transports, APlanThatDiffersOnOneRankIsRefused) {
  SmallJob job;
  job.plan.programs[1]
      .actions[indexOf(job.plan, 1, "receive forward from rank 0, stage 1, microbatch 0")]
      .time -= 1;
  Program program(job, {"--transport", GetParam()});
  EXPECT_EQ(program.wait(), 4);
  EXPECT_THAT(program.err(),
              HasSubstr("disagree about the times, bytes or types on rank 0 → rank 1, forward"));
}

TEST_P(Transports, AnExportIntoAFolderOfOthersIsRefusedAtOnce) {
  SmallJob job({.steps = kEndless});
  job.plan.run.exportTo = "../";
  Program program(job, {"--transport", GetParam()});
  EXPECT_EQ(program.wait(), 3);
  EXPECT_THAT(program.err(), StartsWith("error: cannot export: `"));
  EXPECT_THAT(program.err(), HasSubstr("\n  = help: "));
}

INSTANTIATE_TEST_SUITE_P(VimeExec, Transports, testing::Values("local", "gloo"),
                         [](const auto &info) { return std::string(info.param); });

TEST(VimeExecGloo, ARankThatIsKilledEndsAllOthersAndIsNamed) {
  const SmallJob job({.steps = kEndless});
  Program program(job, {"--transport", "gloo"});
  program.awaitFirstStep();
  const std::vector<pid_t> ranks = program.ranks();
  ASSERT_EQ(ranks.size(), 2u);
  const auto start = std::chrono::steady_clock::now();
  kill(ranks[1], SIGKILL);
  EXPECT_EQ(program.wait(), 5);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  EXPECT_THAT(program.err(), HasSubstr("error: rank 1 (process " + std::to_string(ranks[1]) +
                                       ") was ended by signal 9, Killed\n"));
  EXPECT_THAT(program.err(),
              HasSubstr("\n  = note: rank 1 was first: its process " + std::to_string(ranks[1]) +
                        " was ended by signal 9, Killed"));
  EXPECT_THAT(program.err(),
              HasSubstr("\n  = help: `vimec explain " + program.temporary().string()));
  for (const pid_t rank : ranks)
    EXPECT_TRUE(isGone(rank));
  EXPECT_THAT(program.leftovers(), ElementsAre(StartsWith("vime-records-")));
}

TEST(VimeExecGloo, ARankThatHangsIsNamedByWhoWaitsForIt) {
  SmallJob job({.steps = kEndless});
  job.plan.limits.transferSeconds = 0.5;
  Program program(job, {"--transport", "gloo"});
  program.awaitFirstStep();
  const std::vector<pid_t> ranks = program.ranks();
  ASSERT_EQ(ranks.size(), 2u);
  kill(ranks[1], SIGSTOP);
  EXPECT_EQ(program.wait(), 6);
  EXPECT_THAT(program.err(), HasSubstr("rank 1 did not come to transfer "));
  EXPECT_THAT(program.err(), HasSubstr("\n  = note: rank 1 was first: its process "));
  for (const pid_t rank : ranks)
    EXPECT_TRUE(isGone(rank));
}

TEST(VimeExecGloo, RanksEndWithTheProcessThatStartedThem) {
  const SmallJob job({.steps = kEndless});
  Program program(job, {"--transport", "gloo"});
  program.awaitFirstStep();
  const std::vector<pid_t> ranks = program.ranks();
  program.send(SIGKILL);
  EXPECT_EQ(program.wait(), -SIGKILL);
  for (const pid_t rank : ranks)
    EXPECT_TRUE(isGone(rank));
  // The ranks had met: their folder was gone already. Nobody was left to remove their records.
  EXPECT_THAT(program.leftovers(), ElementsAre(StartsWith("vime-records-")));
}

TEST(VimeExec, CheckRunsNothing) {
  const SmallJob job({.steps = kEndless});
  Program program(job, {"--check"});
  EXPECT_EQ(program.wait(), 0);
  EXPECT_THAT(program.out(), HasSubstr("can run here: 2 ranks, 100000000 steps"));
}

TEST(VimeExec, ADamagedPlanIsNotAcceptable) {
  const SmallJob job;
  Program program(job, {"--check"});
  EXPECT_EQ(program.wait(), 0);
  std::filesystem::resize_file(job.folder / "plan.bin", 200);
  const std::string command =
      std::string(VIME_EXEC) + " " + (job.folder / "plan.bin").string() + " 2>/dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 4);
}

TEST(VimeExec, WrongUsage) {
  for (const std::string arguments : {"", "--no-such-flag plan.bin", "plan.bin --transport pigeon"})
    EXPECT_EQ(WEXITSTATUS(std::system((VIME_EXEC " " + arguments + " >/dev/null 2>&1").c_str())), 2)
        << arguments;
  EXPECT_EQ(WEXITSTATUS(std::system(VIME_EXEC " --help >/dev/null")), 0);
  EXPECT_EQ(WEXITSTATUS(std::system(VIME_EXEC " no-such-plan.bin 2>/dev/null")), 3);
}

} // namespace
} // namespace vime
