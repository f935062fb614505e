#include "compiler/Reference/CodePage.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Verify/Codes.h"

namespace vime {

namespace {

struct Explanation {
  std::string code, meaning, example, right, remedy;
};

std::string upper(std::string_view text) {
  std::string letters(text);
  std::transform(letters.begin(), letters.end(), letters.begin(), ::toupper);
  return letters;
}

std::optional<Explanation> explainJobCode(const std::string &code) {
  for (const JobCodeMeaning &row : jobCodes())
    for (const JobExample &example : jobExamples())
      if (example.code == row.code && codeOf(Rule::J, number(row.code)) == code)
        return Explanation{code, std::string(row.meaning), std::string(example.wrong),
                           std::string(example.right), std::string(example.remedy)};
  return std::nullopt;
}

std::optional<Explanation> explainPlanCode(const std::string &code) {
  for (const VerifierCode &row : verifierCodes())
    for (const PlanExample &example : planExamples())
      if (example.rule == row.rule && example.number == row.number &&
          codeOf(row.rule, row.number) == code)
        return Explanation{code, std::string(row.meaning), std::string(example.example), "",
                           std::string(remedyOf(row.rule))};
  return std::nullopt;
}

std::optional<Explanation> explain(std::string_view text) {
  const std::string code = upper(text);
  const auto ofJob = explainJobCode(code);
  return ofJob ? ofJob : explainPlanCode(code);
}

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void block(std::string &text, std::string_view heading, std::string_view lines) {
  text += fmt::format("\n  {}:\n\n", heading);
  for (const std::string_view line : linesOf(lines)) {
    const bool tab = line.starts_with('\t');
    text += fmt::format("    {}{}\n", tab ? "<tab>" : "", printable(line.substr(tab ? 1 : 0)));
  }
}

std::string_view keyOf(std::string_view line) { return line.substr(0, line.find(':')); }

} // namespace

std::string_view sampleJob() {
  return R"(version: 1
name: sample
cluster:   {ranks: 4, device: cpu}
models:
  policy:  {family: llama, layers: 8, hidden: 64, heads: 4, ffn: 172, vocab: 256}
roles:
  actor:   {model: policy, ranks: 0-3, parallel: {pp: 4}}
pipeline:  {schedule: 1f1b, microbatches: 8, microbatch: 4 samples}
data:      {text: corpus.txt, sequence: 128 tokens}
optimizer: {kind: adamw, lr: 3.0e-4}
run:       {steps: 200}
)";
}

std::string_view sampleRoundsJob() {
  return R"(version: 1
name: sample
cluster:   {ranks: 4, device: cpu}
models:
  policy:  {family: llama, layers: 8, hidden: 64, heads: 4, ffn: 172, vocab: 256}
roles:
  actor:   {model: policy, ranks: 0-1, parallel: {pp: 2}}
  rollout: {model: policy, ranks: 2-3}
pipeline:  {schedule: 1f1b, microbatch: 256 tokens}
batch:     {prompts: 16, samples_per_prompt: 8, global: 64 samples}
data:      {prompts: train.jsonl, max_prompt: 40 tokens}
rollout:   {max_new: 24 tokens}
reward:    {rule: exact-answer}
optimizer: {kind: adamw, lr: 1.0e-4}
run:       {rounds: 40}
)";
}

std::string sampleJobWith(std::string_view lines, bool ofRounds) {
  if (lines.empty())
    return {};
  std::vector<std::string_view> job = linesOf(ofRounds ? sampleRoundsJob() : sampleJob());
  auto behind = job.end();
  for (const std::string_view line : linesOf(lines)) {
    const auto same = std::find_if(job.begin(), job.end(), [&](std::string_view other) {
      return keyOf(other) == keyOf(line);
    });
    if (same != job.end()) {
      *same = line;
      behind = same + 1;
    } else {
      behind = job.insert(behind, line) + 1;
    }
  }
  return fmt::format("{}\n", fmt::join(job, "\n"));
}

std::vector<std::string> allCodes() {
  std::vector<std::string> codes;
  for (const JobCodeMeaning &row : jobCodes())
    codes.push_back(codeOf(Rule::J, number(row.code)));
  for (const VerifierCode &row : verifierCodes())
    codes.push_back(codeOf(row.rule, row.number));
  return codes;
}

bool isCode(std::string_view text) {
  return text.size() == 5 && std::isalpha(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin() + 1, text.end(),
                     [](unsigned char letter) { return std::isdigit(letter); });
}

std::optional<std::string> codePage(std::string_view code) {
  const auto explanation = explain(code);
  if (!explanation)
    return std::nullopt;
  std::string text = fmt::format("{}: {}\n", explanation->code, explanation->meaning);
  if (explanation->example.empty())
    text += "\n  for example a file without a line\n";
  else
    block(text, "for example", explanation->example);
  if (!explanation->right.empty())
    block(text, "right would be", explanation->right);
  return text + fmt::format("\n  help: {}\n", explanation->remedy);
}

std::optional<std::string> codeJson(std::string_view code) {
  const auto explanation = explain(code);
  if (!explanation)
    return std::nullopt;
  nlohmann::ordered_json json = {{"code", explanation->code},
                                 {"meaning", explanation->meaning},
                                 {"example", explanation->example}};
  if (!explanation->right.empty())
    json["right"] = explanation->right;
  json["help"] = explanation->remedy;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace vime
