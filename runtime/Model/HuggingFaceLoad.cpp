// Parameters of a stage from a checkpoint: which file holds a tensor, and its values in the type in
// which they are trained.
#include <bit>
#include <cstring>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "kernels/SumType.h"
#include "runtime/Model/HuggingFace.h"
#include "runtime/Model/HuggingFaceFiles.h"
#include "runtime/Model/SafeTensors.h"

namespace vime {
namespace {

float fromBFloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t(bits) << 16); }

float fromFloat16(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t(bits & 0x8000u) << 16;
  const std::uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) // infinity, not a number
    return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0)
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = float(fraction) * 0x1p-24f; // subnormal: exact in float32
  return sign ? -magnitude : magnitude;
}

template <typename From> double widen(From value) { return value; }

template <typename To, typename From, typename Widen>
void convert(std::span<const std::byte> from, Widen widen, void *to) {
  const std::size_t count = from.size() / sizeof(From);
  for (std::size_t index = 0; index < count; ++index) {
    From value;
    std::memcpy(&value, from.data() + index * sizeof(From), sizeof(From));
    const To converted = static_cast<To>(widen(value));
    std::memcpy(static_cast<std::byte *>(to) + index * sizeof(To), &converted, sizeof(To));
  }
}

/// False when there is no conversion from this type.
template <typename To>
bool convertFrom(const std::string &type, std::span<const std::byte> from, void *to) {
  if (type == "F32")
    convert<To, float>(from, widen<float>, to);
  else if (type == "F64")
    convert<To, double>(from, widen<double>, to);
  else if (type == "BF16")
    convert<To, std::uint16_t>(from, fromBFloat16, to);
  else if (type == "F16")
    convert<To, std::uint16_t>(from, fromFloat16, to);
  else
    return false;
  return true;
}

/// Opens each file of a checkpoint once, and knows in which one a tensor lies.
class Checkpoint {
public:
  static StatusOr<Checkpoint> open(const std::string &directory) {
    Checkpoint checkpoint(directory);
    const std::string index = directory + "/model.safetensors.index.json";
    std::error_code ignored;
    if (!std::filesystem::exists(directory + "/" + kSingle, ignored) &&
        std::filesystem::exists(index, ignored)) {
      auto fileOf = readIndex(index);
      if (!fileOf.ok())
        return fileOf.status();
      checkpoint.fileOf = std::move(*fileOf);
      checkpoint.sharded = true;
    }
    return checkpoint;
  }

  /// The file that holds `tensor`.
  StatusOr<const SafeTensorsFile *> holding(const std::string &tensor) {
    std::string name = kSingle;
    if (sharded) {
      const auto entry = fileOf.find(tensor);
      if (entry == fileOf.end())
        return Status(StatusCode::InvalidInput,
                      fmt::format("`{}` has no tensor `{}`", directory, tensor));
      name = entry->second;
    }
    auto opened = files.find(name);
    if (opened == files.end()) {
      auto file = SafeTensorsFile::open(directory + "/" + name);
      if (!file.ok())
        return file.status();
      opened = files.emplace(name, std::move(*file)).first;
    }
    return &opened->second;
  }

private:
  static constexpr const char *kSingle = "model.safetensors";
  explicit Checkpoint(std::string directory) : directory(std::move(directory)) {}

  std::string directory;
  bool sharded = false;
  std::map<std::string, std::string> fileOf;
  std::map<std::string, SafeTensorsFile> files;
};

/// Without `to`, only checks.
Status loadSource(Checkpoint &checkpoint, const std::string &directory, const SourceTensor &source,
                  std::vector<std::uint64_t> shape, DataType type, void *to) {
  const auto file = checkpoint.holding(source.name);
  if (!file.ok())
    return file.status();
  const SafeTensor *tensor = (*file)->find(source.name);
  const auto refuse = [&](const std::string &what) {
    return Status(StatusCode::InvalidInput,
                  fmt::format("`{}`: tensor `{}` {}", directory, source.name, what));
  };
  if (!tensor)
    return refuse("is missing");
  shape.front() = source.rows;
  if (tensor->shape != shape)
    return refuse(fmt::format("has shape [{}], expected [{}]", fmt::join(tensor->shape, ", "),
                              fmt::join(shape, ", ")));
  const std::span<const std::byte> bytes =
      to ? (*file)->bytesOf(*tensor) : std::span<const std::byte>();
  const bool converted = type == DataType::Float32   ? convertFrom<float>(tensor->type, bytes, to)
                         : type == DataType::Float64 ? convertFrom<double>(tensor->type, bytes, to)
                                                     : false;
  return converted ? Status()
                   : refuse(fmt::format("is {} and cannot become {}", tensor->type, nameOf(type)));
}

/// Without `parameters`, only checks.
Status loadTensors(Checkpoint &checkpoint, const std::string &directory, const ModelConfig &config,
                   const StageSpec &spec, std::byte *parameters) {
  const DataType type = sumTypeOf(config.type);
  for (const TensorSpec &tensor : spec.tensors)
    for (const SourceTensor &source : tensor.sources) {
      const std::uint64_t columns = tensor.elements() / tensor.shape.front();
      std::byte *const to =
          parameters ? parameters + (tensor.offset + source.row * columns) * sizeOf(type) : nullptr;
      if (Status status = loadSource(checkpoint, directory, source, tensor.shape, type, to);
          !status.ok())
        return status;
    }
  return Status();
}

} // namespace

Status checkStages(const std::string &directory, const ModelConfig &config,
                   std::span<const StageSpec> stages) {
  auto checkpoint = Checkpoint::open(directory);
  if (!checkpoint.ok())
    return checkpoint.status();
  for (const StageSpec &spec : stages)
    if (Status status = loadTensors(*checkpoint, directory, config, spec, nullptr); !status.ok())
      return status;
  return Status();
}

Status loadStage(const std::string &directory, const ModelConfig &config, const StageSpec &spec,
                 void *parameters) {
  auto checkpoint = Checkpoint::open(directory);
  if (!checkpoint.ok())
    return checkpoint.status();
  std::memset(parameters, 0, spec.gradientBytes);
  return loadTensors(*checkpoint, directory, config, spec, static_cast<std::byte *>(parameters));
}

} // namespace vime
