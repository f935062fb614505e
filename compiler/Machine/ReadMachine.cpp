#include "compiler/Machine/ReadMachine.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "compiler/Diagnostics/JobCodes.h"
#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Frontend/Document.h"
#include "compiler/Frontend/FieldTable.h"
#include "compiler/Machine/FigureText.h"
#include "runtime/Base/Nearest.h"

namespace vime {

namespace {

constexpr std::array kModelNumbers = {
    ModelNumber{"hidden", &ModelConfig::hidden},
    ModelNumber{"heads", &ModelConfig::heads},
    ModelNumber{"kv_heads", &ModelConfig::kvHeads},
    ModelNumber{"head_width", &ModelConfig::headWidth},
    ModelNumber{"ffn", &ModelConfig::ffn},
    ModelNumber{"vocab", &ModelConfig::vocab},
};
constexpr std::array kMicrobatchNumbers = {
    MicrobatchNumber{"tokens", &MicrobatchCaps::tokens},
    MicrobatchNumber{"samples", &MicrobatchCaps::segments},
    MicrobatchNumber{"sequence", &MicrobatchCaps::segmentTokens},
    MicrobatchNumber{"slices", &MicrobatchCaps::slices},
};
constexpr std::array kParts = {
    MeasuredPart{"stage", &Measurements::stage}, MeasuredPart{"layer", &Measurements::layer},
    MeasuredPart{"embedding", &Measurements::embedding}, MeasuredPart{"head", &Measurements::head},
    MeasuredPart{"rank", &Measurements::rank}};

constexpr std::string_view kFamilies[] = {"llama", "null",  "sleep",
                                          "qwen2", "qwen3", "torchscript"};
constexpr std::string_view kTypes[] = {"float32", "float64", "bfloat16"};
constexpr std::string_view kKernels[] = {"native", "libtorch"};
constexpr std::string_view kRecompute[] = {"none", "layer"};

std::string inBackticks(std::string_view text) { return '`' + printable(text) + '`'; }

std::string listed(const std::vector<std::string_view> &words) {
  std::string text;
  for (const std::string_view word : words)
    text += (text.empty() ? "`" : ", `") + std::string(word) + '`';
  return text;
}

class MachineReader {
public:
  explicit MachineReader(Findings &findings) : findings(findings) {}

  void read(const Node &root) {
    std::vector<std::string_view> keys = {"kind", "version", "name", "measured"};
    for (const MachineField &field : machineFields())
      if (keys.back() != sectionOf(field.path))
        keys.push_back(sectionOf(field.path));
    for (const Entry &entry : root.entries) {
      if (entry.key == "kind")
        readWord(entry, "kind", std::array<std::string_view, 1>{"machine"});
      else if (entry.key == "version")
        readVersion(entry);
      else if (entry.key == "name")
        readName(entry);
      else if (entry.key == "measured")
        readMeasured(entry);
      else if (isKnown("a machine", entry, keys))
        readFigures(entry);
    }
    for (const std::string_view key : {"kind", "version", "name"})
      if (!find(root, key))
        missing(std::string(key), root.entries.front().keySpan);
  }

  Machine machine;

private:
  Finding &error(JobCode code, std::string message, const SourceSpan &span,
                 std::string label = {}) {
    return findings.error(Rule::J, number(code), std::move(message)).at(span, std::move(label));
  }

  static const Entry *find(const Node &mapping, std::string_view key) {
    for (const Entry &entry : mapping.entries)
      if (entry.key == key)
        return &entry;
    return nullptr;
  }

  void missing(const std::string &path, const SourceSpan &span) {
    error(JobCode::MissingKey, inBackticks(path) + " is missing", span)
        .withHelp(path == "kind"      ? "a machine begins with `kind: machine`"
                  : path == "version" ? "add `version: 1`"
                                      : std::string());
  }

  bool isKnown(const std::string &where, const Entry &entry,
               const std::vector<std::string_view> &keys) {
    if (std::find(keys.begin(), keys.end(), entry.key) != keys.end())
      return true;
    const auto near = nearest(entry.key, keys);
    error(JobCode::UnknownKey, "unknown key " + inBackticks(entry.key) + " in " + where,
          entry.keySpan, "not a key of " + where)
        .withHelp(near ? "a similar key exists: `" + std::string(*near) + '`'
                       : "the keys are " + listed(keys));
    return false;
  }

  bool isMapping(const std::string &path, const Entry &entry) {
    if (entry.value.kind == Node::Kind::Mapping)
      return true;
    if (!entry.value.broken)
      error(JobCode::NotASection,
            inBackticks(path) +
                (entry.value.kind == Node::Kind::Empty ? " is empty" : " is no mapping"),
            entry.value.span, "expected keys and values");
    return false;
  }

  /// The text of one value, or nothing, and why.
  const std::string *scalarOf(const std::string &path, const Entry &entry) {
    if (entry.value.broken)
      return nullptr;
    if (entry.value.kind == Node::Kind::Scalar)
      return &entry.value.text;
    error(JobCode::WrongType,
          inBackticks(path) +
              (entry.value.kind == Node::Kind::Empty ? " has no value" : " takes one value"),
          entry.value.span);
    return nullptr;
  }

  template <typename T>
  std::optional<T> valueOf(const std::string &path, const Entry &entry,
                           std::variant<T, ValueProblem> (*parse)(FigureKind, std::string_view),
                           FigureKind kind) {
    const std::string *text = scalarOf(path, entry);
    if (!text)
      return std::nullopt;
    const auto parsed = parse(kind, *text);
    if (const auto *problem = std::get_if<ValueProblem>(&parsed)) {
      error(problem->code, inBackticks(path) + ' ' + problem->message, entry.value.span,
            problem->label)
          .withHelp(problem->help);
      return std::nullopt;
    }
    return std::get<T>(parsed);
  }

  std::optional<double> numberOf(const std::string &path, const Entry &entry, FigureKind kind) {
    return valueOf<double>(path, entry, parseFigure, kind);
  }

  /// Which of the words; nothing, and why.
  std::optional<std::size_t> readWord(const Entry &entry, const std::string &path,
                                      std::span<const std::string_view> words) {
    const std::string *text = scalarOf(path, entry);
    if (!text)
      return std::nullopt;
    for (std::size_t index = 0; index < words.size(); ++index)
      if (words[index] == *text)
        return index;
    const std::vector<std::string_view> all(words.begin(), words.end());
    const auto near = nearest(*text, words);
    error(JobCode::UnknownWord, inBackticks(path) + " cannot be " + inBackticks(*text),
          entry.value.span, (words.size() == 1 ? "only " : "one of ") + listed(all))
        .withHelp(near ? "a similar word exists: `" + std::string(*near) + '`' : std::string());
    return std::nullopt;
  }

  void readVersion(const Entry &entry) {
    const std::string *text = scalarOf("version", entry);
    if (text && *text != "1")
      error(JobCode::Version, "version " + inBackticks(*text) + " of the machine format is unknown",
            entry.value.span, "this program reads version 1");
  }

  void readName(const Entry &entry) {
    const std::string *text = scalarOf("name", entry);
    if (!text)
      return;
    const auto parsed = parseValue({.type = FieldType::Name}, *text);
    if (const auto *problem = std::get_if<ValueProblem>(&parsed))
      error(problem->code, "`name` " + problem->message, entry.value.span, problem->label);
    machine.name = *text;
  }

  void readFigures(const Entry &section) {
    if (!isMapping(section.key, section))
      return;
    std::vector<std::string_view> keys;
    for (const MachineField &field : machineFields())
      if (sectionOf(field.path) == section.key)
        keys.push_back(field.path.substr(section.key.size() + 1));
    for (const Entry &entry : section.value.entries)
      if (isKnown(inBackticks(section.key), entry, keys))
        readFigure(join(section.key, entry.key), entry);
  }

  void readFigure(const std::string &path, const Entry &entry) {
    const auto fields = machineFields();
    const MachineField &field =
        *std::find_if(fields.begin(), fields.end(),
                      [&](const MachineField &candidate) { return candidate.path == path; });
    if (entry.value.kind == Node::Kind::Scalar && !entry.value.broken) {
      error(JobCode::MissingKey, inBackticks(path) + " has no source", entry.value.span,
            "where is this from?")
          .withHelp(fmt::format("write `{}: {{value: {}, source: …}}`", entry.key,
                                printable(entry.value.text)));
      return;
    }
    if (!isMapping(path, entry))
      return;
    Figure figure;
    for (const Entry &part : entry.value.entries) {
      if (!isKnown(inBackticks(path), part, {"value", "source"}))
        continue;
      if (part.key == "value")
        figure.value = numberOf(path, part, field.kind).value_or(0);
      else if (const std::string *text = scalarOf(path + ".source", part))
        figure.source = *text;
    }
    if (!find(entry.value, "value"))
      missing(path + ".value", entry.keySpan);
    if (!find(entry.value, "source"))
      missing(path + ".source", entry.keySpan);
    machine.*field.figure = std::move(figure);
  }

  // ---- what was measured ----

  void readMeasured(const Entry &section) {
    if (!isMapping("measured", section))
      return;
    std::vector<std::string_view> keys = {"source", "model", "microbatch"};
    for (const MeasuredPart &part : kParts)
      keys.push_back(part.key);
    Measurements &measured = machine.measured.emplace();
    for (const Entry &entry : section.value.entries) {
      if (!isKnown("`measured`", entry, keys))
        continue;
      if (entry.key == "source") {
        if (const std::string *text = scalarOf("measured.source", entry))
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
      if (!find(section.value, key))
        missing("measured." + std::string(key), section.keySpan);
  }

  template <typename Row, std::size_t count, typename Into>
  void readNumbers(const Entry &section, const std::string &path,
                   const std::array<Row, count> &rows, Into &into,
                   const std::vector<std::string_view> &others = {}) {
    if (!isMapping(path, section))
      return;
    std::vector<std::string_view> keys = others;
    for (const Row &row : rows)
      keys.push_back(row.key);
    for (const Entry &entry : section.value.entries) {
      if (!isKnown(inBackticks(path), entry, keys))
        continue;
      for (const Row &row : rows)
        if (row.key == entry.key)
          into.*row.number = countOf(path + '.' + entry.key, entry);
    }
    for (const Row &row : rows)
      if (!find(section.value, row.key))
        missing(path + '.' + std::string(row.key), section.keySpan);
  }

  std::uint32_t countOf(const std::string &path, const Entry &entry) {
    const std::string *text = scalarOf(path, entry);
    if (!text)
      return 0;
    const FieldSpec any{.type = FieldType::Count, .least = 0, .most = 4294967295.0};
    const auto parsed = parseValue(any, *text);
    if (const auto *problem = std::get_if<ValueProblem>(&parsed)) {
      error(problem->code, inBackticks(path) + ' ' + problem->message, entry.value.span,
            problem->label)
          .withHelp(problem->help);
      return 0;
    }
    return static_cast<std::uint32_t>(std::get<std::uint64_t>(std::get<Value>(parsed)));
  }

  void readModel(const Entry &section, ModelConfig &model) {
    readNumbers(section, "measured.model", kModelNumbers, model,
                {"family", "dtype", "kernels", "recompute"});
    const std::string path = "measured.model.";
    const auto word = [&](const char *key, std::span<const std::string_view> words) {
      const Entry *entry = find(section.value, key);
      if (!entry && section.value.kind == Node::Kind::Mapping)
        missing(path + key, section.keySpan);
      return entry ? readWord(*entry, path + key, words).value_or(0) : 0;
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
    if (!isMapping(path, section))
      return;
    std::vector<std::string_view> opcodes;
    for (const plan::Signature &signature : plan::signatures())
      opcodes.push_back(signature.name);
    const MeasuredPart &measuredPart =
        *std::find_if(kParts.begin(), kParts.end(),
                      [&](const MeasuredPart &part) { return part.key == section.key; });
    for (const Entry &entry : section.value.entries)
      if (isKnown(inBackticks(path), entry, opcodes))
        (measured.*measuredPart.times)[plan::findSignature(std::string_view(entry.key))->opcode] =
            timeOf(path + '.' + entry.key, entry);
  }

  MeasuredTime timeOf(const std::string &path, const Entry &entry) {
    MeasuredTime time;
    if (!isMapping(path, entry))
      return time;
    for (const Entry &part : entry.value.entries) {
      if (!isKnown(inBackticks(path), part, {"value", "spread"}))
        continue;
      if (part.key == "value")
        time.seconds = numberOf(path, part, FigureKind::Seconds).value_or(0);
      else
        time.spread = spreadOf(path + ".spread", part);
    }
    for (const std::string_view key : {"value", "spread"})
      if (!find(entry.value, key))
        missing(path + '.' + std::string(key), entry.keySpan);
    return time;
  }

  double spreadOf(const std::string &path, const Entry &entry) {
    const std::string *text = scalarOf(path, entry);
    if (!text)
      return 0;
    const auto parsed = parseValue({.type = FieldType::Number, .least = 0, .most = 1e9}, *text);
    if (const auto *problem = std::get_if<ValueProblem>(&parsed)) {
      error(problem->code, inBackticks(path) + ' ' + problem->message, entry.value.span,
            problem->label);
      return 0;
    }
    return std::get<double>(std::get<Value>(parsed));
  }

  Findings &findings;
};

} // namespace

std::span<const ModelNumber> modelNumbers() { return kModelNumbers; }
std::span<const MicrobatchNumber> microbatchNumbers() { return kMicrobatchNumbers; }
std::span<const MeasuredPart> measuredParts() { return kParts; }

std::optional<Machine> readMachine(std::string_view text, const std::string &file,
                                   Findings &findings) {
  const std::size_t before = findings.size();
  if (!checkText(text, file, findings))
    return std::nullopt;
  const std::optional<Node> root = readDocument(text, file, findings, "a machine");
  if (!root)
    return std::nullopt;
  if (root->kind != Node::Kind::Mapping || root->entries.empty()) {
    findings
        .error(Rule::J,
               number(root->kind == Node::Kind::Empty ? JobCode::EmptyFile : JobCode::NotASection),
               root->kind == Node::Kind::Empty ? "the machine is empty"
                                               : "a machine is a mapping of sections")
        .at({.file = file, .line = 1, .column = 1})
        .withHelp("start with `kind: machine`; `vimec machines h100-80g` prints one to begin with");
    return std::nullopt;
  }
  MachineReader reader(findings);
  reader.read(*root);
  std::stable_sort(findings.all().begin() + static_cast<std::ptrdiff_t>(before),
                   findings.all().end(), [](const Finding &one, const Finding &other) {
                     return std::pair(one.span.line, one.span.column) <
                            std::pair(other.span.line, other.span.column);
                   });
  return findings.size() == before ? std::optional(std::move(reader.machine)) : std::nullopt;
}

} // namespace vime
