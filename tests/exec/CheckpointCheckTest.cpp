// A checkpoint is judged by its headers before any rank starts.
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Exec/CheckpointCheck.h"
#include "runtime/Exec/RankModel.h"
#include "runtime/Model/SafeTensors.h"
#include "runtime/Plan/BatchCaps.h"

namespace vime {
namespace {

using testing::HasSubstr;

class Checkpoints : public testing::Test {
protected:
  Checkpoints() {
    std::string pattern = std::filesystem::temp_directory_path() / "vime-test-XXXXXX";
    base = mkdtemp(pattern.data());
    std::filesystem::create_directory(base / "start");
    plan.data = {.sequence = 8, .samples = 1, .tokens = 8, .microbatches = 2};
    plan.models = {{{.family = ModelFamily::Llama,
                     .layers = 2,
                     .hidden = 8,
                     .heads = 2,
                     .kvHeads = 1,
                     .headWidth = 4,
                     .ffn = 16,
                     .vocab = 32},
                    {{0, 1, true, false}, {1, 2, false, true}},
                    "start"}};
  }
  ~Checkpoints() override { std::filesystem::remove_all(base); }

  /// A file of what the model needs, changed.
  void write(const std::function<void(std::vector<SafeTensorSource> &)> &change = [](auto &) {}) {
    static const std::vector<std::byte> zeros(1 << 16);
    std::vector<SafeTensorSource> sources;
    std::set<std::string> names;
    for (const StageRange &range : plan.models[0].stages)
      for (const TensorSpec &tensor :
           stageSpec(plan.models[0].config, range, capsOf(plan.data)).tensors)
        for (const SourceTensor &source : tensor.sources) {
          std::vector<std::uint64_t> shape(tensor.shape.begin(), tensor.shape.end());
          shape.front() = source.rows;
          std::uint64_t bytes = 4;
          for (const std::uint64_t extent : shape)
            bytes *= extent;
          if (names.insert(source.name).second)
            sources.push_back({source.name, "F32", shape, {zeros.data(), bytes}});
        }
    change(sources);
    ASSERT_TRUE(writeSafeTensors(file().string(), sources).ok());
  }
  std::filesystem::path file() const { return base / "start" / "model.safetensors"; }
  Status check() const { return checkCheckpoints(plan, base.string()); }

  std::filesystem::path base;
  plan::Plan plan;
};

TEST_F(Checkpoints, OneThatFitsIsFine) {
  write();
  EXPECT_EQ(check().message(), "");
}

TEST_F(Checkpoints, OneThatIsNotThereIsAFileThatCannotBeRead) {
  EXPECT_EQ(check().code(), StatusCode::File);
  EXPECT_THAT(check().message(), HasSubstr("start/model.safetensors"));
}

TEST_F(Checkpoints, ATensorThatIsMissingOrOfAnotherShapeIsNamed) {
  std::string name;
  write([&](auto &sources) {
    name = sources.back().name;
    sources.pop_back();
  });
  EXPECT_EQ(check().code(), StatusCode::Unacceptable);
  EXPECT_THAT(check().message(), HasSubstr("tensor `" + name + "` is missing"));
  write([](auto &sources) { sources.back().shape.insert(sources.back().shape.begin(), 1); });
  EXPECT_EQ(check().code(), StatusCode::Unacceptable);
  EXPECT_THAT(check().message(), HasSubstr("tensor `" + name + "` has shape [1, "));
}

TEST_F(Checkpoints, ATruncatedFileIsRefused) {
  write();
  std::filesystem::resize_file(file(), std::filesystem::file_size(file()) - 1);
  EXPECT_EQ(check().code(), StatusCode::Unacceptable);
  EXPECT_THAT(check().message(), HasSubstr("model.safetensors"));
}

} // namespace
} // namespace vime
