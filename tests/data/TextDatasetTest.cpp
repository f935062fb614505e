// Training text: the same samples whoever asks, every window once an epoch, and no silent change of
// the file.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Data/Permutation.h"
#include "runtime/Data/TextDataset.h"

namespace vime {
namespace {

using testing::HasSubstr;

/// Windows of equal length, so many in each of so many microbatches.
BatchShape windows(std::uint32_t sequence, std::uint32_t samples, std::uint32_t microbatches,
                   plan::Tail tail = plan::Tail::Join) {
  return {.sequence = sequence,
          .room = {.tokens = sequence * samples, .samples = samples},
          .batch = std::uint64_t(samples) * microbatches,
          .tail = tail};
}

class Text : public testing::Test {
protected:
  Text() {
    std::string pattern = testing::TempDir() + "vime-text-XXXXXX";
    file = mkstemp(pattern.data());
    path = pattern;
  }
  ~Text() override {
    close(file);
    std::filesystem::remove(path);
  }
  void write(const std::string &text) const {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }
  /// The samples of one microbatch as text, each with its last label.
  static std::vector<std::string> samples(TextDataset &data, BatchShape shape, std::uint64_t step,
                                          std::uint32_t microbatch) {
    data.begin(step);
    std::vector<std::int32_t> tokens(shape.room.tokens, -1), labels = tokens;
    std::vector<std::int32_t> segments(shape.room.samples + 1, -1);
    EXPECT_TRUE(data.fill({microbatch}, tokens.data(), labels.data(), segments.data()).ok());
    EXPECT_EQ(static_cast<std::uint32_t>(segments.back()), data.tokensOf({microbatch}));
    std::vector<std::string> texts;
    for (std::uint32_t sample = 0; sample < shape.room.samples; ++sample) {
      const auto begin = tokens.begin() + segments[sample],
                 end = tokens.begin() + segments[sample + 1];
      if (begin == end)
        continue;
      texts.emplace_back(begin, end);
      texts.back() += char(labels[segments[sample + 1] - 1]);
      for (auto at = begin + 1; at < end; ++at)
        EXPECT_EQ(*at, labels[at - tokens.begin() - 1]); // the label is the next token
    }
    return texts;
  }
  /// Of all microbatches of a step.
  static std::vector<std::string> samplesOfStep(TextDataset &data, BatchShape shape,
                                                std::uint64_t step) {
    std::vector<std::string> texts;
    data.begin(step);
    for (std::uint32_t microbatch = 0; microbatch < data.microbatches(); ++microbatch)
      for (const std::string &sample : samples(data, shape, step, microbatch))
        texts.push_back(sample);
    EXPECT_EQ(texts.size(), data.samplesOfStep());
    return texts;
  }

  std::string path;

private:
  int file;
};

// Slices of a microbatch have the next part of every sample, one after the other.
TEST_F(Text, SlicesAreTheirSamplesInParts) {
  write("abcdefghijklmnopqrstuvwxyz0123456789");
  BatchShape shape = windows(8, 2, 2);
  auto whole = TextDataset::open(path, shape, 7);
  shape.slices = 4;
  auto sliced = TextDataset::open(path, shape, 7);
  ASSERT_TRUE(whole.ok() && sliced.ok());
  whole->begin(1);
  sliced->begin(1);
  for (std::uint32_t microbatch = 0; microbatch < 2; ++microbatch) {
    std::vector<std::int32_t> tokens(16), labels(16), segments(3);
    ASSERT_TRUE(whole->fill({microbatch}, tokens.data(), labels.data(), segments.data()).ok());
    for (std::uint32_t slice = 0; slice < 4; ++slice) {
      std::vector<std::int32_t> partTokens(4), partLabels(4);
      EXPECT_EQ(sliced->tokensOf({microbatch, slice}), 4u);
      ASSERT_TRUE(
          sliced->fill({microbatch, slice}, partTokens.data(), partLabels.data(), segments.data())
              .ok());
      EXPECT_EQ(segments, (std::vector<std::int32_t>{0, 2, 4}));
      for (std::uint32_t token = 0; token < 4; ++token) {
        const std::uint32_t inWhole = token / 2 * 8 + slice * 2 + token % 2;
        EXPECT_EQ(partTokens[token], tokens[inWhole]);
        EXPECT_EQ(partLabels[token], labels[inWhole]);
      }
    }
  }
  EXPECT_EQ(sliced->tokensOf({2, 0}), 0u);
}

TEST_F(Text, ASampleIsAWindowAndAnEpochIsAllOfThem) {
  write("abcdefghijklmnopqrstuvwxyz"); // 6 windows of 4, and 2 bytes left over
  const BatchShape shape = windows(3, 2, 1);
  auto data = TextDataset::open(path, shape, 7);
  ASSERT_TRUE(data.ok()) << data.status().message();
  EXPECT_EQ(data->count(), 6u);
  std::vector<std::vector<std::string>> epochs(2);
  for (std::uint64_t step = 0; step < 6; ++step)
    for (const std::string &sample : samples(*data, shape, step, 0))
      epochs[step / 3].push_back(sample);
  for (const auto &epoch : epochs)
    EXPECT_THAT(epoch,
                testing::UnorderedElementsAre("abcd", "efgh", "ijkl", "mnop", "qrst", "uvwx"));
  EXPECT_NE(epochs[0], epochs[1]);
}

TEST_F(Text, AStepRunsOnIntoTheNextEpoch) {
  write("abcdefghijkl"); // 3 windows
  const BatchShape shape = windows(3, 2, 1);
  auto data = TextDataset::open(path, shape, 7);
  std::vector<std::string> drawn;
  for (std::uint64_t step = 0; step < 3; ++step)
    for (const std::string &sample : samples(*data, shape, step, 0))
      drawn.push_back(sample);
  EXPECT_EQ(std::set(drawn.begin(), drawn.begin() + 3), std::set(drawn.begin() + 3, drawn.end()));
}

TEST_F(Text, AShortStepEndsAnEpochSoThatEveryWindowComesOnce) {
  write("abcdefghijklmnopqrstuvwxyz01"); // 7 windows of 4; a step has 4
  const BatchShape shape = windows(3, 2, 2, plan::Tail::Short);
  auto data = TextDataset::open(path, shape, 7);
  ASSERT_TRUE(data.ok()) << data.status().message();
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    std::vector<std::string> seen = samplesOfStep(*data, shape, 2 * epoch);
    EXPECT_EQ(seen.size(), 4u);
    for (const std::string &sample : samplesOfStep(*data, shape, 2 * epoch + 1))
      seen.push_back(sample);
    EXPECT_THAT(seen, testing::UnorderedElementsAre("abcd", "efgh", "ijkl", "mnop", "qrst", "uvwx",
                                                    "yz01"));
  }
  data->begin(1);
  EXPECT_EQ(data->microbatches(), 2u); // of two samples and one
  EXPECT_EQ(data->tokensOf({0}), 6u);
  EXPECT_EQ(data->tokensOf({1}), 3u);
  EXPECT_EQ(data->tokensOf({2}), 0u);
  EXPECT_EQ(data->tokensOfStep(), 9u);
}

TEST_F(Text, AStepThatWouldBeShortCanBeDropped) {
  write("abcdefghijklmnopqrst"); // 5 windows, a step has 2
  const BatchShape shape = windows(3, 2, 1, plan::Tail::Drop);
  auto data = TextDataset::open(path, shape, 7);
  std::set<std::string> seen;
  for (std::uint64_t step = 0; step < 2; ++step) {
    const std::vector<std::string> samples = samplesOfStep(*data, shape, step);
    EXPECT_EQ(samples.size(), 2u);
    seen.insert(samples.begin(), samples.end());
  }
  EXPECT_EQ(seen.size(), 4u);
  // The next epoch begins with all windows again, in another order.
  const BatchShape joined = windows(3, 5, 1);
  auto whole = TextDataset::open(path, joined, 7);
  const std::vector<std::string> next = samplesOfStep(*data, shape, 2);
  const std::vector<std::string> epoch = samplesOfStep(*whole, joined, 1);
  EXPECT_EQ(next, std::vector(epoch.begin(), epoch.begin() + 2));
}

TEST_F(Text, HeldOutTextIsReadInItsOwnOrder) {
  write("abcdefghijkl");
  BatchShape shape = windows(3, 1, 2);
  shape.shuffled = false;
  auto data = TextDataset::open(path, shape, 7);
  EXPECT_THAT(samplesOfStep(*data, shape, 0), testing::ElementsAre("abcd", "efgh"));
}

TEST_F(Text, BatchesDoNotDependOnTheCutIntoMicrobatchesNorOnTheOrderOfAsking) {
  std::string text;
  for (int at = 0; at < 5000; ++at)
    text += char('!' + at * at % 89);
  write(text);
  const BatchShape few = windows(7, 6, 2);
  const BatchShape many = windows(7, 2, 6);
  auto a = TextDataset::open(path, few, 3), b = TextDataset::open(path, many, 3);
  for (std::uint64_t step : {40, 3, 0}) {
    std::vector<std::string> first, second;
    for (std::uint32_t microbatch = 0; microbatch < 2; ++microbatch)
      for (const auto &sample : samples(*a, few, step, microbatch))
        first.push_back(sample);
    for (std::uint32_t microbatch = 0; microbatch < 6; ++microbatch)
      for (const auto &sample : samples(*b, many, step, microbatch))
        second.push_back(sample);
    EXPECT_EQ(first, second);
  }
  auto other = TextDataset::open(path, few, 4);
  EXPECT_NE(samples(*a, few, 0, 0), samples(*other, few, 0, 0));
}

/// Lines of all lengths up to twice the sequence, some empty; each is another one.
std::string linesOfText() {
  std::string text;
  for (int line = 0; line < 60; ++line)
    text += line % 7 == 3 ? "\n" : std::to_string(line) + std::string(line * 5 % 31, 'x') + '\n';
  return text;
}

TEST_F(Text, LinesArePackedAndComeOnceAnEpoch) {
  write(linesOfText());
  const BatchShape shape{.sequence = 16,
                         .room = {.tokens = 40, .samples = 10},
                         .batch = 10,
                         .split = plan::Split::Line,
                         .tail = plan::Tail::Short};
  auto data = TextDataset::open(path, shape, 7);
  ASSERT_TRUE(data.ok()) << data.status().message();
  BatchShape inOrder = shape;
  inOrder.shuffled = false;
  inOrder.batch = data->count();
  auto whole = TextDataset::open(path, inOrder, 7);
  std::vector<std::string> all = samplesOfStep(*whole, inOrder, 0);
  std::set<std::uint32_t> counts;
  const std::uint64_t steps = (data->count() + 9) / 10;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::string> seen;
    for (std::uint64_t step = epoch * steps; step < (epoch + 1) * steps; ++step) {
      for (const std::string &sample : samplesOfStep(*data, shape, step))
        seen.push_back(sample);
      counts.insert(data->microbatches());
      for (std::uint32_t microbatch = 0; microbatch < data->microbatches(); ++microbatch)
        EXPECT_LE(data->tokensOf({microbatch}), 40u);
    }
    EXPECT_THAT(seen, testing::UnorderedElementsAreArray(all));
  }
  EXPECT_GT(counts.size(), 1u); // else the test would show nothing
}

TEST_F(Text, TooFewLinesSayHowLongTheyMayBe) {
  write("one\ntwo\n");
  const BatchShape shape{
      .sequence = 8, .room = {.tokens = 8, .samples = 8}, .batch = 3, .split = plan::Split::Line};
  EXPECT_THAT(TextDataset::open(path, shape, 7).status().message(),
              HasSubstr("its 8 bytes hold 2 samples of up to 8 tokens and their labels, a step "
                        "needs 3"));
}

TEST_F(Text, BytesAreTokens) {
  write({'\0', '\xff', '\x80', '\n'});
  auto data = TextDataset::open(path, windows(3, 1, 1), 7);
  std::int32_t tokens[3], labels[3], segments[2];
  data->begin(0);
  ASSERT_TRUE(data->fill({0}, tokens, labels, segments).ok());
  EXPECT_THAT(tokens, testing::ElementsAre(0, 255, 128));
  EXPECT_THAT(labels, testing::ElementsAre(255, 128, 10));
  EXPECT_THAT(segments, testing::ElementsAre(0, 3));
}

TEST_F(Text, TooShortForAStepSaysByHowMuch) {
  write(std::string(1000, 'x'));
  auto data = TextDataset::open(path, windows(128, 4, 2), 7);
  ASSERT_FALSE(data.ok());
  EXPECT_EQ(data.status().code(), StatusCode::InvalidInput);
  EXPECT_EQ(data.status().message(), "text `" + path +
                                         "` is too short: its 1000 bytes hold 7 samples of 128 "
                                         "tokens and their labels, a step needs 8");
  write("");
  EXPECT_THAT(TextDataset::open(path, windows(1, 1, 1), 7).status().message(),
              HasSubstr("its 0 bytes"));
}

TEST_F(Text, MissingFilesAndDirectoriesAreFileErrors) {
  const BatchShape shape = windows(1, 1, 1);
  EXPECT_EQ(TextDataset::open(path + ".missing", shape, 7).status().code(), StatusCode::File);
  EXPECT_EQ(TextDataset::open(testing::TempDir(), shape, 7).status().code(), StatusCode::File);
  EXPECT_EQ(hashFile(path + ".missing").status().code(), StatusCode::File);
  EXPECT_EQ(hashFile(testing::TempDir()).status().code(), StatusCode::File);
}

TEST_F(Text, ChangedSinceThePlanWasMade) {
  write("abcdefgh");
  const FileFingerprint planned = *hashFile(path);
  const BatchShape shape = windows(3, 1, 1);
  EXPECT_TRUE(TextDataset::open(path, shape, 7, planned).ok());
  write("abcdefgX");
  EXPECT_THAT(TextDataset::open(path, shape, 7, planned).status().message(),
              HasSubstr("has other content than when the plan was made"));
  write("abcdefghi");
  const Status status = TextDataset::open(path, shape, 7, planned).status();
  EXPECT_EQ(status.code(), StatusCode::Unacceptable);
  EXPECT_THAT(status.message(), HasSubstr("has 9 bytes, and had 8 when the plan was made"));
}

TEST_F(Text, ChangedWhileTraining) {
  write(std::string(100'000, 'x'));
  auto data = TextDataset::open(path, windows(3, 1, 1), 7);
  std::int32_t tokens[3], labels[3], segments[2];
  data->begin(0);
  EXPECT_TRUE(data->fill({0}, tokens, labels, segments).ok());
  std::filesystem::resize_file(path, 10);
  data->begin(1);
  const Status status = data->fill({0}, tokens, labels, segments);
  EXPECT_EQ(status.code(), StatusCode::File);
  EXPECT_THAT(status.message(), HasSubstr("changed while it was read"));
}

TEST_F(Text, TheHashIsXxh3) {
  write("");
  EXPECT_EQ(*hashFile(path), (FileFingerprint{0, {0x6001c324468d497f, 0x99aa06d3014798d8}}));
  write(std::string(3'000'000, 'a'));
  const FileFingerprint long3 = *hashFile(path);
  EXPECT_EQ(long3.bytes, 3'000'000u);
  write(std::string(2'999'999, 'a') + "b"); // another byte in the last block
  EXPECT_NE(hashFile(path)->hash, long3.hash);
}

TEST(Permutation, IsABijectionOfEverySize) {
  for (std::uint64_t count = 1; count <= 300; ++count) {
    const Permutation order(count, 7, count % 3);
    std::set<std::uint64_t> seen;
    for (std::uint64_t index = 0; index < count; ++index)
      seen.insert(order(index));
    EXPECT_EQ(seen.size(), count);
    EXPECT_EQ(*seen.rbegin(), count - 1);
  }
}

TEST(Permutation, OfManyLooksShuffled) {
  constexpr std::uint64_t kCount = 1'000'003;
  const Permutation order(kCount, 7, 0), next(kCount, 7, 1);
  int ascents = 0, fixed = 0;
  for (std::uint64_t index = 0; index < 10'000; ++index) {
    ascents += order(index) < order(index + 1);
    fixed += order(index) == next(index);
  }
  EXPECT_NEAR(ascents, 5'000, 300); // six standard deviations
  EXPECT_LE(fixed, 3);
}

TEST(Permutation, OfHugeCountsStaysInRange) {
  for (std::uint64_t count :
       {std::uint64_t(1) << 62, (std::uint64_t(1) << 62) + 1, ~std::uint64_t(0)}) {
    const Permutation order(count, 1, 2);
    for (std::uint64_t index : {std::uint64_t(0), count / 2, count - 1})
      EXPECT_LT(order(index), count);
  }
}

} // namespace
} // namespace vime
