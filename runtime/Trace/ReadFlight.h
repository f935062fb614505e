// ReadFlight: flight records as they lie in files, whoever wrote them.
//
//   StatusOr<std::vector<std::string>> files = recordFilesIn("/tmp/vime-records-Ab12Cd");
//   StatusOr<FlightRecord> record = readFlightRecord(files->front());
//
// A record may be torn (its rank was killed while it wrote) or forged: what is returned has texts
// that end, enumerators that exist and a ring that fits; indices into the plan are for the reader
// to check.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Trace/FlightRecorder.h"

namespace vime::flight {

struct FlightRecord {
  Header header;
  std::vector<ActionRecord> recent; // oldest first; the last one is where the rank stood

  const ActionRecord *present() const { return recent.empty() ? nullptr : &recent.back(); }
  bool waits() const { return header.waitLane != kNothing; }
  /// The worker of a lane, if it has one.
  const WorkerRecord *workerOf(std::uint32_t lane) const;
};

/// `File` when it cannot be read, `Unacceptable` when it is no record of this version.
StatusOr<FlightRecord> readFlightRecord(const std::string &path);
StatusOr<FlightRecord> parseFlightRecord(std::string_view bytes);

/// Of a rank that may still be running.
FlightRecord snapshotOf(const FlightRecorder &recorder);

/// Whether the file begins as a record does.
bool isRecordFile(const std::string &path);

/// Paths of the records in a folder, by rank.
StatusOr<std::vector<std::string>> recordFilesIn(const std::string &folder);

/// Up to the zero.
template <std::size_t Size> std::string textOf(const std::array<char, Size> &field) {
  std::size_t length = 0;
  while (length < Size && field[length] != '\0')
    ++length;
  return std::string(field.data(), length);
}

} // namespace vime::flight
