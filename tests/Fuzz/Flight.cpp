// Fuzz target `flight`: the flight records of a run of two ranks, as `vimec explain` takes them.
//
// Input: edits of the two records, each a place, a length below 16 and the bytes that are there
// afterwards; a length of 0 cuts a record off.
#include "runtime/Trace/FlightRecord.h"

#include <fstream>
#include <iostream>
#include <sstream>

#include "compiler/Driver/ExplainRecords.h"
#include "runtime/Plan/PlanFile.h"
#include "runtime/Trace/FlightFile.h"
#include "tests/Fuzz/InputReader.h"
#include "tests/Fuzz/Target.h"
#include "tests/model/TemporaryDirectory.h"
#include "tests/plan/SmallPlan.h"

namespace vime::fuzz {
namespace {

constexpr std::uint32_t kRanks = 2;

const plan::Plan &plan() {
  static const plan::Plan kPlan = smallPlan();
  return kPlan;
}

std::string recordOf(std::uint32_t rank) {
  flight::Header header;
  header.headerBytes = flight::kHeaderBytes;
  header.planId = planId(plan());
  header.rank = rank;
  header.ranks = kRanks;
  header.begun = 3;
  header.state = flight::State::Running;
  std::string bytes(flight::kFileBytes, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  for (std::uint32_t action = 0; action < header.begun; ++action) {
    const flight::ActionRecord record{.action = action, .microbatch = 0, .begin = 1, .end = 2};
    std::memcpy(bytes.data() + flight::kHeaderBytes + action * sizeof record, &record,
                sizeof record);
  }
  return bytes;
}

/// What is said while it lives goes nowhere.
class Silence {
public:
  Silence() : out(std::cout.rdbuf(said.rdbuf())), error(std::cerr.rdbuf(said.rdbuf())) {}
  ~Silence() {
    std::cout.rdbuf(out);
    std::cerr.rdbuf(error);
  }

private:
  std::ostringstream said;
  std::streambuf *out, *error;
};

bool isAnExit(int code) { return code == 0 || code == 3 || code == 4; }

} // namespace

void eat(std::string_view bytes) {
  static const TemporaryDirectory kFolder;
  static const bool kWritten = plan::writePlan(plan(), kFolder.path("plan.bin")).ok();
  must(kWritten, "the plan can be written");
  std::vector<std::string> records;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    records.push_back(recordOf(rank));
  for (InputReader input(bytes); !input.isEmpty();) {
    std::string &record = records[input.number<std::uint8_t>() % kRanks];
    const std::size_t at = input.below(record.size() + 1);
    const std::string_view patch = input.text(input.number<std::uint8_t>() % 16);
    if (patch.empty())
      record.resize(at);
    else
      record.replace(at, patch.size(), patch);
  }
  std::vector<std::string> paths;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    paths.push_back(kFolder.path(flight::fileNameOf(rank)));
    std::ofstream(paths.back(), std::ios::binary | std::ios::trunc) << records[rank];
  }
  const Silence silence;
  for (const bool json : {false, true})
    must(isAnExit(explainRecords(paths, kFolder.path("plan.bin"), {.json = json})),
         "records are explained, or refused");
}

std::vector<std::string> seeds() {
  std::vector<std::string> seeds = {std::string(3, '\0')};
  addRandomInputs(seeds, 100, 60);
  return seeds;
}

} // namespace vime::fuzz
