#include "compiler/Machine/ReadMeasured.h"

#include <algorithm>

#include "compiler/Machine/MeasuredKeys.h"
#include "compiler/Machine/SleepTimes.h"

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
    if (const Entry *model = findEntry(section.value, "model")) // says what sizes there are
      readModel(*model, measured.model);
    for (const Entry &entry : section.value.entries) {
      if (!reader.isKnown("`measured`", entry, keys))
        continue;
      if (entry.key == "source") {
        measured.source = reader.source("measured.source", entry);
      } else if (entry.key == "model") {
        continue; // has been read
      } else if (entry.key == "microbatch") {
        readNumbers(entry, "measured.microbatch", kMicrobatchNumbers, measured.microbatch);
      } else {
        readTimes(entry, measured);
      }
    }
    for (const std::string_view key : {"source", "model", "microbatch"})
      if (!findEntry(section.value, key))
        reader.missing("measured." + std::string(key), section.keySpan);
    judgeParts(section);
    return measured;
  }

private:
  /// Stages that sleep or do nothing are measured as a whole, all others by their parts.
  void judgeParts(const Entry &section) {
    for (const Entry &entry : section.value.entries) {
      const bool isWhole = entry.key == "stage",
                 isPart = entry.key == "layer" || entry.key == "embedding" || entry.key == "head";
      if (isEmpty(family) ? isPart : isWhole)
        reader
            .error(JobCode::UnknownKey,
                   inBackticks("measured." + entry.key) + " is nothing that family `" +
                       std::string(nameOf(family)) + "` has",
                   entry.keySpan)
            .withHelp(isEmpty(family) ? "its stages are measured as a whole: `stage`"
                                      : "its parts are `layer`, `embedding` and `head`");
    }
  }

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
            owner.*row.number = countOf(path + '.' + entry.key, entry, row.most);
    for (const auto &row : rows)
      if (!findEntry(section.value, row.key))
        reader.missing(path + '.' + std::string(row.key), section.keySpan);
  }

  /// What is no decoder has no sizes.
  double least() const { return isDecoder(family) ? 1 : 0; }

  std::uint32_t countOf(const std::string &path, const Entry &entry, double most) {
    const FieldSpec any{.type = FieldType::Count, .least = least(), .most = most};
    const std::optional<Value> value = reader.value(path, entry, any);
    return value ? static_cast<std::uint32_t>(std::get<std::uint64_t>(*value)) : 0;
  }

  void readModel(const Entry &section, ModelConfig &model) {
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
    family = model.family;
    readNumbers(section, "measured.model", kModelNumbers, model,
                {"family", "dtype", "kernels", "recompute"});
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
    if (!findEntry(entry.value, "value"))
      reader.missing(path + ".value", entry.keySpan);
    return time;
  }

  double spreadOf(const std::string &path, const Entry &entry) {
    const FieldSpec any{.type = FieldType::Number, .least = 0, .most = 1e9};
    const std::optional<Value> value = reader.value(path, entry, any);
    return value ? std::get<double>(*value) : 0;
  }

  NodeReader &reader;
  ModelFamily family = ModelFamily::Llama;
};

} // namespace

Measurements readMeasured(const Entry &section, NodeReader &reader) {
  return MeasuredReader(reader).read(section);
}

} // namespace vime
