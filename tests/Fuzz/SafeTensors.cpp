// Fuzz target `safetensors`: a header and the length of the data behind it, as a file of weights
// and as a shard of a checkpoint.
//
// Input: 2 bytes, how long the data is; the JSON header. The whole input is taken for a file, too.
#include "runtime/Model/SafeTensors.h"

#include <fstream>

#include "runtime/Checkpoint/ShardFile.h"
#include "tests/Fuzz/InputReader.h"
#include "tests/Fuzz/Target.h"
#include "tests/model/TemporaryDirectory.h"

namespace vime::fuzz {
namespace {

std::string write(std::string_view bytes) {
  static const TemporaryDirectory kFolder;
  const std::string path = kFolder.path("model.safetensors");
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

void readsEveryTensor(const SafeTensorsFile &file) {
  unsigned sum = 0;
  for (const SafeTensor &tensor : file.tensors()) {
    must(file.find(tensor.name) != nullptr, "a tensor is found by its name");
    for (const std::byte byte : file.bytesOf(tensor))
      sum += std::to_integer<unsigned>(byte);
  }
  volatile unsigned kept = sum; // every byte is touched
  (void)kept;
}

void eatFile(std::string_view bytes) {
  const std::string path = write(bytes);
  const StatusOr<SafeTensorsFile> file = SafeTensorsFile::open(path);
  const StatusOr<ShardFile> shard = ShardFile::open(path);
  must(file.ok() == shard.ok(), "weights and shards are read alike");
  if (!file.ok())
    return;
  readsEveryTensor(*file);
  (void)shard->verify();
}

std::string fileOf(std::string_view bytes) {
  InputReader input(bytes);
  const std::size_t dataBytes = input.number<std::uint16_t>();
  const std::string_view header = input.rest();
  const std::uint64_t length = header.size();
  std::string file(reinterpret_cast<const char *>(&length), sizeof length);
  file += header;
  return file.append(dataBytes, 'x');
}

} // namespace

void eat(std::string_view bytes) {
  eatFile(bytes);
  eatFile(fileOf(bytes));
}

std::vector<std::string> seeds() {
  const std::vector<std::byte> data(24);
  const std::vector<SafeTensorSource> tensors = {
      {"embedding", "F32", {2, 2}, std::span(data).first(16)},
      {"norm", "BF16", {4}, std::span(data).last(8)}};
  const std::string head = safeTensorsHead(tensors, {{"norm", "0123456789abcdef"}});
  const std::string file = head + std::string(data.size(), '\0');
  const char size[] = {static_cast<char>(data.size()), 0};
  return {file, std::string(size, sizeof size) + head.substr(kSafeTensorsLengthBytes)};
}

} // namespace vime::fuzz
