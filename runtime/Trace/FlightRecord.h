// Flight record: what a rank was doing, in a file that outlives it.
//
// One file a rank: a header of 4096 bytes, then a ring of its last actions. The file is allocated
// and mapped before the rank starts, so that one that is killed leaves its record too, and a disk
// that fills up later harms nobody. Little endian; times are nanoseconds of CLOCK_MONOTONIC, which
// the header ties to the wall clock once. Written by the rank (FlightRecorder.h), its watchdog and
// who started it; read by everybody (ReadFlight.h), who believes nothing in it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/Plan/Action.h"

namespace vime::flight {

constexpr std::array<char, 8> kMagic = {'V', 'I', 'M', 'E', 'F', 'L', 'T', '\0'};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kKeptActions = 512;
constexpr std::uint32_t kNothing = 0xFFFFFFFFu; // no lane, no microbatch yet
constexpr std::size_t kMostWorkers = 2;         // a program has one host and one io lane

enum class State : std::uint32_t { Preparing, Connecting, Running, Done, Failed };

/// How the rank's process went, as far as who started it saw.
enum class Ending : std::uint32_t { Unknown, Exited, Signalled, Stopped };

/// One dispatched action.
struct ActionRecord {
  std::uint32_t action = 0;            // index in the program
  std::uint32_t iteration = 0;         // of the innermost loop; behind it its trips, if that counts
  std::uint32_t step = 0;              // iteration of the outermost loop
  std::uint32_t microbatch = kNothing; // until its waits were over
  std::int64_t begin = 0;              // exact for compute, else the latest time known then
  std::int64_t end = 0;                // 0: not over
};
static_assert(sizeof(ActionRecord) == 32 && std::is_trivially_copyable_v<ActionRecord>);

/// The thread behind a host or io lane.
struct WorkerRecord {
  std::uint32_t lane = kNothing;
  std::uint32_t action = 0; // present or latest
  std::uint64_t begun = 0;  // actions of this lane
  std::uint64_t finished = 0;
  std::int64_t since = 0; // of the present action
};
static_assert(sizeof(WorkerRecord) == 32);

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t headerBytes = 0, recordBytes = sizeof(ActionRecord), records = kKeptActions;
  std::array<std::uint64_t, 2> planId{}; // low, high
  std::uint32_t rank = 0, ranks = 0;
  std::uint64_t process = 0;
  std::int64_t startedAt = 0, startedWall = 0; // one moment on both clocks

  // What changes with every action: a cache line of its own.
  alignas(64) std::uint64_t begun = 0; // actions; the latest one is at (begun - 1) % records
  std::uint64_t waitCount = 0;         // of the lane waited for: how many are to be finished
  std::uint32_t waitLane = kNothing;
  State state = State::Preparing;
  std::uint64_t progress = 0; // of actions that take long: grows while they go on

  // The watchdog's.
  alignas(64) std::int64_t aliveAt = 0; // the process ran
  std::int64_t movedAt = 0;             // the rank went on, or began to wait

  // The end.
  std::int64_t failedAt = 0;
  std::uint32_t failureCode = 0; // exit code
  std::uint32_t blamesPeer = 0;  // 1: it failed because of another rank
  Ending ending = Ending::Unknown;
  std::int32_t endingValue = 0; // exit code or signal

  alignas(64) std::array<std::uint64_t, plan::Wait::kMaxLanes> dispatched{}; // by lane
  std::array<WorkerRecord, kMostWorkers> workers{};
  std::array<char, 64> host{};
  std::array<char, 1024> plan{};    // absolute path
  std::array<char, 2048> failure{}; // message
};
/// A wait that comes to its limit may break its rank's connections before it returns: peers that
/// lose them can be this much earlier (nanoseconds) and are consequences all the same.
constexpr std::int64_t kBreakingTime = 200'000'000;

constexpr std::size_t kHeaderBytes = 4096;
// Programs other than ours watch a rank by these.
static_assert(offsetof(Header, process) == 48 && offsetof(Header, begun) == 128);
static_assert(offsetof(Header, aliveAt) == 192);
static_assert(sizeof(Header) <= kHeaderBytes && std::is_trivially_copyable_v<Header>);

constexpr std::size_t kFileBytes = kHeaderBytes + kKeptActions * sizeof(ActionRecord);

} // namespace vime::flight
