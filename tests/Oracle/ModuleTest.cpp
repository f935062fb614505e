// A user's module from a TorchScript file, trained through both tools, against the same module in a
// LibTorch training loop on the same text; and what is refused.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <torch/script.h>
#include <torch/torch.h>
#include <unistd.h>

#include "runtime/Data/TextDataset.h"
#include "tests/Oracle/SmallModule.h"

namespace vime {
namespace {

using namespace small_module;

constexpr int kSteps = 12;
constexpr std::uint64_t kSeed = 7;
constexpr std::int64_t kSequence = 24, kSamples = 2, kMicrobatches = 8;
constexpr BatchShape kShape{.sequence = kSequence,
                            .room = {.tokens = kSequence * kSamples, .samples = kSamples},
                            .batch = kSamples * kMicrobatches};

using torch::jit::Module;

class ModuleRun : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / fmt::format("vime-module-{}", getpid());
    std::filesystem::create_directories(folder);
    std::ofstream text(folder / "corpus.txt");
    const std::string sentence = "the plan names what every rank does and when";
    for (std::size_t line = 0; line < 4000; ++line)
      text << sentence.substr(line * line % 31) << '\n';
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  struct Shape {
    int ranks = 1;
    std::string schedule = "gpipe", memory = "4MiB", more = "", options = "";
    std::int64_t layerParameters = 2 * kInner * kHidden;
  };

  /// The exit code of the run; what it says goes to `log`.
  int run(const Shape &shape) const {
    std::ofstream(folder / "job.yaml") << fmt::format(
        "version: 1\n"
        "cluster: {{ranks: {0}, device: cpu}}\n"
        "models:\n"
        "  own: {{family: torchscript, module: module.pt, layers: {1}, hidden: {2}, vocab: {3}, "
        "embedding_parameters: {4}, layer_parameters: {5}, head_parameters: {4}, task_memory: {6}, "
        "dtype: float64}}\n"
        "roles: {{actor: {{model: own, ranks: 0-{7}, parallel: {{pp: {0}}}}}}}\n"
        "pipeline: {{schedule: {8}, microbatches: 8, microbatch: 2 samples}}\n"
        "data: {{text: corpus.txt, sequence: 24 tokens}}\n"
        "optimizer: {{kind: adamw, lr: 1.0e-3, clip: 1.0}}\n"
        "run: {{steps: {9}, seed: 7{10}}}\n",
        shape.ranks, kLayers, kHidden, kVocab, kVocab * kHidden, shape.layerParameters,
        shape.memory, shape.ranks - 1, shape.schedule, kSteps, shape.more);
    const std::string tools = VIME_BINARIES;
    const int compiled = std::system(
        fmt::format("cd '{}' && '{}/vimec' job.yaml -o plan.bin 2>log", folder.string(), tools)
            .c_str());
    EXPECT_EQ(compiled, 0) << log();
    const int ran = std::system(
        fmt::format("cd '{}' && '{}/vime-exec' plan.bin --quiet --json {} >run.json 2>log",
                    folder.string(), tools, shape.options)
            .c_str());
    return WEXITSTATUS(ran);
  }
  std::vector<double> losses() const {
    std::ifstream file(folder / "run.json");
    const auto summary = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
    std::vector<double> found;
    for (const auto &step : summary.value("history", nlohmann::json::array()))
      found.push_back(step.value("loss", 0.0));
    return found;
  }
  std::string log() const {
    std::ifstream file(folder / "log");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// The same module under LibTorch's autograd and optimizer.
  std::vector<double> lossesOfTorch(Module module) const {
    torch::set_num_threads(1);
    std::vector<at::Tensor> parameters;
    for (const at::Tensor &parameter : module.parameters())
      parameters.push_back(parameter.set_requires_grad(true));
    torch::optim::AdamW optimizer(parameters, torch::optim::AdamWOptions(1e-3).weight_decay(0.01));
    StatusOr<TextDataset> text = TextDataset::open((folder / "corpus.txt").string(), kShape, kSeed);
    EXPECT_TRUE(text.ok());
    const std::int64_t tokens = kSequence * kSamples;
    std::vector<double> found;
    for (int step = 0; step < kSteps; ++step) {
      optimizer.zero_grad();
      double sum = 0;
      text->begin(step);
      for (std::uint32_t microbatch = 0; microbatch < kMicrobatches; ++microbatch) {
        std::vector<std::int32_t> ids(tokens), labels(tokens), offsets(kSamples + 1);
        EXPECT_TRUE(text->fill({microbatch}, ids.data(), labels.data(), offsets.data()).ok());
        const auto integers = [&](std::vector<std::int32_t> &values) {
          return torch::from_blob(values.data(), {kSamples, kSequence}, torch::kInt)
              .to(torch::kLong);
        };
        at::Tensor x = integers(ids);
        x = module.attr("embedding").toModule().forward({x}).toTensor();
        for (const Module &layer : module.attr("layers").toModule().children())
          x = Module(layer).forward({x}).toTensor();
        x = module.attr("head").toModule().forward({x}).toTensor();
        const at::Tensor loss = torch::nn::functional::cross_entropy(
            x.view({tokens, kVocab}), integers(labels).view({tokens}),
            torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum));
        sum += loss.item<double>();
        (loss / double(tokens * kMicrobatches)).backward();
      }
      torch::nn::utils::clip_grad_norm_(parameters, 1.0);
      optimizer.step();
      found.push_back(sum / double(tokens * kMicrobatches));
    }
    return found;
  }

  std::filesystem::path folder;
};

TEST_F(ModuleRun, TrainsAsInATrainingLoop) {
  const Module module = make();
  module.save((folder / "module.pt").string());
  const std::vector<double> expected = lossesOfTorch(module);
  std::vector<double> first;
  for (const Shape &shape :
       {Shape{}, Shape{.ranks = 2, .schedule = "1f1b", .options = "--transport gloo"},
        Shape{.ranks = 4, .schedule = "zb-h1"}}) {
    ASSERT_EQ(run(shape), 0) << log();
    const std::vector<double> found = losses();
    ASSERT_EQ(found.size(), std::size_t(kSteps));
    for (int step = 0; step < kSteps; ++step)
      EXPECT_NEAR(found[step] / expected[step], 1, 1e-10) << "step " << step;
    if (first.empty())
      first = found;
    EXPECT_EQ(found, first) << shape.ranks << " ranks: not the same bits";
  }
  EXPECT_LT(first.back(), first.front() - 0.01);
}

TEST_F(ModuleRun, ExportsAFlatVectorForEachMember) {
  make().save((folder / "module.pt").string());
  ASSERT_EQ(run({.ranks = 2, .schedule = "1f1b", .more = ", export: out"}), 0) << log();
  std::set<std::string> names;
  for (const auto &file : std::filesystem::directory_iterator(folder / "out"))
    if (file.path().extension() == ".safetensors") {
      std::ifstream stream(file.path(), std::ios::binary);
      std::uint64_t length = 0;
      stream.read(reinterpret_cast<char *>(&length), sizeof length);
      std::string header(length, ' ');
      stream.read(header.data(), std::streamsize(length));
      const auto entries = nlohmann::json::parse(header);
      for (const auto &[name, entry] : entries.items())
        if (name != "__metadata__")
          names.insert(fmt::format("{} {}", name, entry.at("shape").dump()));
    }
  EXPECT_EQ(names, (std::set<std::string>{"embedding [4096]", "layers.0 [768]", "layers.1 [768]",
                                          "layers.2 [768]", "layers.3 [768]", "head [4096]"}));
}

TEST_F(ModuleRun, MoreMemoryThanDeclaredEndsTheRun) {
  make().save((folder / "module.pt").string());
  EXPECT_EQ(run({.memory = "16KiB"}), 5);
  EXPECT_NE(log().find("LibTorch asks for"), std::string::npos) << log();
  EXPECT_NE(log().find("forward, stage 0, microbatch 0"), std::string::npos) << log();
}

TEST_F(ModuleRun, WhatATaskLeavesBehindEndsTheRun) {
  make(/*keeps=*/true).save((folder / "module.pt").string());
  EXPECT_EQ(run({}), 5);
  EXPECT_NE(log().find("of a workspace beyond its task"), std::string::npos) << log();
  EXPECT_NE(log().find("forward, stage 0, microbatch 0"), std::string::npos) << log();
}

TEST_F(ModuleRun, AnotherModuleThanThePlansIsRefused) {
  make().save((folder / "module.pt").string());
  EXPECT_EQ(run({.layerParameters = 700}), 4);
  EXPECT_NE(log().find("`layers.0` has 768 parameters, the plan was made for 700"),
            std::string::npos)
      << log();
  ASSERT_EQ(run({}), 0) << log();
  std::ofstream(folder / "module.pt", std::ios::app) << "more";
  const int ran = std::system(fmt::format("cd '{}' && '{}/vime-exec' plan.bin --quiet 2>log",
                                          folder.string(), VIME_BINARIES)
                                  .c_str());
  EXPECT_EQ(WEXITSTATUS(ran), 4);
  EXPECT_NE(log().find("is another file than the plan was made for"), std::string::npos) << log();
}

} // namespace
} // namespace vime
