// A run is saved and comes back, to the bit, under any split into stages; the newest whole one is
// taken.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Checkpoint/Choose.h"
#include "tests/checkpoint/SavedRun.h"

namespace vime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

struct CheckpointTest : testing::Test, SavedRun {
  void damage(std::uint64_t steps) const {
    std::fstream file(pathOf(steps) + "/stage-00001-of-00002.safetensors",
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-3, std::ios::end);
    file.put('\x55');
  }
};

TEST_F(CheckpointTest, ComesBackUnderOtherStages) {
  for (const std::uint32_t before : {1, 2, 3, 4}) {
    ASSERT_TRUE(save(before, before).ok()) << save(before, before).message();
    const auto checkpoint = Checkpoint::open(pathOf(before));
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    EXPECT_TRUE(checkpoint->verify().ok());
    EXPECT_EQ(checkpoint->manifest().progress, (RunProgress{before, before, before * 16}));
    for (const std::uint32_t after : {1, 2, 3, 4})
      for (const StageSpec &spec : savedStages(after)) {
        StageBytes state(spec);
        std::fill(state.weights.begin(), state.weights.end(), std::byte(1));
        std::fill(state.moments.begin(), state.moments.end(), std::byte(1));
        const Status loaded = checkpoint->load(savedModel(), spec, state.memory());
        ASSERT_TRUE(loaded.ok()) << loaded.message();
        EXPECT_EQ(state, stateOf(spec, before)) << before << " stages read as " << after;
      }
  }
}

TEST_F(CheckpointTest, OfAnotherShapeIsRefused) {
  ASSERT_TRUE(save(1).ok());
  const auto checkpoint = Checkpoint::open(pathOf(1));
  ModelConfig wider = savedModel();
  wider.ffn = 16;
  const StageSpec spec = stageSpec(wider, splitLayers(wider, 1)[0], {8, 1, 8});
  StageBytes state(spec);
  EXPECT_THAT(checkpoint->load(wider, spec, state.memory()).message(),
              HasSubstr("tensor `layers.0.gate_up` is F32 [24, 8], expected F32 [32, 8]"));
  ModelConfig deeper = savedModel();
  deeper.layers = 5;
  const StageSpec deep = stageSpec(deeper, splitLayers(deeper, 1)[0], {8, 1, 8});
  StageBytes deepState(deep);
  EXPECT_THAT(checkpoint->load(deeper, deep, deepState.memory()).message(),
              HasSubstr("tensor `layers.4."));
}

TEST(StageTensors, MastersStandForRoundedWeights) {
  ModelConfig model = savedModel();
  model.type = DataType::BFloat16;
  const StageSpec spec = stageSpec(model, splitLayers(model, 2)[0], {8, 1, 8});
  const std::vector<StageTensor> tensors = tensorsOf(model, spec);
  ASSERT_EQ(tensors.size(), 3 * spec.tensors.size());
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    const TensorSpec &own = spec.tensors[index % spec.tensors.size()];
    EXPECT_EQ(tensors[index].type, "F32") << tensors[index].name;
    EXPECT_EQ(tensors[index].region, StageTensor::Region::Moments) << tensors[index].name;
    constexpr std::uint64_t kParts[] = {2, 0, 1}; // masters, first moments, second moments
    const std::uint64_t part = kParts[index / spec.tensors.size()];
    EXPECT_EQ(tensors[index].offset, part * spec.gradientBytes + own.offset * 4);
    EXPECT_EQ(tensors[index].bytes, own.elements() * 4);
  }
}

TEST_F(CheckpointTest, TheNewestIsTaken) {
  for (const std::uint64_t steps : {9, 100, 20})
    ASSERT_TRUE(save(steps).ok());
  const auto choice = chooseCheckpoint(directory, identity, 1000);
  ASSERT_TRUE(choice.ok()) << choice.status().message();
  EXPECT_EQ(choice->checkpoint.path(), pathOf(100));
  EXPECT_TRUE(choice->skipped.empty());
  EXPECT_EQ(chooseCheckpoint(pathOf(9), identity, 1000)->checkpoint.path(), pathOf(9));
}

TEST_F(CheckpointTest, OneThatIsNotWholeIsSkippedWithTheReason) {
  for (const std::uint64_t steps : {1, 2, 3, 4})
    ASSERT_TRUE(save(steps).ok());
  damage(2);
  fs::remove(pathOf(3) + "/stage-00000-of-00002.safetensors");
  fs::resize_file(pathOf(4) + "/checkpoint.json", 100);
  const auto choice = chooseCheckpoint(directory, identity, 10);
  ASSERT_TRUE(choice.ok()) << choice.status().message();
  EXPECT_EQ(choice->checkpoint.path(), pathOf(1));
  EXPECT_THAT(choice->skipped,
              ElementsAre(HasSubstr("it is no manifest of a checkpoint"),
                          HasSubstr("No such file or directory"), HasSubstr("is damaged")));
  EXPECT_EQ(chooseCheckpoint(pathOf(2), identity, 10).status().code(), StatusCode::Unacceptable);
}

TEST_F(CheckpointTest, OfAnotherRunIsRefusedByWhatDiffers) {
  ASSERT_TRUE(save(1).ok());
  Identity other = identity;
  other["run.seed"] = "8";
  const Status refused = chooseCheckpoint(directory, other, 10).status();
  EXPECT_EQ(refused.code(), StatusCode::Unacceptable);
  EXPECT_THAT(refused.message(),
              HasSubstr("is of another run: `run.seed` is 7 there and 8 in the plan"));
  other = identity;
  other["model.bias"] = "true";
  EXPECT_THAT(chooseCheckpoint(directory, other, 10).status().message(),
              HasSubstr("it does not say what `model.bias` is"));
  other = {{"run.seed", "7"}};
  EXPECT_THAT(chooseCheckpoint(directory, other, 10).status().message(),
              HasSubstr("`model.layers` is 4 there, which this program does not know"));
}

TEST_F(CheckpointTest, BehindTheEndOfThePlanIsRefused) {
  ASSERT_TRUE(save(11).ok());
  EXPECT_TRUE(chooseCheckpoint(directory, identity, 11).ok());
  EXPECT_THAT(chooseCheckpoint(directory, identity, 10).status().message(),
              HasSubstr("was saved behind step 11, the plan ends with step 10"));
}

TEST_F(CheckpointTest, NoneIsAFileError) {
  for (const std::string &where : {directory, folder.path("nothing/here")}) {
    const Status none = chooseCheckpoint(where, identity, 10).status();
    EXPECT_EQ(none.code(), StatusCode::File);
    EXPECT_EQ(none.message(), "there is no checkpoint in `" + where + "`");
  }
}

} // namespace
} // namespace vime
