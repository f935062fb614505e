// vimec import LAUNCH: a launch line of vime or slime as a job, with a note for each flag that the
// job cannot say, and for each value that it still needs.
#include <filesystem>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Frontend/ImportLaunch.h"
#include "compiler/Frontend/ReadJob.h"

namespace vime {
namespace {

/// A name from the file's, of letters that names have.
std::string nameFrom(const std::string &path) {
  std::string name = path == "-" ? "imported" : std::filesystem::path(path).stem().string();
  for (char &letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '_' && letter != '-' &&
        letter != '.')
      letter = '-';
  return name.empty() ? "imported" : name.substr(0, 100);
}

std::vector<std::string> notesOf(const ImportedJob &job, const std::string &file) {
  std::vector<std::string> notes = job.notes;
  Findings findings;
  readJob(job.text, file, findings);
  for (const Finding &finding : findings.all())
    notes.push_back(fmt::format("to be settled in the job: {}: {}",
                                codeOf(finding.rule, finding.number), finding.message));
  return notes;
}

} // namespace

int runImportLaunch(const std::string &text, const ImportArguments &arguments,
                    const OutputOptions &output) {
  if (!arguments.placement.empty())
    return reportFailure(Status(StatusCode::Usage, "`--placement` is of tables, and this is a "
                                                   "launch line\nhelp: leave it out"),
                         output);
  const ImportedJob job = importLaunch(readLaunch(text), nameFrom(arguments.table));
  const std::vector<std::string> notes =
      notesOf(job, arguments.csv == "-" ? "job.yaml" : arguments.csv);
  const bool isPrinted = output.json && arguments.csv == "-"; // inside the JSON
  if (!isPrinted)
    if (const Status written = writeText(arguments.csv, job.text); !written.ok())
      return reportFailure(written, output);
  if (output.json) {
    nlohmann::ordered_json json{{"errors", nlohmann::json::array()}, {"notes", notes}};
    json[isPrinted ? "job" : "output"] = isPrinted ? job.text : arguments.csv;
    std::cout << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
    return 0;
  }
  for (const std::string &note : notes)
    std::cerr << fmt::format("{}: note: {}\n", printable(arguments.table), printable(note));
  return 0;
}

} // namespace vime
