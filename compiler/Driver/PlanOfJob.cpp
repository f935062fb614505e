#include "compiler/Driver/PlanOfJob.h"

#include "compiler/Driver/JobMachine.h"
#include "compiler/Driver/JobText.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Phases/Phases.h"

namespace vime {

StatusOr<plan::Plan> planOfJob(const JobArguments &arguments, Findings &findings,
                               SourceCache &sources, const std::function<void(Job &)> &change) {
  const StatusOr<std::string> text = readFile(arguments.file);
  if (!text.ok())
    return text.status();
  sources.add(arguments.file, *text);
  const Status illegal(StatusCode::InvalidInput, "`" + arguments.file + "` leads to no plan");
  std::optional<Job> job = readJob(*text, arguments.file, findings, arguments.settings, &sources);
  if (job && change)
    change(*job);
  const std::optional<TextFacts> facts = job ? readTextFacts(*job, findings) : std::nullopt;
  if (!facts)
    return illegal;
  const std::optional<Machine> machine = readJobMachine(*job, findings, sources);
  if (findings.any())
    return illegal;
  Compiled compiled;
  const bool compiles = compileJob(
      *job, {.text = *facts, .version = compilerVersion(), .machine = machine}, compiled, findings);
  if (!compiled.internalError.empty())
    return Status(StatusCode::Internal, "internal error: " + compiled.internalError);
  if (!compiles)
    return illegal;
  return std::move(*compiled.plan);
}

} // namespace vime
