// safetensors: what is written comes back, and no damaged file is believed.
#include <cstring>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/Model/SafeTensors.h"
#include "tests/model/TemporaryDirectory.h"

namespace vime {
namespace {

using testing::HasSubstr;

std::string fileOf(std::string header, std::size_t dataBytes) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), 8) + header +
         std::string(dataBytes, 'x');
}

struct SafeTensors : testing::Test {
  const TemporaryDirectory directory;
  const std::string path = directory.path("file.safetensors");

  void write(const std::string &bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
  std::string faultOf(const std::string &bytes) const {
    write(bytes);
    const auto file = SafeTensorsFile::open(path);
    return file.ok() ? "" : file.status().message();
  }
};

TEST_F(SafeTensors, WhatIsWrittenComesBack) {
  const float a[] = {1, 2, 3, 4, 5, 6};
  const std::uint16_t b[] = {7};
  const SafeTensorSource tensors[] = {{"b", "BF16", {1, 1}, std::as_bytes(std::span(b))},
                                      {"a", "F32", {2, 3}, std::as_bytes(std::span(a))},
                                      {"none", "F64", {0, 4}, {}}};
  ASSERT_TRUE(writeSafeTensors(path, tensors).ok());
  const auto file = SafeTensorsFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->tensors().size(), 3u);
  EXPECT_EQ(file->find("c"), nullptr);
  const SafeTensor *found = file->find("a");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->shape, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(file->bytesOf(*found).data(), a, sizeof a), 0);
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST_F(SafeTensors, AFileThatCannotBeWrittenLeavesNothing) {
  const Status status = writeSafeTensors(directory.path("missing/file"), {});
  EXPECT_EQ(status.code(), StatusCode::File);
  EXPECT_THAT(status.message(), HasSubstr("cannot write"));
}

TEST_F(SafeTensors, DamagedFilesAreRefused) {
  const auto tensor = [](const char *name, const char *type, const char *shape, const char *at) {
    return std::string("\"") + name + R"(":{"dtype":")" + type + R"(","shape":)" + shape +
           R"(,"data_offsets":)" + at + "}";
  };
  const std::string good = tensor("a", "F32", "[2]", "[0,8]");
  EXPECT_EQ(faultOf(fileOf("{" + good + "}", 8)), "");

  const std::pair<std::string, const char *> kFiles[] = {
      {"", "it is empty"},
      {"1234567", "7 bytes are too few"},
      {fileOf("{}", 0).substr(0, 8), "a header of 2 bytes in a file of 8"},
      {std::string(8, '\xff') + "{}", "a header of 18446744073709551615 bytes"},
      {fileOf("{", 0), "no JSON object"},
      {fileOf("[]", 0), "no JSON object"},
      {fileOf("{" + good + "}", 7), "take 8 bytes and it holds 7"},
      {fileOf("{" + good + "}", 9), "take 8 bytes and it holds 9"},
      {fileOf("{" + good + "," + good + "}", 8), "two tensors are called `a`"},
      {fileOf("{" + good + "," + tensor("b", "F32", "[1]", "[4,8]") + "}", 8),
       "tensor `b` starts at byte 4 of the data, where 8 was expected"},
      {fileOf("{" + good + "," + tensor("b", "F32", "[1]", "[12,16]") + "}", 16),
       "tensor `b` starts at byte 12"},
      {fileOf("{" + tensor("a", "F31", "[2]", "[0,8]") + "}", 8), "an unknown dtype"},
      {fileOf("{" + tensor("a", "F32", "[3]", "[0,8]") + "}", 8), "do not fit its shape"},
      {fileOf("{" + tensor("a", "F32", "[2]", "[8,0]") + "}", 8), "no data offsets"},
      {fileOf("{" + tensor("a", "F32", "[-2]", "[0,8]") + "}", 8), "no shape"},
      {fileOf("{" + tensor("a", "F32", "[2.0]", "[0,8]") + "}", 8), "no shape"},
      {fileOf("{" + tensor("a", "F32", "[4294967296,4294967296,4]", "[0,0]") + "}", 0),
       "do not fit its shape"},
      {fileOf("{" + tensor("a", "F32", "[99999999999999999999999]", "[0,8]") + "}", 8), "no shape"},
      {fileOf(R"({"a":[]})", 0), "no dtype"},
  };
  for (const auto &[bytes, message] : kFiles)
    EXPECT_THAT(faultOf(bytes), HasSubstr(message));
}

TEST_F(SafeTensors, NoFlippedOrMissingByteDoesHarm) {
  const float a[] = {1, 2}, b[] = {3};
  const SafeTensorSource tensors[] = {{"a", "F32", {2}, std::as_bytes(std::span(a))},
                                      {"b", "F32", {1}, std::as_bytes(std::span(b))}};
  ASSERT_TRUE(writeSafeTensors(path, tensors).ok());
  std::ifstream stream(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(stream)), {});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    EXPECT_NE(faultOf(whole.substr(0, at)), "") << "cut at " << at;
    std::string damaged = whole;
    damaged[at] = char(damaged[at] ^ (1 << at % 8));
    write(damaged);
    if (const auto file = SafeTensorsFile::open(path); file.ok()) {
      for (const SafeTensor &tensor : file->tensors())
        EXPECT_LE(file->bytesOf(tensor).size(), 12u);
    }
  }
}

} // namespace
} // namespace vime
