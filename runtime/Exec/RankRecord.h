// RankRecord: the flight record of a rank that is a process, and where it lies: in the file that
// the process that starts all ranks has made, in the folder that the user names, or, of a rank that
// a launcher started, in a folder under the temporary one that all ranks of the run on this machine
// share (`vime-records-PARENT-PORT-ATTEMPT`).
//
//   StatusOr<RankRecord> record = RankRecord::open(self, options);
//   … record->recorder() …
//   return record->conclude(end);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/Exec/RankProcess.h"
#include "runtime/Trace/FlightRecorder.h"

namespace vime {

class RankRecord {
public:
  /// `File` when a stated folder cannot hold it; without room in the temporary one there is none,
  /// and a failure says so.
  static StatusOr<RankRecord> open(const RankProcess &self, const RunOptions &options);

  flight::FlightRecorder &recorder() { return *written; }

  /// The records of all other ranks, where they are all on this machine and keep one; else none.
  std::vector<flight::FlightFile> openOthers(const RankProcess &self) const;

  /// Writes down how the rank ended. A record whose rank met nobody, or ended well, goes, unless it
  /// lies where the user or the starting process asked for it; of another the message says where
  /// it is.
  RankEnd conclude(RankEnd end);
  /// The same for a rank that ends before its action does.
  Status abandon(const Status &status, bool blamesPeer);

private:
  StatusOr<flight::FlightFile> makeFile(const RankProcess &self, const RunOptions &options);
  Status conclude(const Status &status, bool blamesPeer);
  bool isWorthKeeping(const Status &status) const;
  void remove() const;

  std::optional<flight::FlightRecorder> written;
  std::string folder;      // for the message; empty: whoever started the rank tells
  std::string ownFile;     // goes with the run
  std::string shortcoming; // why there is no file
};

} // namespace vime
