#include <iostream>

#include "compiler/Driver/Commands.h"
#include "compiler/Driver/JobText.h"
#include "compiler/Driver/OrderNotes.h"
#include "compiler/Driver/TextNotes.h"
#include "compiler/Frontend/ReadJob.h"

namespace vime {

int runCheck(const JobArguments &arguments, const OutputOptions &output) {
  StatusOr<std::string> text = readFile(arguments.file);
  if (!text.ok())
    return reportFailure(text.status(), output);
  SourceCache sources;
  sources.add(arguments.file, *text);
  Findings findings;
  const std::optional<Job> job =
      readJob(*text, arguments.file, findings, arguments.settings, &sources);
  if (job)
    readTextFacts(*job, findings);
  if (findings.any() || output.json)
    return reportFindings(findings, sources, output);
  std::cerr << arguments.file << ": a legal job\n";
  for (const std::string &note : notesOn(*job))
    std::cerr << "  note: " << note << "\n";
  for (const std::string &note : notesOnText(*job))
    std::cerr << "  note: " << note << "\n";
  return 0;
}

} // namespace vime
