// How many microbatches packed steps need: as packed, or a number that no step exceeds.
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "compiler/Frontend/StepNeeds.h"

namespace vime {
namespace {

class Packed : public testing::Test {
protected:
  Packed() : path(testing::TempDir() + "vime-packed.txt") {}
  ~Packed() override { std::filesystem::remove(path); }

  /// So many lines, each of 1 to `longest` tokens.
  void writeLines(int lines, int longest, unsigned seed) const {
    std::mt19937 random(seed);
    std::ofstream file(path, std::ios::binary);
    for (int line = 0; line < lines; ++line)
      file << std::string(1 + random() % longest, 'x') << '\n';
  }
  TextDataset open(const BatchShape &shape, std::uint64_t seed) const {
    StatusOr<TextDataset> text = TextDataset::open(path, shape, seed);
    EXPECT_TRUE(text.ok()) << text.status().message();
    return std::move(*text);
  }

  const std::string path;
};

BatchShape linesOf(std::uint64_t batch, std::uint32_t room, std::uint32_t longest,
                   plan::Tail tail = plan::Tail::Join) {
  return {.sequence = longest,
          .room = {.tokens = room, .samples = room},
          .batch = batch,
          .split = plan::Split::Line,
          .tail = tail};
}

TEST_F(Packed, WhatOccursInTheRun) {
  writeLines(50, 12, 3);
  const BatchShape shape = linesOf(9, 16, 12, plan::Tail::Short);
  TextDataset text = open(shape, 7);
  const StepNeeds needs = needsOf(text, 40, /*replicas=*/2);
  EXPECT_FALSE(needs.isBound);
  std::set<std::uint32_t> seen;
  for (std::uint64_t step = 0; step < 40; ++step) {
    text.begin(step);
    const std::uint32_t ofReplica = (text.microbatches() + 1) / 2;
    EXPECT_TRUE(step >= needs.step || ofReplica < needs.microbatches.back()) << "step " << step;
    seen.insert(ofReplica);
  }
  EXPECT_EQ(std::vector(seen.begin(), seen.end()), needs.microbatches);
  text.begin(needs.step);
  EXPECT_EQ((text.microbatches() + 1) / 2, needs.microbatches.back());
  EXPECT_GT(seen.size(), 1u); // else it would show nothing
}

TEST_F(Packed, NoStepExceedsTheBound) {
  for (unsigned round = 0; round < 60; ++round) {
    std::mt19937 random(round);
    const auto longest = static_cast<int>(2 + random() % 30);
    writeLines(20 + static_cast<int>(random() % 60), longest, round);
    const BatchShape shape =
        linesOf(1 + random() % 20, static_cast<std::uint32_t>(longest) + random() % 40,
                static_cast<std::uint32_t>(longest),
                random() % 2 == 0 ? plan::Tail::Join : plan::Tail::Short);
    TextDataset text = open(shape, round);
    const std::uint32_t bound = packingBound(text.cut(), shape);
    EXPECT_LE(bound, shape.batch);
    for (std::uint64_t step = 0; step < 50; ++step) {
      text.begin(step);
      EXPECT_LE(text.microbatches(), bound) << "round " << round;
    }
  }
}

TEST_F(Packed, ARunTooLongToLookAtHasTheBound) {
  writeLines(50, 12, 3);
  const BatchShape shape = linesOf(9, 16, 12);
  TextDataset text = open(shape, 7);
  const StepNeeds needs = needsOf(text, std::uint64_t{1} << 31, /*replicas=*/1);
  EXPECT_TRUE(needs.isBound);
  EXPECT_EQ(needs.microbatches.front(), 1u);
  EXPECT_EQ(needs.microbatches.back(), packingBound(text.cut(), shape));
}

} // namespace
} // namespace vime
