#include "compiler/Verify/Verdict.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/Plan/Describe.h"

namespace vime::verify {

Verdict::Counter &Verdict::counterOf(Rule rule, int number) {
  const auto counter = std::find_if(counters.begin(), counters.end(), [&](const Counter &known) {
    return known.rule == rule && known.number == number;
  });
  return counter != counters.end()
             ? *counter
             : *counters.insert(counters.end(), {rule, number, 0, nullptr, nullptr});
}

Finding &Verdict::error(Rule rule, int number, std::string message) {
  Counter &counter = counterOf(rule, number);
  if (++counter.found > kShown)
    return unseen = Finding();
  counter.last = &findings.error(rule, number, std::move(message));
  if (!counter.first)
    counter.first = counter.last;
  return *counter.last;
}

void Verdict::take(Verdict &&other) {
  for (Finding &finding : other.findings.all())
    if (Finding &place = error(finding.rule, finding.number, {}); &place != &unseen)
      place = std::move(finding);
  for (const Counter &counter : other.counters) // what it did not show counts too
    counterOf(counter.rule, counter.number).found +=
        counter.found - std::min<std::size_t>(counter.found, kShown);
}

Finding &Verdict::error(Rule rule, int number, ActionPlace place, std::string message) {
  Finding &finding = error(rule, number, std::move(message));
  if (&finding != &unseen)
    findOrigin(finding, place);
  return finding;
}

void Verdict::findOrigin(Finding &finding, ActionPlace place) const {
  const plan::Program *program = plan::programOf(source, place.rank);
  if (!program || place.action >= program->actions.size())
    return;
  const std::uint16_t opcode = program->actions[place.action].opcode;
  for (const plan::Origin &origin : source.origins)
    if (origin.opcode == opcode) {
      const SourceSpan span{file, static_cast<int>(origin.line), static_cast<int>(origin.column),
                            static_cast<int>(origin.length)};
      const plan::Signature *signature = plan::findSignature(opcode);
      finding.at(span, signature ? fmt::format("`{}` comes from here", signature->name) : "");
      return;
    }
}

void Verdict::from(Finding &finding, ActionPlace place) const {
  if (&finding == &unseen)
    return;
  finding.from(place, words(place));
  if (finding.span.line == 0)
    findOrigin(finding, place);
}

void Verdict::to(Finding &finding, ActionPlace place) const {
  if (&finding == &unseen)
    return;
  finding.to(place, words(place));
  if (finding.span.line == 0)
    findOrigin(finding, place);
}

std::string Verdict::words(ActionPlace place) const {
  return plan::describe(source, place.rank, place.action);
}

std::size_t Verdict::count(Rule rule) const {
  std::size_t sum = 0;
  for (const Verdict *other : before)
    for (const Counter &counter : other->counters)
      sum += counter.rule == rule ? counter.found : 0;
  for (const Counter &counter : counters)
    sum += counter.rule == rule ? counter.found : 0;
  return sum;
}

void Verdict::noteAll(const std::string &note) {
  for (const Counter &counter : counters)
    counter.first->note(note);
}

void Verdict::close() {
  for (const Counter &counter : counters)
    if (counter.found > kShown)
      counter.last->note(fmt::format("{} more of this kind", counter.found - kShown));
}

std::string times(std::uint64_t count) {
  return count == 0 ? "never" : count == 1 ? "once" : fmt::format("{} times", count);
}

} // namespace vime::verify
