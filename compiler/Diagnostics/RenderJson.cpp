// renderJson: findings for machines, the rendered text inside.
#include <nlohmann/json.hpp>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Diagnostics/SourceCache.h"

namespace vime {

namespace {

using Json = nlohmann::ordered_json;

void addPlace(Json &object, const SourceSpan &span) {
  object["file"] = span.file;
  object["line"] = span.line;
  object["column"] = span.column;
  object["length"] = span.length;
}

Json jsonOf(const Note &note) {
  Json object{{"text", note.text}};
  if (note.span)
    addPlace(object, *note.span);
  if (note.action) {
    object["rank"] = note.action->rank;
    object["action"] = note.action->action;
  }
  if (note.end != Note::End::None)
    object["end"] = note.end == Note::End::From ? "from" : "to";
  return object;
}

Json jsonOf(const Finding &finding, const SourceCache &sources) {
  Json object{{"code", codeOf(finding.rule, finding.number)}, {"message", finding.message}};
  addPlace(object, finding.span);
  object["label"] = finding.spanLabel;
  object["notes"] = Json::array();
  for (const Note &note : finding.notes)
    object["notes"].push_back(jsonOf(note));
  object["help"] = finding.help;
  object["rendered"] = renderText(finding, sources);
  return object;
}

} // namespace

std::string renderJson(const Findings &findings, const SourceCache &sources) {
  Json document{{"format", "vime-diagnostics"}, {"format_version", 1}, {"errors", Json::array()}};
  for (const Finding &finding : findings.all())
    document["errors"].push_back(jsonOf(finding, sources));
  // A file name need not be UTF-8; JSON must be.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace vime
