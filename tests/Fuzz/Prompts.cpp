// Fuzz target `prompts`: a line of a file of prompts, as texts and as ids, and where it is text
// what rewards make of its answer.
#include <algorithm>

#include "runtime/Base/Utf8.h"
#include "runtime/Data/PromptLine.h"
#include "runtime/Reward/FinalAnswer.h"
#include "runtime/Reward/RewardMessage.h"
#include "tests/Fuzz/Target.h"

namespace vime::fuzz {
namespace {

void judgeAnswer(const std::string &answer) {
  const std::string_view final = finalAnswer(answer);
  must(final.size() <= answer.size(), "a final answer is part of an answer");
  if (const auto number = lastNumber(final))
    must(sameNumber(*number, *number), "a number is the same as itself");
}

void eatLine(std::string_view line, const PromptLimits &limits) {
  const StatusOr<Prompt> prompt = parsePromptLine(line, limits);
  if (!prompt.ok())
    return must(!prompt.status().message().empty(), "a refusal says why");
  const std::vector<std::int32_t> &tokens = prompt->tokens;
  must(!tokens.empty() && tokens.size() <= limits.tokens, "a prompt has 1 to so many tokens");
  must(std::all_of(tokens.begin(), tokens.end(),
                   [&](std::int32_t token) {
                     return token >= 0 && std::uint32_t(token) < limits.vocabulary;
                   }),
       "tokens are in the vocabulary");
  must(!limits.needsAnswer || !prompt->answer.empty(), "an answer that is needed is there");
  judgeAnswer(prompt->answer);
  const std::string request = describeRequest(3, {.prompt = line,
                                                  .promptTokens = tokens,
                                                  .answer = prompt->answer,
                                                  .metadata = prompt->metadata});
  must(request.find('\n') == request.npos, "a request is one line");
  must(withReplacements(request) == request, "a request is UTF-8");
}

} // namespace

void eat(std::string_view bytes) {
  eatLine(bytes, {.tokens = 64});
  eatLine(bytes, {.tokens = 8, .vocabulary = 300, .needsAnswer = true, .needsText = true});
  eatLine(bytes, {.tokens = 64, .vocabulary = 20});
  (void)parseReply(bytes);
  judgeAnswer(std::string(bytes));
}

std::vector<std::string> seeds() {
  return {"{\"prompt\": \"1+1=\", \"answer\": \"#### -1,234.5e-3\"}",
          "{\"prompt_ids\": [19, 0], \"label\": \"\\\\boxed{{2}}\", \"metadata\": {\"a\": [1.5]}}",
          "{\"prompt\": \"\\u00e9\xFF\\udbff\\udf80\"}", "{\"prompt\": \"\xC3\xA9\x80\"}",
          "{\"id\": 3, \"score\": 0.5}"};
}

} // namespace vime::fuzz
