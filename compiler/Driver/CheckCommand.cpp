#include <iostream>

#include "compiler/Driver/Commands.h"
#include "compiler/Driver/JobText.h"
#include "compiler/Frontend/ReadJob.h"

namespace vime {

int runCheck(const std::string &path, const OutputOptions &output) {
  StatusOr<std::string> text = readFile(path);
  if (!text.ok())
    return reportFailure(text.status(), output);
  SourceCache sources;
  sources.add(path, *text);
  Findings findings;
  const std::optional<Job> job = readJob(*text, path, findings);
  if (job)
    readTextFacts(*job, findings);
  if (findings.any() || output.json)
    return reportFindings(findings, sources, output);
  std::cerr << path << ": a legal job\n";
  return 0;
}

} // namespace vime
