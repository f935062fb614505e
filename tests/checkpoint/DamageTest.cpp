// Shards are hostile bytes: cut at every length and flipped at every byte, none is believed and
// none crashes.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "runtime/Checkpoint/ShardFile.h"
#include "tests/checkpoint/SavedRun.h"

namespace vime {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

struct CheckpointDamage : testing::Test, SavedRun {
  void SetUp() override {
    ASSERT_TRUE(save(1, 4).ok());
    shard = pathOf(1) + "/stage-00002-of-00004.safetensors";
    std::ifstream file(shard, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  void write(const std::string &content) const {
    std::ofstream(shard, std::ios::binary | std::ios::trunc) << content;
  }
  Status verify() const { return Checkpoint::open(pathOf(1))->verify(); }

  std::string shard, bytes;
};

TEST_F(CheckpointDamage, CutAtAnyLength) {
  for (std::size_t length = 0; length < bytes.size(); length += length < 64 ? 1 : 97) {
    write(bytes.substr(0, length));
    EXPECT_EQ(verify().code(), StatusCode::Unacceptable) << length;
  }
  write(bytes + "x");
  EXPECT_EQ(verify().code(), StatusCode::Unacceptable);
  write(bytes);
  EXPECT_TRUE(verify().ok());
}

TEST_F(CheckpointDamage, FlippedAtAnyByte) {
  for (std::size_t at = 0; at < bytes.size(); at += at < 4096 ? 13 : 211) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    write(flipped);
    EXPECT_EQ(verify().code(), StatusCode::Unacceptable) << at;
    (void)ShardFile::open(shard); // whatever the manifest says of it
  }
}

TEST_F(CheckpointDamage, WhatIsNoFile) {
  fs::remove(shard);
  ASSERT_EQ(mkfifo(shard.c_str(), 0600), 0);
  EXPECT_THAT(verify().message(), HasSubstr("is not a regular file")); // and does not hang
  fs::remove(shard);
  fs::create_directory(shard);
  EXPECT_EQ(verify().code(), StatusCode::File);
  fs::remove(shard);
  EXPECT_THAT(verify().message(), HasSubstr("No such file or directory"));
}

} // namespace
} // namespace vime
