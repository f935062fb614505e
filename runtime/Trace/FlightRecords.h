// FlightRecords: the flight records of all ranks that one process starts, from before they run
// until it is known how they ended.
//
//   StatusOr<FlightRecords> records = FlightRecords::open(plan, {.planId = id, .planPath = path});
//   … records->of(rank) …                       // a thread writes there, or a process: open it
//   there return records->conclude(status, plan);     // removes them, or says where they are
//
// Without a stated folder they lie in a new one under the temporary folder, gone after a run that
// ends well or by its user; in a stated one they stay.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Plan/Plan.h"
#include "runtime/Trace/FlightRecorder.h"

namespace vime::flight {

class FlightRecords {
public:
  struct Run {
    plan::Hash128 planId{};
    std::string planPath; // for who reads the records
    std::string folder;   // stated by the user; empty: a new one, and none if there is no room
  };
  /// `File` when a stated folder cannot hold them.
  static StatusOr<FlightRecords> open(const plan::Plan &plan, const Run &run);

  FlightRecords(FlightRecords &&) noexcept;
  ~FlightRecords();

  FlightRecorder &of(std::uint32_t rank) { return recorders[rank]; }
  /// Where a rank's record is, as an absolute path; empty: nowhere.
  std::string fileOf(std::uint32_t rank) const;

  /// How the run ended. A failure comes back with what the records tell: who was first, and where
  /// they lie.
  Status conclude(const Status &status, const plan::Plan &plan);

private:
  FlightRecords() = default;
  Status make(std::uint32_t ranks, const Run &run);
  bool anybodyBegan() const;
  void removeFiles() const;

  std::vector<FlightRecorder> recorders; // by rank
  std::string path;
  bool isOurs = false;     // the folder goes with its records
  std::string shortcoming; // why there are no files
};

} // namespace vime::flight
