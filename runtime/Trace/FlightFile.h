// FlightFile: the memory of a flight record, behind which stands a file or nothing.
//
//   StatusOr<FlightFile> file = FlightFile::create("records/rank-3.flight");
//   FlightRecorder recorder(*file);
#pragma once

#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Trace/FlightRecord.h"

namespace vime::flight {

/// `rank-3.flight`
std::string fileNameOf(std::uint32_t rank);

class FlightFile {
public:
  FlightFile() = default;
  /// A new file with all its blocks; one that was there is replaced. `File` when there is no room.
  static StatusOr<FlightFile> create(const std::string &path);
  /// One that `create` has made, for another process to write to.
  static StatusOr<FlightFile> open(const std::string &path);
  /// Without a file: nobody else will read it.
  static FlightFile inMemory();

  FlightFile(FlightFile &&other) noexcept;
  FlightFile &operator=(FlightFile &&other) noexcept;
  ~FlightFile();

  Header &header() const { return *static_cast<Header *>(mapping); }
  ActionRecord *ring() const {
    return reinterpret_cast<ActionRecord *>(static_cast<std::byte *>(mapping) + kHeaderBytes);
  }

private:
  static StatusOr<FlightFile> map(int file, const std::string &path);
  void *mapping = nullptr;
};

} // namespace vime::flight
