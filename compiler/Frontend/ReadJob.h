// readJob: the text of a job.yaml to a complete, legal job, or to everything that is wrong with it.
//
//   Findings findings;
//   if (std::optional<Job> job = readJob(text, "job.yaml", findings))
//     compile(*job);
//   else
//     std::cerr << renderText(findings, sources); // sources.add("job.yaml", text)
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Frontend/Job.h"

namespace vime {

/// `file` names the text in messages, gives the job its name if it states none, and relative paths
/// count from its folder. A job if and only if nothing was found. Besides the text only
/// `config.json` of a stated checkpoint and the table of a stated order are read; the table's text
/// goes to `sources`, since findings may point into it. `settings` go before the text (Settings.h).
std::optional<Job> readJob(std::string_view text, const std::string &file, Findings &findings,
                           std::span<const std::string> settings = {},
                           SourceCache *sources = nullptr);

/// `path` as the job states it, seen from where the compiler runs: relative paths count from the
/// job file's folder.
std::string pathFromJob(const std::string &jobFile, const std::string &path);

} // namespace vime
