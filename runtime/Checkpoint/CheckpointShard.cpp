#include "runtime/Checkpoint/CheckpointShard.h"

#include <filesystem>

#include <fmt/format.h>

#include "runtime/Base/AtomicFile.h"
#include "runtime/Checkpoint/CheckpointDirectory.h"
#include "runtime/Checkpoint/ShardFile.h"
#include "runtime/Model/SafeTensors.h"

namespace vime {
namespace {

constexpr std::string_view kFront = "stage-", kBack = ".safetensors";

} // namespace

std::string shardName(std::uint32_t stage, std::uint32_t stages) {
  return fmt::format("{}{:05}-of-{:05}{}", kFront, stage, stages, kBack);
}

bool isShardName(std::string_view name) {
  name = finalNameOf(name);
  if (!name.starts_with(kFront) || !name.ends_with(kBack))
    return false;
  name.remove_prefix(kFront.size());
  name.remove_suffix(kBack.size());
  return name.find("-of-") != name.npos && name.find_first_not_of("0123456789-of") == name.npos;
}

Status writeShard(const ShardPlace &place, const ModelConfig &config, const StageSpec &spec,
                  StageMemory<const std::byte> memory) {
  const std::filesystem::path partial = partialPath(place.directory, place.steps);
  std::error_code error;
  std::filesystem::create_directory(partial, error);
  if (error)
    return Status(StatusCode::File,
                  fmt::format("cannot create `{}`: {}", partial.string(), error.message()));
  std::map<std::string, std::string> metadata{{kStepsField, std::to_string(place.steps)}};
  std::vector<SafeTensorSource> sources;
  for (const StageTensor &tensor : tensorsOf(config, spec)) {
    const std::span<const std::byte> bytes(memory.at(tensor), tensor.bytes);
    metadata[tensor.name] = tensorHash(bytes);
    sources.push_back({tensor.name, tensor.type, tensor.shape, bytes});
  }
  return writeSafeTensors((partial / shardName(place.stage, place.stages)).string(), sources,
                          metadata);
}

} // namespace vime
