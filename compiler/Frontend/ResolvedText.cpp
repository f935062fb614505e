// resolvedText: a complete job as canonical YAML, every value with its origin.
#include <algorithm>
#include <vector>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Frontend/FieldTable.h"
#include "compiler/Frontend/Fields.h"

namespace vime {

namespace {

constexpr std::size_t kOriginColumn = 40;

// Plain where YAML and we would read the same text back, else in double quotes.
std::string yamlText(const std::string &text) {
  const auto isPlain = [](char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z') || letter == '_' || letter == '.' || letter == '/' ||
           letter == '-';
  };
  const bool special = text == "null" || text == "Null" || text == "NULL" || text == "---" ||
                       text == "..." || text == "-";
  if (!text.empty() && !special && std::all_of(text.begin(), text.end(), isPlain))
    return text;
  std::string quoted = "\"";
  for (const char letter : text)
    quoted += letter == '"' || letter == '\\' ? std::string("\\") + letter : std::string(1, letter);
  return quoted + '"';
}

std::string originText(const ResolvedField &field) {
  switch (field.origin) {
  case OriginKind::Given:
    return "given";
  case OriginKind::Default:
    return "default";
  case OriginKind::Derived:
    return "derived from " + printable(field.from);
  }
  return {};
}

bool isFreeText(const ResolvedField &field) {
  const FieldSpec &row = *findField(field.path);
  return row.type == FieldType::Path || row.type == FieldType::Text ||
         row.type == FieldType::Name || !row.fileEnding.empty();
}

class Writer {
public:
  void write(const ResolvedField &field) {
    open(field.path);
    const std::size_t depth =
        static_cast<std::size_t>(std::count(field.path.begin(), field.path.end(), '.'));
    std::string line =
        std::string(2 * depth, ' ') + field.path.substr(field.path.rfind('.') + 1) + ": ";
    line += isFreeText(field) ? yamlText(field.valueText) : field.valueText;
    line += std::string(
        std::max<std::size_t>(characterCount(line) + 2, kOriginColumn) - characterCount(line), ' ');
    text += line + "# " + originText(field) + '\n';
  }

  std::string text = "version: 1\n";

private:
  /// The sections around the path that are not open yet.
  void open(const std::string &path) {
    std::size_t depth = 0;
    for (std::size_t dot = path.find('.'); dot != std::string::npos;
         dot = path.find('.', dot + 1), ++depth) {
      const std::string section = path.substr(0, dot);
      if (depth < sections.size() && sections[depth] == section)
        continue;
      sections.resize(depth);
      sections.push_back(section);
      text += std::string(2 * depth, ' ') + section.substr(section.rfind('.') + 1) + ":\n";
    }
    sections.resize(depth);
  }

  std::vector<std::string> sections; // open ones, outermost first, as paths
};

} // namespace

std::string resolvedText(const Job &job) {
  Writer writer;
  for (const ResolvedField &field : fieldsOf(job))
    writer.write(field);
  return std::move(writer.text);
}

} // namespace vime
