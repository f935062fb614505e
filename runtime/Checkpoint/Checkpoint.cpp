#include "runtime/Checkpoint/Checkpoint.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/Checkpoint/ShardFile.h"

namespace vime {
namespace {

constexpr std::uint64_t kLongestManifest = std::uint64_t(1) << 26;

/// The whole file, unless it is longer than any manifest.
StatusOr<std::string> readManifest(const std::string &path) {
  const auto fail = [&](const char *why) {
    return Status(StatusCode::File, fmt::format("cannot read `{}`: {}", path, why));
  };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  if (file < 0)
    return fail(strerror(errno));
  std::string text;
  Status status;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
    status = fail("it is not a regular file");
  else if (std::uint64_t(info.st_size) > kLongestManifest)
    status = fail("it is too long");
  else
    text.resize(std::size_t(info.st_size));
  for (std::size_t at = 0; status.ok() && at < text.size();) {
    const ssize_t count = pread(file, text.data() + at, text.size() - at, off_t(at));
    if (count < 0 && errno != EINTR)
      status = fail(strerror(errno));
    if (count == 0)
      text.resize(at); // became shorter: its hash tells
    at += count > 0 ? std::size_t(count) : 0;
  }
  close(file);
  return status.ok() ? StatusOr<std::string>(std::move(text)) : status;
}

/// Opens each shard once, and only if it is the one that the manifest means.
class Shards {
public:
  Shards(const std::string &directory, const Manifest &manifest)
      : directory(directory), manifest(manifest) {}

  StatusOr<const ShardFile *> at(std::uint32_t index) {
    const auto known = files.find(index);
    if (known != files.end())
      return &known->second;
    const ShardRecord &record = manifest.shards[index];
    const std::string path = (std::filesystem::path(directory) / record.file).string();
    StatusOr<ShardFile> file = ShardFile::open(path);
    if (!file.ok())
      return file.status();
    if (file->bytes() != record.bytes)
      return Status(StatusCode::Unacceptable, fmt::format("`{}` has {} bytes, {} were written",
                                                          path, file->bytes(), record.bytes));
    if (file->headerHash() != record.headerHash)
      return Status(StatusCode::Unacceptable, fmt::format("`{}`: its header is damaged", path));
    return &files.emplace(index, std::move(*file)).first->second;
  }

private:
  const std::string &directory;
  const Manifest &manifest;
  std::map<std::uint32_t, ShardFile> files;
};

} // namespace

StatusOr<Checkpoint> Checkpoint::open(const std::string &path) {
  const std::string name = (std::filesystem::path(path) / kManifestName).string();
  const StatusOr<std::string> text = readManifest(name);
  if (!text.ok())
    return text.status();
  StatusOr<Manifest> manifest = parseManifest(*text);
  if (!manifest.ok())
    return Status(manifest.status().code(),
                  fmt::format("`{}`: {}", name, manifest.status().message()));
  return Checkpoint(path, std::move(*manifest));
}

Status Checkpoint::verify() const {
  Shards shards(directory, content);
  for (std::uint32_t index = 0; index < content.shards.size(); ++index) {
    const auto shard = shards.at(index);
    if (!shard.ok())
      return shard.status();
    if (Status status = (*shard)->verify(); !status.ok())
      return status;
  }
  for (const auto &[tensor, index] : content.shardOf)
    if (const auto shard = shards.at(index); !(*shard)->find(tensor))
      return Status(StatusCode::Unacceptable,
                    fmt::format("`{}` lacks tensor `{}`", content.shards[index].file, tensor));
  return Status();
}

Status Checkpoint::load(const ModelConfig &config, const StageSpec &spec,
                        StageMemory<std::byte> memory) const {
  const auto refuse = [&](const std::string &tensor, const std::string &what) {
    return Status(StatusCode::Unacceptable,
                  fmt::format("`{}`: tensor `{}` {}", directory, tensor, what));
  };
  std::memset(memory.weights, 0, spec.weightBytes);
  std::memset(memory.moments, 0, spec.momentBytes);
  Shards shards(directory, content);
  for (const StageTensor &tensor : tensorsOf(config, spec)) {
    const auto index = content.shardOf.find(tensor.name);
    if (index == content.shardOf.end())
      return refuse(tensor.name, "is missing");
    const auto shard = shards.at(index->second);
    if (!shard.ok())
      return shard.status();
    const SafeTensor *found = (*shard)->find(tensor.name);
    if (!found)
      return refuse(tensor.name, "is missing");
    if (found->shape != tensor.shape || found->type != tensor.type)
      return refuse(tensor.name, fmt::format("is {} [{}], expected {} [{}]", found->type,
                                             fmt::join(found->shape, ", "), tensor.type,
                                             fmt::join(tensor.shape, ", ")));
    if (Status status = (*shard)->read(*found, {memory.at(tensor), tensor.bytes}); !status.ok())
      return status;
  }
  return Status();
}

} // namespace vime
