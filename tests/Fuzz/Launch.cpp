// Fuzz target `launch`: a script with the flags of a run, for `vimec import`.
#include "compiler/Frontend/ImportLaunch.h"
#include "compiler/Frontend/ReadJob.h"
#include "tests/Fuzz/Files.h"
#include "tests/Fuzz/Target.h"

namespace vime::fuzz {

void eat(std::string_view bytes) {
  const LaunchLine launch = readLaunch(bytes);
  must(isLaunch(bytes) == !launch.flags.empty(), "a launch line is what has flags");
  const ImportedJob job = importLaunch(launch, "fuzz");
  Findings findings;
  const bool legal = readJob(job.text, "/no/such/folder/job.yaml", findings).has_value();
  must(legal != findings.any(), "a job is legal or something is wrong with it");
}

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  for (const auto &path : filesIn(VIME_SOURCE "/tests/frontend/launches", ".sh"))
    texts.push_back(contentsOf(path));
  texts.emplace_back("A=1\nrun --name \"a $A\" 'b c' --x=${A} \\\n --top_k -1 # end\n");
  return texts;
}

} // namespace vime::fuzz
