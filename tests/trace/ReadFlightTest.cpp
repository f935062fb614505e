// Flight records as bytes: what a recorder wrote comes back; a file that nobody wrote is refused or
// read without harm.
#include "runtime/Trace/ReadFlight.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Trace/Diagnosis.h"
#include "tests/exec/ChainPlan.h"

namespace vime::flight {
namespace {

using testing::HasSubstr;

class Folder {
public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "vime-test-XXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string at(const std::string &name) const { return (path / name).string(); }
  std::filesystem::path path;
};

std::string bytesOf(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// A record of rank 1 of 2 with that many actions.
std::string written(const Folder &folder, std::uint32_t actions) {
  StatusOr<FlightFile> file = FlightFile::create(folder.at(fileNameOf(1)));
  EXPECT_TRUE(file.ok()) << file.status().message();
  FlightRecorder recorder(std::move(*file));
  recorder.identify({.planId = {7, 8}, .rank = 1, .ranks = 2, .plan = "/plans/plan.bin"});
  recorder.enter(State::Running);
  for (std::uint32_t action = 0; action < actions; ++action) {
    recorder.begin(action, action % 10, action / 10);
    recorder.start(3);
    recorder.computed(100 + action, 200 + action);
    recorder.dispatched(2, action + 1);
    recorder.finish();
  }
  recorder.waitFor(2, 99);
  return folder.at(fileNameOf(1));
}

TEST(ReadFlight, WhatWasWrittenComesBack) {
  const Folder folder;
  const StatusOr<FlightRecord> record = readFlightRecord(written(folder, 5));
  ASSERT_TRUE(record.ok()) << record.status().message();
  EXPECT_EQ(record->header.rank, 1u);
  EXPECT_EQ(record->header.ranks, 2u);
  EXPECT_EQ(record->header.planId, (std::array<std::uint64_t, 2>{7, 8}));
  EXPECT_EQ(textOf(record->header.plan), "/plans/plan.bin");
  EXPECT_EQ(record->header.dispatched[2], 5u);
  EXPECT_TRUE(record->waits());
  EXPECT_EQ(record->header.waitCount, 99u);
  ASSERT_EQ(record->recent.size(), 5u);
  EXPECT_EQ(record->recent[4].action, 4u);
  EXPECT_EQ(record->recent[4].microbatch, 3u);
  EXPECT_EQ(record->recent[4].begin, 104);
  EXPECT_EQ(record->recent[4].end, 204);
}

TEST(ReadFlight, TheRingHoldsTheLatestActions) {
  const Folder folder;
  const StatusOr<FlightRecord> record = readFlightRecord(written(folder, kKeptActions + 30));
  ASSERT_TRUE(record.ok());
  ASSERT_EQ(record->recent.size(), kKeptActions);
  EXPECT_EQ(record->recent.front().action, 30u);
  EXPECT_EQ(record->present()->action, kKeptActions + 29);
}

TEST(ReadFlight, TheFirstFailureStays) {
  FlightRecorder recorder(FlightFile::inMemory());
  recorder.fail(Status(StatusCode::File, std::string(5000, 'x')), /*blamesPeer=*/false);
  recorder.fail(Status(StatusCode::Interrupted, "later"), /*blamesPeer=*/true);
  const FlightRecord record = snapshotOf(recorder);
  EXPECT_EQ(record.header.state, State::Failed);
  EXPECT_EQ(record.header.failureCode, 3u);
  EXPECT_EQ(textOf(record.header.failure), std::string(2047, 'x')); // cut, and ended
}

TEST(ReadFlight, AFolderListsItsRecordsByRank) {
  const Folder folder;
  for (const char *name : {"rank-10.flight", "rank-2.flight", "rank-x.flight", "rank-.flight",
                           "rank-3.flight.new", "notes"})
    std::ofstream(folder.at(name)) << "x";
  const StatusOr<std::vector<std::string>> files = recordFilesIn(folder.path.string());
  ASSERT_TRUE(files.ok());
  EXPECT_THAT(*files,
              testing::ElementsAre(folder.at("rank-2.flight"), folder.at("rank-10.flight")));
  EXPECT_EQ(recordFilesIn(folder.at("nowhere")).status().code(), StatusCode::File);
}

TEST(ReadFlight, WhatIsNoRecordIsRefusedByASentence) {
  const Folder folder;
  const std::string bytes = bytesOf(written(folder, 3));
  const auto expectRefused = [](std::string changed, const std::string &why) {
    const StatusOr<FlightRecord> record = parseFlightRecord(changed);
    ASSERT_FALSE(record.ok());
    EXPECT_EQ(record.status().code(), StatusCode::Unacceptable);
    EXPECT_THAT(record.status().message(), HasSubstr(why));
  };
  expectRefused("", "it does not begin like one");
  expectRefused(bytes.substr(0, 5000), "it has 5000 bytes, a record has 20480");
  const auto with = [&](std::size_t offset, std::uint32_t value) {
    std::string changed = bytes;
    std::memcpy(changed.data() + offset, &value, sizeof value);
    return changed;
  };
  expectRefused(with(offsetof(Header, magic), 0), "it does not begin like one");
  expectRefused(with(offsetof(Header, version), 2), "it is of version 2, this program reads 1");
  expectRefused(with(offsetof(Header, records), 9), "its sizes are those of another program");
  expectRefused(with(offsetof(Header, state), 5), "a state that does not exist");
  expectRefused(with(offsetof(Header, ending), 9), "a state that does not exist");
  expectRefused(with(offsetof(Header, rank), 2), "it is of rank 2 of 2");
  expectRefused(with(offsetof(Header, aliveAt) + 4, 0x7FFFFFFF), "a time that cannot be");
  expectRefused(with(kHeaderBytes + offsetof(ActionRecord, begin) + 4, 0xFFFFFFFF),
                "a time that cannot be");
  EXPECT_EQ(readFlightRecord(folder.at("none")).status().code(), StatusCode::File);
}

/// Whatever the bytes are, reading and explaining them ends.
TEST(ReadFlight, RandomBytesDoNoHarm) {
  const Folder folder;
  const std::string bytes = bytesOf(written(folder, 40));
  const plan::Plan plan = chainPlan({.ranks = 2});
  std::mt19937 random(1);
  std::size_t accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string changed = bytes;
    for (int flips = 1 + static_cast<int>(random() % 40); flips > 0; --flips)
      changed[(round % 2 ? random() % kHeaderBytes : random() % changed.size())] =
          static_cast<char>(random());
    const StatusOr<FlightRecord> record = parseFlightRecord(changed);
    if (!record.ok())
      continue;
    ++accepted;
    RecordsByRank records(2, nullptr);
    records[std::min(record->header.rank, 1u)] = &*record;
    EXPECT_FALSE(placeOf(plan, *record).empty());
    const Diagnosis diagnosis = diagnose(plan, records);
    EXPECT_EQ(diagnosis.sentence.empty(), diagnosis.cause == Cause::None);
  }
  EXPECT_GT(accepted, 200u);
}

} // namespace
} // namespace vime::flight
