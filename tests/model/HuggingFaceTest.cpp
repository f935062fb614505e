// Hugging Face directories: logits as transformers computes them, exports that are whole or not
// there.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/Native.h"
#include "runtime/Model/ExportTarget.h"
#include "runtime/Model/HuggingFace.h"
#include "runtime/Model/HuggingFaceFiles.h"
#include "runtime/Model/SafeTensors.h"
#include "tests/model/ModelRun.h"
#include "tests/model/TemporaryDirectory.h"

namespace vime {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kGolden = VIME_GOLDEN;

/// The model of a directory, cut into stages, its weights loaded.
ModelRun runOf(const std::string &directory, DataType type, std::uint32_t stages,
               MicrobatchCaps caps) {
  const ModelConfig config = *readHuggingFaceConfig(directory, type);
  ModelRun run(config, stages, caps, *nativeKernels(type), 7);
  for (ModelRun::Part &part : run.parts) {
    void *const weights = part.weights.data(), *const moments = part.moments.data();
    const Status status =
        loadStage(directory, config, part.spec, parametersOf(part.spec, weights, moments));
    EXPECT_TRUE(status.ok()) << status.message();
    roundMasters(*nativeKernels(type), part.spec, moments, weights);
  }
  return run;
}

template <typename T> std::vector<T> valuesOf(const SafeTensorsFile &file, const char *name) {
  const std::span<const std::byte> bytes = file.bytesOf(*file.find(name));
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

class Golden : public testing::TestWithParam<const char *> {};

TEST_P(Golden, LogitsEqualThoseOfTransformers) {
  const std::string directory = kGolden + "/" + GetParam();
  const auto expected = SafeTensorsFile::open(directory + "/expected.safetensors");
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  const auto &shape = expected->find("tokens")->shape;
  const std::int32_t rows = std::int32_t(shape[0]), length = std::int32_t(shape[1]);
  const auto logits = valuesOf<float>(*expected, "logits");
  Batch batch{.tokens = valuesOf<std::int32_t>(*expected, "tokens"), .offsets = {0}};
  batch.labels.assign(batch.tokens.size(), -100);
  for (std::int32_t row = 0; row < rows; ++row)
    batch.offsets.push_back((row + 1) * length);

  const MicrobatchCaps caps{std::uint32_t(rows * length), std::uint32_t(rows),
                            std::uint32_t(length)};
  for (std::uint32_t stages : {1, 2}) {
    const std::vector<double> found =
        runOf(directory, DataType::Float32, stages, caps).logits(batch);
    ASSERT_EQ(found.size(), logits.size());
    double worst = 0, largest = 0;
    for (std::size_t index = 0; index < logits.size(); ++index) {
      worst = std::max(worst, std::abs(found[index] - logits[index]));
      largest = std::max(largest, std::abs(double(logits[index])));
    }
    EXPECT_LT(worst, 1e-4);
    EXPECT_GT(largest, 1); // else the comparison would say little
  }
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, Golden, testing::Values("plain", "grouped"),
                         [](const auto &info) { return info.param; });

// ---- config.json ----

struct Config : testing::Test {
  const TemporaryDirectory directory;
  StatusOr<ModelConfig> read(const std::string &text) const {
    std::ofstream(directory.path("config.json")) << text;
    return readHuggingFaceConfig(directory.path(""), DataType::Float32);
  }
  /// A config that is read, with fields of `more` put before its own.
  static std::string with(const std::string &more) {
    return "{" + more + R"("model_type":"llama","num_hidden_layers":2,"hidden_size":8,
      "num_attention_heads":2,"intermediate_size":12,"vocab_size":20})";
  }
};

TEST_F(Config, FieldsHaveTheDefaultsOfTransformers) {
  const ModelConfig expected{.layers = 2,
                             .hidden = 8,
                             .heads = 2,
                             .kvHeads = 2,
                             .headWidth = 4,
                             .ffn = 12,
                             .vocab = 20,
                             .ropeTheta = 10000,
                             .normEpsilon = 1e-6};
  EXPECT_EQ(*read(with("")), expected);
  EXPECT_EQ(read(with(R"("rope_theta":7,)"))->ropeTheta, 7);
  EXPECT_EQ(read(with(R"("rope_parameters":{"rope_type":"default","rope_theta":9},)"))->ropeTheta,
            9);
}

TEST_F(Config, OfQwen) {
  const char *const kSizes = R"("num_hidden_layers":2,"hidden_size":8,"num_attention_heads":2,
      "intermediate_size":12,"vocab_size":20})";
  const auto qwen2 = read(std::string(R"({"model_type":"qwen2","tie_word_embeddings":true,
      "use_sliding_window":false,"sliding_window":32,"attention_bias":true,)") +
                          kSizes);
  ASSERT_TRUE(qwen2.ok()) << qwen2.status().message();
  EXPECT_EQ(qwen2->family, ModelFamily::Qwen2);
  EXPECT_TRUE(qwen2->tiedHead);
  EXPECT_EQ(qwen2->headWidth, 4u);
  const auto qwen3 =
      read(std::string(R"({"model_type":"qwen3","layer_types":["full_attention"],)") + kSizes);
  ASSERT_TRUE(qwen3.ok()) << qwen3.status().message();
  EXPECT_EQ(qwen3->family, ModelFamily::Qwen3);
  EXPECT_FALSE(qwen3->tiedHead);
  EXPECT_EQ(qwen3->headWidth, 128u); // whatever the hidden size
}

TEST_F(Config, WhatIsWrittenIsRead) {
  for (const ModelFamily family : {ModelFamily::Llama, ModelFamily::Qwen2, ModelFamily::Qwen3})
    for (const bool tied : {false, true}) {
      const ModelConfig config{.family = family,
                               .layers = 3,
                               .hidden = 10,
                               .heads = 4,
                               .kvHeads = 2,
                               .headWidth = 6,
                               .ffn = 7,
                               .vocab = 300,
                               .ropeTheta = 1e6,
                               .normEpsilon = 1e-6,
                               .tiedHead = tied};
      const auto again = read(huggingFaceConfigText(config, 64));
      ASSERT_TRUE(again.ok()) << again.status().message();
      EXPECT_EQ(*again, config);
    }
}

TEST_F(Config, WhatIsNotComputedIsRefused) {
  const std::pair<std::string, const char *> kConfigs[] = {
      {"[]", "no JSON object"},
      {"{}", "no `model_type`"},
      {R"({"model_type":"mistral"})", "`model_type` is \"mistral\": only `llama`, `qwen2`"},
      {R"({"model_type":"llama"})", "no `num_hidden_layers`"},
      {with(R"("tie_word_embeddings":1,)"), "`tie_word_embeddings` is 1, not true or false"},
      {with(R"("use_sliding_window":true,)"), "only full attention is computed"},
      {with(R"("layer_types":["full_attention","sliding_attention"],)"),
       "`layer_types` has \"sliding_attention\": only full attention"},
      {with(R"("rope_scaling":{"type":"linear","factor":2},)"), "`rope_scaling` is set"},
      {with(R"("rope_parameters":{"rope_type":"llama3"},)"), "`rope_type` is \"llama3\""},
      {with(R"("attention_bias":true,)"), "`attention_bias` is true: biases"},
      {with(R"("hidden_act":"gelu",)"), "`hidden_act` is \"gelu\": only `silu`"},
      {with(R"("num_key_value_heads":-1,)"), "`num_key_value_heads` is -1, not a count"},
      {with(R"("num_key_value_heads":0,)"), "`kv_heads` is 0"},
      {with(R"("head_dim":3,)"), "head width 3 is odd"},
      {with(R"("rms_norm_eps":"small",)"), "not a number"},
  };
  for (const auto &[text, message] : kConfigs) {
    const auto config = read(text);
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_THAT(config.status().message(), HasSubstr(message));
  }
  EXPECT_EQ(readHuggingFaceConfig(directory.path("missing"), DataType::Float32).status().code(),
            StatusCode::File);
}

TEST_F(Config, NestingWithoutEndIsRefused) {
  constexpr std::size_t kDepth = 300'000;
  const std::string brackets = std::string(kDepth, '[') + std::string(kDepth, ']');
  const auto config = read(with("\"hidden_act\":" + brackets + ","));
  ASSERT_FALSE(config.ok());
  EXPECT_THAT(config.status().message(), HasSubstr("only `silu`"));
}

// ---- loading and exporting ----

constexpr MicrobatchCaps kCaps{62, 2, 31};

struct Export : testing::Test {
  const TemporaryDirectory directory;
  const std::string target = directory.path("out/model");
  const std::string source = kGolden + "/grouped";
  ModelRun run = runOf(source, DataType::Float32, 2, kCaps);
  const ModelConfig config = *readHuggingFaceConfig(source, DataType::Float32);

  Status shard(std::uint32_t stage) const {
    const auto count = exportShard(target, config, run.parts[stage].spec, stage, 2,
                                   run.parts[stage].weights.data());
    return count.ok() ? Status() : count.status();
  }
  Status commit() const {
    return exportCommit(target, config, std::vector{run.parts[0].spec, run.parts[1].spec}, 64);
  }
};

TEST_F(Export, ComesBackWithTheSameBits) {
  ASSERT_TRUE(shard(0).ok() && shard(1).ok());
  EXPECT_FALSE(fs::exists(target));
  const Status status = commit();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_FALSE(fs::exists(target + ".partial"));
  EXPECT_EQ(*readHuggingFaceConfig(target, DataType::Float32), config);
  EXPECT_EQ(runOf(target, DataType::Float32, 3, kCaps).weights(), run.weights());
}

// As a run leaves it that is killed beside the last rename, or while it removes the former export.
TEST_F(Export, WhatHasNoLockAnyMoreIsTakenOver) {
  ASSERT_TRUE(shard(0).ok() && shard(1).ok() && commit().ok());
  fs::rename(target, target + ".partial");
  fs::remove(target + ".partial/model-00001-of-00002.safetensors");
  EXPECT_TRUE(checkExportTarget(target).ok()) << checkExportTarget(target).message();
  const StatusOr<ExportClaim> claim = ExportClaim::take(target);
  ASSERT_TRUE(claim.ok()) << claim.status().message();
  ASSERT_TRUE(shard(0).ok() && shard(1).ok() && commit().ok());
  EXPECT_EQ(runOf(target, DataType::Float32, 1, kCaps).weights(), run.weights());
}

TEST_F(Export, WithoutAllShardsIsNotThere) {
  ASSERT_TRUE(shard(0).ok());
  EXPECT_EQ(commit().code(), StatusCode::File);
  EXPECT_FALSE(fs::exists(target));
}

std::vector<std::string> namesIn(const std::string &directory) {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  return names;
}

TEST_F(Export, ReplacesAnOlderOneOfOursAndKeepsWhatIsNotTheModel) {
  const ModelRun whole = runOf(source, DataType::Float32, 1, kCaps);
  ASSERT_TRUE(
      exportShard(target, config, whole.parts[0].spec, 0, 1, whole.parts[0].weights.data()).ok());
  ASSERT_TRUE(exportCommit(target, config, std::vector{whole.parts[0].spec}, 64).ok());
  for (const char *name : {"tokenizer.json", "adapter.safetensors", "notes.partial"})
    std::ofstream(target + "/" + name) << "mine";
  fs::permissions(target, fs::perms::owner_all);
  fs::create_directories(target + ".partial");
  std::ofstream(target + ".partial/model-00009-of-00009.safetensors") << "of an interrupted export";
  ASSERT_TRUE(shard(0).ok() && shard(1).ok());
  const Status status = commit();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(namesIn(target),
              testing::UnorderedElementsAre("config.json", "model.safetensors.index.json",
                                            "tokenizer.json", "adapter.safetensors",
                                            "notes.partial", "model-00001-of-00002.safetensors",
                                            "model-00002-of-00002.safetensors"));
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_all);
  EXPECT_THAT(namesIn(directory.path("out")), testing::ElementsAre("model"));
}

TEST_F(Export, DoesNotReplaceAFile) {
  fs::create_directories(directory.path("out"));
  std::ofstream(target) << "mine";
  ASSERT_TRUE(shard(0).ok() && shard(1).ok());
  EXPECT_THAT(commit().message(), HasSubstr("exists and is not a directory"));
  EXPECT_TRUE(fs::is_regular_file(target));
}

TEST_F(Export, NeverTouchesADirectoryThatIsNotOurs) {
  fs::create_directories(target);
  const char *const kNames[] = {"config.json", "model.safetensors", "model.safetensors.index.json"};
  for (const char *name : kNames)
    std::ofstream(target + "/" + name) << "{}";
  EXPECT_THAT(checkExportTarget(target).message(),
              HasSubstr("is no earlier export of vime\nhelp:"));
  ASSERT_TRUE(shard(0).ok() && shard(1).ok()); // it came while the model was trained
  EXPECT_THAT(commit().message(), HasSubstr("the complete export is kept in `"));
  EXPECT_THAT(namesIn(target), testing::UnorderedElementsAreArray(kNames));
  EXPECT_EQ(runOf(target + ".partial", DataType::Float32, 1, kCaps).weights(), run.weights());
  EXPECT_THAT(ExportClaim::take(directory.path("out/model")).status().message(),
              HasSubstr("no earlier export"));
}

TEST_F(Export, GoesWhereALinkPoints) {
  fs::create_directories(directory.path("disk/real"));
  fs::create_directories(directory.path("out"));
  fs::create_directory_symlink(directory.path("disk/real"), target);
  ASSERT_TRUE(shard(0).ok() && shard(1).ok());
  ASSERT_TRUE(commit().ok());
  EXPECT_TRUE(fs::is_symlink(target));
  EXPECT_TRUE(fs::exists(directory.path("disk/real/config.json")));
  EXPECT_THAT(namesIn(directory.path("disk")), testing::ElementsAre("real"));
}

struct Target : testing::Test {
  const TemporaryDirectory directory;
  const std::string target = directory.path("out/model"), partial = target + ".partial";
  void write(const std::string &path) const {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << "x";
  }
};

TEST_F(Target, WhatCannotBecomeAnExportIsRefused) {
  write(directory.path("file"));
  fs::create_symlink(directory.path("nowhere"), directory.path("link"));
  const std::pair<std::string, const char *> kTargets[] = {
      {"/", "is no name of a new directory"},
      {"", "is no name of a new directory"},
      {directory.path("new/.."), "is no name of a new directory"},
      {directory.path("./"), "is no name of a new directory"},
      {directory.path("out/../../../../../../../../proc/"), "is no earlier export"},
      {directory.path("file"), "exists and is not a directory"},
      {directory.path("file/out"), "is not a directory"},
      {directory.path("link"), "is a link to nothing"},
      {"/proc/out", "cannot "},
  };
  for (const auto &[path, message] : kTargets) {
    const StatusOr<ExportClaim> claim = ExportClaim::take(path);
    EXPECT_EQ(claim.status().code(), StatusCode::File) << path;
    EXPECT_THAT(claim.status().message(),
                testing::AllOf(HasSubstr(message), HasSubstr("\nhelp: ")));
  }
  for (const char *path : {"new", "new/deep/", "."})
    EXPECT_EQ(checkExportTarget(directory.path(path)).ok(), path[0] == 'n')
        << path;                                   // not its own folder
  EXPECT_FALSE(fs::exists(directory.path("new"))); // a check makes nothing
}

TEST_F(Target, OnlyOneRunAtATimeHasIt) {
  {
    const StatusOr<ExportClaim> first = ExportClaim::take(target);
    ASSERT_TRUE(first.ok()) << first.status().message();
    EXPECT_THAT(ExportClaim::take(target + "/").status().message(),
                HasSubstr("is being written by another run\nhelp: "));
    EXPECT_TRUE(fs::exists(partial));
  }
  EXPECT_FALSE(fs::exists(directory.path("out"))); // nor the parents it made
  EXPECT_TRUE(ExportClaim::take(target).ok());
}

TEST_F(Target, WhatAKilledRunLeftIsTakenOver) {
  write(partial + "/" + kExportLock); // locked by nobody
  write(partial + "/model-00001-of-00002.safetensors.partial");
  const StatusOr<ExportClaim> claim = ExportClaim::take(target);
  ASSERT_TRUE(claim.ok()) << claim.status().message();
  EXPECT_THAT(namesIn(partial), testing::ElementsAre(kExportLock));
}

TEST_F(Target, APartialDirectoryOfOthersStays) {
  write(partial + "/config.json");
  EXPECT_THAT(ExportClaim::take(target).status().message(),
              HasSubstr("was not left by an unfinished run\nhelp: "));
  EXPECT_FALSE(checkExportTarget(target).ok());
  EXPECT_TRUE(fs::exists(partial + "/config.json"));
  write(partial + "/" + kExportLock);
  write(partial + "/notes");
  EXPECT_THAT(ExportClaim::take(target).status().message(),
              HasSubstr("files that no export wrote"));
  EXPECT_TRUE(fs::exists(partial + "/notes"));
}

TEST_F(Export, MissingAndMisshapenTensorsAreNamed) {
  ModelConfig wider = config, longer = config;
  wider.ffn += 2;
  longer.layers += 1;
  for (const auto &[other, message] :
       {std::pair(wider,
                  "`model.layers.0.mlp.gate_proj.weight` has shape [50, 36], expected [52, 36]"),
        std::pair(longer, "has no tensor `model.layers.3.input_layernorm.weight`")}) {
    const StageSpec spec = stageSpec(other, splitLayers(other, 1)[0], kCaps);
    std::vector<std::byte> weights(spec.gradientBytes);
    EXPECT_THAT(loadStage(source, other, spec, weights.data()).message(), HasSubstr(message));
  }
}

TEST(Load, AnyTypeOfFileFillsTheMastersOfABFloat16Model) {
  for (const char *name : {"plain", "grouped"}) { // of float32, of bfloat16
    const std::string directory = kGolden + "/" + name;
    const MicrobatchCaps caps{62, 2, 31};
    const ModelRun narrow = runOf(directory, DataType::BFloat16, 2, caps);
    EXPECT_EQ(narrow.parameters(), runOf(directory, DataType::Float32, 1, caps).weights()) << name;
    for (const auto &[tensor, bytes] : narrow.weights())
      EXPECT_EQ(bytes.size() * 2, narrow.parameters().at(tensor).size()) << name << ", " << tensor;
  }
}

TEST_F(Export, OfABFloat16ModelIsOfBFloat16) {
  const ModelRun narrow = runOf(kGolden + "/plain", DataType::BFloat16, 2, kCaps);
  const ModelConfig model = *readHuggingFaceConfig(kGolden + "/plain", DataType::BFloat16);
  std::vector<StageSpec> specs;
  for (const ModelRun::Part &part : narrow.parts) {
    ASSERT_TRUE(
        exportShard(target, model, part.spec, std::uint32_t(specs.size()), 2, part.weights.data())
            .ok());
    specs.push_back(part.spec);
  }
  const Status status = exportCommit(target, model, specs, 64);
  ASSERT_TRUE(status.ok()) << status.message();
  const auto file = SafeTensorsFile::open(target + "/model-00001-of-00002.safetensors");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->find("model.embed_tokens.weight")->type, "BF16");
  std::ifstream config(target + "/config.json");
  const std::string text((std::istreambuf_iterator<char>(config)), {});
  EXPECT_THAT(text, HasSubstr("\"dtype\": \"bfloat16\""));
  EXPECT_EQ(runOf(target, DataType::BFloat16, 1, kCaps).weights(), narrow.weights());
}

TEST(Load, HalfPrecisionIsWidenedExactly) {
  const TemporaryDirectory directory;
  const std::uint16_t halves[] = {0x3c00, 0xc000, 0x3555, 0x0001, 0x8000, 0x7bff};
  const float expected[] = {1, -2, 0.333251953125f, 0x1p-24f, -0.0f, 65504};
  const SafeTensorSource tensor{"n", "F16", {6}, std::as_bytes(std::span(halves))};
  ASSERT_TRUE(writeSafeTensors(directory.path("model.safetensors"), {&tensor, 1}).ok());
  StageSpec spec{.tensors = {{"n", {6}, 0, {{"n", 0, 6}}}}, .weightBytes = 64};
  float weights[16];
  ASSERT_TRUE(loadStage(directory.path(""), {}, spec, weights).ok());
  EXPECT_EQ(std::memcmp(weights, expected, sizeof expected), 0);
}

} // namespace
} // namespace vime
