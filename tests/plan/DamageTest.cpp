// Damaged files: every flipped byte, every flipped bit and every truncation of a plan is refused
// with one sentence, by whoever reads it whole and by every rank whose part it hits.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Plan/Container.h"
#include "runtime/Plan/DecodeParts.h"
#include "runtime/Plan/PlanFile.h"
#include "tests/plan/SmallPlan.h"

namespace vime {
namespace {

using namespace plan;

/// What a rank never reads.
std::set<std::size_t> bytesNotReadBy(std::uint32_t rank, const std::string &bytes) {
  Preamble preamble;
  std::memcpy(&preamble, bytes.data(), sizeof preamble);
  const std::string header = bytes.substr(preamble.headerOffset, preamble.headerLength);
  std::set<std::size_t> result;
  for (const file::Part *part : *decodeHeader(header)->parts()) {
    using enum file::PartKind;
    const auto kind = static_cast<file::PartKind>(part->kind());
    const bool perRank = kind == Program || kind == Actions || kind == Operands || kind == Layout;
    const bool unread = kind == Job || kind == Tensors || kind == Predictions || kind == Origins;
    if (unread || (perRank && part->index() != rank))
      for (std::uint64_t byte = part->offset(); byte < alignPart(part->offset() + part->length());
           ++byte)
        result.insert(byte);
  }
  return result;
}

void expectRefused(const Status &status, std::size_t where) {
  ASSERT_EQ(status.code(), StatusCode::Unacceptable) << "byte " << where;
  const std::string sentence = status.message().substr(0, status.message().find("\nhelp: "));
  ASSERT_FALSE(sentence.empty() || sentence.back() == '.' ||
               sentence.find('\n') != std::string::npos)
      << sentence;
}

TEST(Damage, EveryFlippedByteAndBitIsSeen) {
  std::string bytes = serializePlan(smallPlan());
  const std::set<std::size_t> skipped[] = {bytesNotReadBy(0, bytes), bytesNotReadBy(1, bytes)};
  for (std::size_t byte = 0; byte < bytes.size(); ++byte)
    for (const int pattern : {0xFF, 1, 2, 4, 8, 16, 32, 64, 128}) {
      bytes[byte] = static_cast<char>(bytes[byte] ^ pattern);
      expectRefused(parsePlan(bytes).status(), byte);
      for (std::uint32_t rank = 0; rank < 2; ++rank)
        if (skipped[rank].contains(byte))
          EXPECT_TRUE(parseRankPlan(bytes, rank).ok()) << "rank " << rank << " reads byte " << byte;
        else
          expectRefused(parseRankPlan(bytes, rank).status(), byte);
      bytes[byte] = static_cast<char>(bytes[byte] ^ pattern);
      if (HasFatalFailure())
        return;
    }
}

TEST(Damage, EveryTruncationIsSeen) {
  const std::string bytes = serializePlan(smallPlan());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string_view cut = std::string_view(bytes).substr(0, length);
    expectRefused(parsePlan(cut).status(), length);
    expectRefused(parseRankPlan(cut, 0).status(), length);
  }
  expectRefused(parsePlan(bytes + '\0').status(), bytes.size());
  expectRefused(parsePlan(bytes + std::string(64, '\0')).status(), bytes.size());
}

TEST(Damage, TheSentenceSaysWhat) {
  const std::string bytes = serializePlan(smallPlan());
  const auto sentence = [](std::string_view damaged) {
    return parsePlan(damaged).status().message();
  };
  const std::string none = "this is not a plan: it does not begin with `VIME`\n"
                           "help: a job becomes a plan by `vimec job.yaml -o plan.bin`";
  EXPECT_EQ(sentence(""), none);
  EXPECT_EQ(sentence("version: 1\n"), none);
  EXPECT_EQ(sentence("VIME"), "the plan is cut off: it has 4 bytes, fewer than its preamble");
  EXPECT_EQ(sentence(std::string_view(bytes).substr(0, 1000)),
            "the plan is cut off or damaged: it has 1000 bytes and says " +
                std::to_string(bytes.size()));
  std::string newer = bytes;
  newer[4] = 2;
  EXPECT_EQ(sentence(newer), "the plan has container version 2, this program reads version 1");
  std::string flipped = bytes;
  flipped[bytes.find("name: small")] ^= 1;
  EXPECT_EQ(sentence(flipped), "the plan is damaged: the hash of part `job` is wrong");
}

} // namespace
} // namespace vime
