// The export: shards written side by side into `<directory>.partial`, then made visible by one
// rename.
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <set>
#include <unistd.h>

#include <fmt/format.h>

#include "runtime/Base/AtomicFile.h"
#include "runtime/Model/ExportTarget.h"
#include "runtime/Model/HuggingFace.h"
#include "runtime/Model/HuggingFaceFiles.h"
#include "runtime/Model/SafeTensors.h"

namespace vime {
namespace {

namespace fs = std::filesystem;

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

/// A file that the index of an earlier export says is its own.
bool isShardName(const std::string &name) {
  return name.ends_with(".safetensors") && name.find('/') == name.npos;
}

Status removeFile(const fs::path &path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT)
    return fileError("remove", path, std::error_code(errno, std::generic_category()));
  return Status();
}

/// The model of an earlier export goes; what its directory held besides (a tokenizer, notes) moves
/// into the new one.
Status clearReplaced(const fs::path &old, const fs::path &current) {
  std::set<std::string> names{kExportConfig, kExportIndex};
  if (const auto fileOf = readIndex((old / kExportIndex).string()); fileOf.ok())
    for (const auto &[tensor, name] : *fileOf)
      if (isShardName(name))
        names.insert(name);
  for (const std::string &name : names)
    if (Status status = removeFile(old / name); !status.ok())
      return status;
  std::error_code error;
  std::vector<fs::path> others;
  for (fs::directory_iterator entry(old, error), end; !error && entry != end;
       entry.increment(error))
    others.push_back(entry->path());
  for (const fs::path &path : others) {
    const fs::path moved = current / path.filename();
    if (fs::exists(fs::symlink_status(moved, error)))
      return Status(StatusCode::File,
                    fmt::format("`{}` is not of the earlier export and stands in the way of a file "
                                "of the new one\nhelp: the export is complete; the other file is "
                                "kept there, move it away before the next run",
                                path.string()));
    fs::rename(path, moved, error);
    if (error)
      return fileError("move", path, error);
  }
  fs::remove(old, error);
  return error ? fileError("remove", old, error) : Status();
}

/// Nothing is lost when the last step fails: the export only lacks its name.
Status keptAs(const fs::path &partial, const Status &cause) {
  const std::string &text = cause.message();
  return Status(cause.code(), fmt::format("{}\nhelp: the complete export is kept in `{}`",
                                          text.substr(0, text.find('\n')), partial.string()));
}

/// Where the file system cannot exchange two directories, the old one steps aside.
std::error_code replaceInTwoSteps(const fs::path &partial, const fs::path &target,
                                  const fs::path &old) {
  std::error_code error, ignored;
  fs::rename(target, old, error);
  if (error)
    return error;
  fs::rename(partial, target, error);
  if (error)
    fs::rename(old, target, ignored);
  return error;
}

/// One exchange where the file system can, so that there is never no export.
Status makeVisible(const fs::path &partial, const fs::path &target) {
  // Much may have changed since the run began.
  if (Status status = checkReplaceable(target); !status.ok())
    return keptAs(partial, status);
  std::error_code error;
  if (const fs::file_status found = fs::status(target, error); fs::is_directory(found))
    fs::permissions(partial, found.permissions(), error);
  if (!fs::exists(target, error) || fs::is_empty(target, error)) {
    fs::rename(partial, target, error);
    return error ? keptAs(partial, fileError("create", target, error)) : Status();
  }
  if (renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0)
    return clearReplaced(partial, target);
  const fs::path old = target.string() + ".old";
  error = replaceInTwoSteps(partial, target, old);
  return error ? keptAs(partial, fileError("replace", target, error)) : clearReplaced(old, target);
}

} // namespace

StatusOr<std::uint64_t> exportShard(const std::string &directory, const ModelConfig &config,
                                    const StageSpec &spec, std::uint32_t stage,
                                    std::uint32_t stages, const void *weights) {
  const StatusOr<ExportTarget> target = resolveExport(directory);
  if (!target.ok())
    return target.status();
  const fs::path &partial = target->partial;
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
  const StatusOr<ExportTarget> resolved = resolveExport(directory);
  if (!resolved.ok())
    return resolved.status();
  const auto &[target, partial] = *resolved;
  std::map<std::string, std::string> fileOf;
  std::set<std::string> expected{kExportConfig, kExportIndex};
  std::uint64_t bytes = 0;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const std::string name = shardName(stage, stages.size());
    expected.insert(name);
    const auto sources = sourcesOf(config, stages[stage], nullptr);
    if (Status status = checkShard(partial / name, sources, fileOf, bytes); !status.ok())
      return status;
  }
  if (Status status = removeExportFiles(partial, expected); !status.ok())
    return status;
  const std::pair<const char *, std::string> texts[] = {
      {kExportConfig, huggingFaceConfigText(config, positions)},
      {kExportIndex, indexText(fileOf, bytes)}};
  for (const auto &[name, text] : texts)
    if (Status status = writeFileAtomically((partial / name).string(), text); !status.ok())
      return status;
  if (Status status = syncDirectory(partial.string()); !status.ok())
    return status;
  // From here on nobody removes it but who asked for it.
  if (Status status = removeFile(partial / kExportLock); !status.ok())
    return status;
  if (Status status = makeVisible(partial, target); !status.ok())
    return status;
  return syncDirectory(target.parent_path().string());
}

} // namespace vime
