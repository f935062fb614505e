#include <iostream>

#include "compiler/Driver/Commands.h"
#include "compiler/Driver/JobMachine.h"
#include "compiler/Driver/JobText.h"
#include "compiler/Driver/OrderNotes.h"
#include "compiler/Driver/RoundNotes.h"
#include "compiler/Driver/TextNotes.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Phases/Phases.h"

namespace vime {

namespace {

// Whether a plan stays under the limit that the job states only the plan can tell. Of a legal job
// nothing else is left to find.
Status judgeMemory(const Job &job, const TextFacts &facts, Findings &findings) {
  Compiled compiled;
  compileJob(job, {.text = facts, .version = compilerVersion()}, compiled, findings);
  return compiled.internalError.empty()
             ? Status()
             : Status(StatusCode::Internal, "internal error: " + compiled.internalError);
}

} // namespace

int runCheck(const JobArguments &arguments, const OutputOptions &output) {
  StatusOr<std::string> text = readFile(arguments.file);
  if (!text.ok())
    return reportFailure(text.status(), output);
  SourceCache sources;
  sources.add(arguments.file, *text);
  Findings findings;
  const std::optional<Job> job =
      readJob(*text, arguments.file, findings, arguments.settings, &sources);
  const std::optional<TextFacts> facts = job ? readTextFacts(*job, findings) : std::nullopt;
  if (facts)
    readJobMachine(*job, findings, sources);
  if (facts && !findings.any() && job->pipeline.memoryLimit.value != 0)
    if (const Status judged = judgeMemory(*job, *facts, findings); !judged.ok())
      return reportFailure(judged, output);
  if (findings.any() || output.json)
    return reportFindings(findings, sources, output);
  std::cerr << arguments.file << ": a legal job\n";
  for (const std::string &note : notesOn(*job))
    std::cerr << "  note: " << note << "\n";
  for (const std::string &note : notesOnText(*job))
    std::cerr << "  note: " << note << "\n";
  for (const std::string &note : notesOnRounds(*job))
    std::cerr << "  note: " << note << "\n";
  return 0;
}

} // namespace vime
