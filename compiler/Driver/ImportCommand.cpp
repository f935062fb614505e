// vimec import TABLE: an order in any notation that is known, judged, in today's notation of
// PyTorch. What has flags is a launch line: ImportLaunchCommand.cpp.
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/OrderNotes.h"
#include "compiler/Frontend/LaunchLine.h"
#include "compiler/Frontend/OrderFile.h"
#include "schedules/Notation.h"

namespace vime {

int runImport(const ImportArguments &arguments, const OutputOptions &output) {
  const StatusOr<std::string> text = readTableFile(arguments.table);
  if (!text.ok())
    return reportFailure(text.status(), output);
  if (isLaunch(*text))
    return runImportLaunch(*text, arguments, output);
  SourceCache sources;
  sources.add(arguments.table, *text);
  Findings findings;
  const std::optional<OrderTable> table =
      judgedTable(*text, arguments.table, findings, arguments.placement);
  if (!table)
    return reportFindings(findings, sources, output);
  const std::vector<std::string> notes = notesOnImport(*table);
  const bool isPrinted = output.json && arguments.csv == "-"; // inside the JSON
  if (!isPrinted)
    if (const Status written = writeText(arguments.csv, toCsv(*table)); !written.ok())
      return reportFailure(written, output);
  if (output.json) {
    nlohmann::ordered_json json{{"errors", nlohmann::json::array()}, {"notes", notes}};
    json[isPrinted ? "csv" : "output"] = isPrinted ? toCsv(*table) : arguments.csv;
    std::cout << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
    return 0;
  }
  for (const std::string &note : notes)
    std::cerr << fmt::format("{}: note: {}\n", printable(arguments.table), note);
  return 0;
}

} // namespace vime
