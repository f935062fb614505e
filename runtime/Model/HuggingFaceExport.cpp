// The export: shards written side by side into `<directory>.partial`, then made visible by one
// rename.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "runtime/Model/AtomicFile.h"
#include "runtime/Model/HuggingFace.h"
#include "runtime/Model/HuggingFaceFiles.h"
#include "runtime/Model/SafeTensors.h"

namespace vime {
namespace {

namespace fs = std::filesystem;

constexpr const char *kConfig = "config.json", *kIndex = "model.safetensors.index.json";

/// Without a slash at the end, so that names beside it can be made.
fs::path finalPath(const std::string &directory) {
  fs::path path = fs::path(directory).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}
fs::path partialPath(const fs::path &directory) { return directory.string() + ".partial"; }

std::string shardName(std::size_t stage, std::size_t stages) {
  return fmt::format("model-{:05}-of-{:05}.safetensors", stage + 1, stages);
}

const char *safeTensorType(DataType type) {
  switch (type) {
  case DataType::Float32:
    return "F32";
  case DataType::Float64:
    return "F64";
  case DataType::BFloat16:
    return "BF16";
  default:
    return "U8";
  }
}

Status fileError(const char *what, const fs::path &path, const std::error_code &error) {
  return Status(StatusCode::File,
                fmt::format("cannot {} `{}`: {}", what, path.string(), error.message()));
}

/// The Hugging Face tensors of a stage; `weights` may be null when only names and shapes are asked
/// for.
std::vector<SafeTensorSource> sourcesOf(const ModelConfig &config, const StageSpec &spec,
                                        const void *weights) {
  std::vector<SafeTensorSource> sources;
  const std::uint64_t elementBytes = sizeOf(config.type);
  for (const TensorSpec &tensor : spec.tensors)
    for (const SourceTensor &source : tensor.sources) {
      const std::uint64_t columns = tensor.elements() / tensor.shape.front();
      std::vector<std::uint64_t> shape = tensor.shape;
      shape.front() = source.rows;
      const std::uint64_t begin = (tensor.offset + source.row * columns) * elementBytes;
      const auto *start = weights ? static_cast<const std::byte *>(weights) + begin : nullptr;
      sources.push_back({source.name,
                         safeTensorType(config.type),
                         std::move(shape),
                         {start, weights ? source.rows * columns * elementBytes : 0}});
    }
  return sources;
}

/// That the shard on disk is this stage's; adds what it holds to the index.
Status checkShard(const fs::path &path, const std::vector<SafeTensorSource> &expected,
                  std::map<std::string, std::string> &fileOf, std::uint64_t &bytes) {
  const auto file = SafeTensorsFile::open(path.string());
  if (!file.ok())
    return file.status();
  for (const SafeTensorSource &tensor : expected) {
    const SafeTensor *found = file->find(tensor.name);
    if (!found || found->shape != tensor.shape || found->type != tensor.type)
      return Status(StatusCode::File, fmt::format("`{}` lacks tensor `{}` as this model has it",
                                                  path.string(), tensor.name));
    fileOf[tensor.name] = path.filename().string();
    bytes += found->end - found->begin;
  }
  return Status();
}

Status writeText(const fs::path &path, const std::string &text) {
  const std::span<const std::byte> piece = std::as_bytes(std::span(text));
  return writeFileAtomically(path.string(), {&piece, 1});
}

bool isOurs(const std::string &name) {
  return name == kConfig || name == kIndex || name.ends_with(".safetensors") ||
         name.ends_with(".partial");
}

/// Leftovers of an earlier, interrupted export would become part of this one.
Status removeOthers(const fs::path &directory, const std::set<std::string> &keep) {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!keep.contains(name) && isOurs(name))
      if (!fs::remove(entry->path(), error) && error)
        return fileError("remove", entry->path(), error);
  }
  return error ? fileError("read", directory, error) : Status();
}

/// What an older export's directory held besides the model (a tokenizer, notes) moves into the new
/// one; the rest goes.
Status clearReplaced(const fs::path &old, const fs::path &current) {
  if (Status status = removeOthers(old, {}); !status.ok())
    return status;
  std::error_code error;
  for (fs::directory_iterator entry(old, error), end; !error && entry != end;
       entry.increment(error)) {
    fs::rename(entry->path(), current / entry->path().filename(), error);
    if (error)
      return fileError("move", entry->path(), error);
  }
  fs::remove(old, error);
  return error ? fileError("remove", old, error) : Status();
}

/// One exchange where the file system can, so that there is never no export; else the old one steps
/// aside.
Status makeVisible(const fs::path &partial, const fs::path &target) {
  std::error_code error;
  if (!fs::exists(target, error)) {
    fs::rename(partial, target, error);
    return error ? fileError("create", target, error) : Status();
  }
  if (!fs::is_directory(target, error))
    return Status(StatusCode::File,
                  fmt::format("`{}` exists and is not a directory", target.string()));
  if (renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0)
    return clearReplaced(partial, target);
  const fs::path old = target.string() + ".old";
  fs::rename(target, old, error);
  if (!error)
    fs::rename(partial, target, error);
  return error ? fileError("replace", target, error) : clearReplaced(old, target);
}

} // namespace

StatusOr<std::uint64_t> exportShard(const std::string &directory, const ModelConfig &config,
                                    const StageSpec &spec, std::uint32_t stage,
                                    std::uint32_t stages, const void *weights) {
  const fs::path partial = partialPath(finalPath(directory));
  std::error_code error;
  fs::create_directories(partial, error);
  if (error)
    return fileError("create", partial, error);
  const std::vector<SafeTensorSource> sources = sourcesOf(config, spec, weights);
  const fs::path path = partial / shardName(stage, stages);
  if (Status status = writeSafeTensors(path.string(), sources); !status.ok())
    return status;
  return std::uint64_t(sources.size());
}

Status exportCommit(const std::string &directory, const ModelConfig &config,
                    std::span<const StageSpec> stages, std::uint32_t positions) {
  const fs::path target = finalPath(directory), partial = partialPath(target);
  std::map<std::string, std::string> fileOf;
  std::set<std::string> expected{kConfig, kIndex};
  std::uint64_t bytes = 0;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const std::string name = shardName(stage, stages.size());
    expected.insert(name);
    const auto sources = sourcesOf(config, stages[stage], nullptr);
    if (Status status = checkShard(partial / name, sources, fileOf, bytes); !status.ok())
      return status;
  }
  if (Status status = removeOthers(partial, expected); !status.ok())
    return status;
  const std::pair<const char *, std::string> texts[] = {
      {kConfig, huggingFaceConfigText(config, positions)}, {kIndex, indexText(fileOf, bytes)}};
  for (const auto &[name, text] : texts)
    if (Status status = writeText(partial / name, text); !status.ok())
      return status;
  if (Status status = syncDirectory(partial.string()); !status.ok())
    return status;
  if (Status status = makeVisible(partial, target); !status.ok())
    return status;
  const fs::path parent = target.parent_path();
  return syncDirectory(parent.empty() ? "." : parent.string());
}

} // namespace vime
