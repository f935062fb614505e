#include "compiler/Driver/JobMachine.h"

#include "compiler/Diagnostics/JobCodes.h"
#include "compiler/Driver/Output.h"
#include "compiler/Frontend/ReadJob.h"
#include "compiler/Machine/Profiles.h"
#include "compiler/Machine/ReadMachine.h"

namespace vime {

std::optional<Machine> readJobMachine(const Job &job, Findings &findings, SourceCache &sources) {
  const Field<std::string> &name = job.cluster.machine;
  if (name.value.empty())
    return std::nullopt;
  if (const MachineProfile *profile = findProfile(name.value))
    return readMachine(profile->text, name.value, findings);
  const std::string path = pathFromJob(job.file, name.value);
  const StatusOr<std::string> text = readFile(path);
  if (!text.ok()) {
    findings.error(Rule::J, number(JobCode::MachineUnreadable), text.status().message())
        .at(name.span)
        .withHelp("`vimec machines` lists the profiles; a relative path counts from the folder of "
                  "the job file");
    return std::nullopt;
  }
  sources.add(path, *text);
  return readMachine(*text, path, findings);
}

} // namespace vime
