// vimec explain RECORDS: what the flight records of a run tell: who was first, and why.
#pragma once

#include <string>
#include <vector>

#include "compiler/Driver/Output.h"
#include "runtime/Trace/Diagnosis.h"

namespace vime {

/// A folder that holds flight records, or such a file.
bool isRecord(const std::string &path);

/// Files and folders of one run; the plan is the one that the records name, or `plan`.
int explainRecords(const std::vector<std::string> &paths, const std::string &plan,
                   const OutputOptions &output);

/// The records of one run with its plan.
struct RecordedRun {
  plan::Plan plan;
  std::string planPath;
  std::vector<flight::FlightRecord> records; // ascending by rank
  flight::RecordsByRank byRank() const;
};
std::string recordsText(const RecordedRun &run);
std::string recordsJson(const RecordedRun &run);

} // namespace vime
