#include "compiler/Machine/ReadMeasured.h"

#include <algorithm>

#include "compiler/Machine/MeasuredKeys.h"

namespace vime {

namespace {

constexpr std::string_view kFamilies[] = {"llama", "null",  "sleep",
                                          "qwen2", "qwen3", "torchscript"};
constexpr std::string_view kTypes[] = {"float32", "float64", "bfloat16"};
constexpr std::string_view kKernels[] = {"native", "libtorch"};
constexpr std::string_view kRecompute[] = {"none", "layer"};

class MeasuredReader {
public:
  explicit MeasuredReader(NodeReader &reader) : reader(reader) {}

  Measurements read(const Entry &section) {
    Measurements measured;
    if (!reader.isMapping("measured", section))
      return measured;
    std::vector<std::string_view> keys = {"source", "model", "microbatch"};
    for (const MeasuredPart &part : kMeasuredParts)
      keys.push_back(part.key);
    for (const Entry &entry : section.value.entries) {
      if (!reader.isKnown("`measured`", entry, keys))
        continue;
      if (entry.key == "source") {
        if (const std::string *text = reader.scalar("measured.source", entry))
          measured.source = *text;
      } else if (entry.key == "model") {
        readModel(entry, measured.model);
      } else if (entry.key == "microbatch") {
        readNumbers(entry, "measured.microbatch", kMicrobatchNumbers, measured.microbatch);
      } else {
        readTimes(entry, measured);
      }
    }
    for (const std::string_view key : {"source", "model", "microbatch"})
      if (!findEntry(section.value, key))
        reader.missing("measured." + std::string(key), section.keySpan);
    return measured;
  }

private:
  template <typename Rows, typename Owner>
  void readNumbers(const Entry &section, const std::string &path, const Rows &rows, Owner &owner,
                   const std::vector<std::string_view> &others = {}) {
    if (!reader.isMapping(path, section))
      return;
    std::vector<std::string_view> keys = others;
    for (const auto &row : rows)
      keys.push_back(row.key);
    for (const Entry &entry : section.value.entries)
      if (reader.isKnown(inBackticks(path), entry, keys))
        for (const auto &row : rows)
          if (row.key == entry.key)
            owner.*row.number = countOf(path + '.' + entry.key, entry);
    for (const auto &row : rows)
      if (!findEntry(section.value, row.key))
        reader.missing(path + '.' + std::string(row.key), section.keySpan);
  }

  std::uint32_t countOf(const std::string &path, const Entry &entry) {
    const FieldSpec any{.type = FieldType::Count, .least = 0, .most = 4294967295.0};
    const std::optional<Value> value = reader.value(path, entry, any);
    return value ? static_cast<std::uint32_t>(std::get<std::uint64_t>(*value)) : 0;
  }

  void readModel(const Entry &section, ModelConfig &model) {
    readNumbers(section, "measured.model", kModelNumbers, model,
                {"family", "dtype", "kernels", "recompute"});
    const std::string path = "measured.model.";
    const auto word = [&](const char *key, std::span<const std::string_view> words) {
      const Entry *entry = findEntry(section.value, key);
      if (!entry && section.value.kind == Node::Kind::Mapping)
        reader.missing(path + key, section.keySpan);
      return entry ? reader.word(path + key, *entry, words).value_or(0) : 0;
    };
    model.family = static_cast<ModelFamily>(word("family", kFamilies));
    constexpr DataType kOfWord[] = {DataType::Float32, DataType::Float64, DataType::BFloat16};
    model.type = kOfWord[word("dtype", kTypes)];
    model.kernels =
        word("kernels", kKernels) == 0 ? KernelLibrary::Native : KernelLibrary::LibTorch;
    model.recomputesLayers = word("recompute", kRecompute) == 1;
  }

  void readTimes(const Entry &section, Measurements &measured) {
    const std::string path = "measured." + section.key;
    if (!reader.isMapping(path, section))
      return;
    std::vector<std::string_view> opcodes;
    for (const plan::Signature &signature : plan::signatures())
      opcodes.push_back(signature.name);
    for (const MeasuredPart &part : kMeasuredParts)
      if (part.key == section.key)
        for (const Entry &entry : section.value.entries)
          if (reader.isKnown(inBackticks(path), entry, opcodes))
            (measured.*part.times)[plan::findSignature(std::string_view(entry.key))->opcode] =
                timeOf(path + '.' + entry.key, entry);
  }

  MeasuredTime timeOf(const std::string &path, const Entry &entry) {
    MeasuredTime time;
    if (!reader.isMapping(path, entry))
      return time;
    for (const Entry &part : entry.value.entries) {
      if (!reader.isKnown(inBackticks(path), part, {"value", "spread"}))
        continue;
      if (part.key == "value")
        time.seconds = reader.number(path, part, FigureKind::Seconds).value_or(0);
      else
        time.spread = spreadOf(path + ".spread", part);
    }
    for (const std::string_view key : {"value", "spread"})
      if (!findEntry(entry.value, key))
        reader.missing(path + '.' + std::string(key), entry.keySpan);
    return time;
  }

  double spreadOf(const std::string &path, const Entry &entry) {
    const FieldSpec any{.type = FieldType::Number, .least = 0, .most = 1e9};
    const std::optional<Value> value = reader.value(path, entry, any);
    return value ? std::get<double>(*value) : 0;
  }

  NodeReader &reader;
};

} // namespace

Measurements readMeasured(const Entry &section, NodeReader &reader) {
  return MeasuredReader(reader).read(section);
}

} // namespace vime
