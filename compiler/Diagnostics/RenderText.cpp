// renderText: findings as rustc draws its diagnostics.
#include <algorithm>
#include <string>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Diagnostics/Snippet.h"
#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Diagnostics/Utf8.h"

namespace vime {

namespace {

constexpr const char *kPlain = "\033[0m", *kBold = "\033[1m", *kRed = "\033[1;31m",
                     *kBlue = "\033[1;34m";

class Renderer {
public:
  Renderer(const SourceCache &sources, bool colour) : sources(sources), colour(colour) {}

  std::string render(const Finding &finding) {
    gutter = gutterOf(finding);
    text = paint(kRed, "error[" + codeOf(finding.rule, finding.number) + "]") +
           paint(kBold, ": " + printable(finding.message)) + '\n';
    place(finding.span, finding.spanLabel, kRed);
    for (const Note &note : finding.notes)
      if (!note.span)
        attachment(note);
    for (const Note &note : finding.notes)
      if (note.span)
        noteWithPlace(note);
    if (!finding.help.empty())
      attach("help", finding.help);
    return std::move(text);
  }

private:
  static std::size_t gutterOf(const Finding &finding) {
    int last = finding.span.line;
    for (const Note &note : finding.notes)
      if (note.span)
        last = std::max(last, note.span->line);
    return last > 0 ? std::to_string(last).size() : 1;
  }

  std::string paint(const char *style, const std::string &words) const {
    return colour ? style + words + kPlain : words;
  }

  void place(const SourceSpan &span, const std::string &label, const char *style) {
    if (span.file.empty())
      return;
    text += std::string(gutter, ' ') + paint(kBlue, "--> ") + printable(span.file);
    if (span.line > 0)
      text += ':' + std::to_string(span.line) + ':' + std::to_string(span.column);
    text += '\n';
    if (const auto line = sources.line(span.file, span.line))
      underlined(snippet(*line, span.column, span.length), span.line, label, style);
    else if (!label.empty())
      attach("note", label);
  }

  void underlined(const Snippet &shown, int number, const std::string &label, const char *style) {
    const std::string bar = paint(kBlue, std::string(gutter, ' ') + " |"),
                      digits = std::to_string(number);
    const std::string underline = std::string(static_cast<std::size_t>(shown.width), '^') +
                                  (label.empty() ? "" : " " + printable(label));
    text += bar + '\n';
    text += paint(kBlue, std::string(gutter - digits.size(), ' ') + digits + " |");
    text += shown.text.empty() ? "\n" : ' ' + shown.text + '\n';
    text += bar + ' ' + std::string(static_cast<std::size_t>(shown.underline), ' ') +
            paint(style, underline) + '\n';
  }

  void attachment(const Note &note) {
    if (!note.action)
      return attach("note", note.text);
    const std::string_view end = note.end == Note::End::From ? "from "
                                 : note.end == Note::End::To ? "to   "
                                                             : "";
    text += equals() + std::string(end) + "rank " + std::to_string(note.action->rank) +
            ", action " + std::to_string(note.action->action) +
            (note.text.empty() ? "" : ": " + printable(note.text)) + '\n';
  }

  void attach(const std::string &kind, const std::string &words) {
    text += equals() + paint(kBold, kind) + ": ";
    const std::string indent(gutter + 3 + kind.size() + 2, ' ');
    std::string_view rest = words; // line by line
    for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos;
         rest.remove_prefix(end + 1))
      text += printable(rest.substr(0, end)) + '\n' + indent;
    text += printable(rest) + '\n';
  }

  void noteWithPlace(const Note &note) {
    text += paint(kBold, "note") + ": " + printable(note.text) + '\n';
    place(*note.span, {}, kBlue);
  }

  std::string equals() const { return std::string(gutter, ' ') + paint(kBlue, " = "); }

  const SourceCache &sources;
  bool colour;
  std::size_t gutter = 1; // digits of the largest line number
  std::string text;
};

} // namespace

std::string renderText(const Finding &finding, const SourceCache &sources, bool colour) {
  return Renderer(sources, colour).render(finding);
}

std::string renderText(const Findings &findings, const SourceCache &sources, bool colour) {
  std::string text;
  for (const Finding &finding : findings.all()) {
    if (!text.empty())
      text += '\n';
    text += renderText(finding, sources, colour);
  }
  return text;
}

} // namespace vime
