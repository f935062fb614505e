// checkReward: J over `reward`: one judge, and only what it uses.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compiler/Frontend/Rules.h"
#include "runtime/Reward/CommandWords.h"
#include "runtime/Reward/Pattern.h"

namespace vime {

namespace {

constexpr const char *kJudges[] = {"reward.rule", "reward.command", "reward.url"};

/// The keys of the judges that are stated.
std::vector<std::string> judges(const Draft &draft) {
  std::vector<std::string> stated;
  for (const char *path : kJudges)
    if (draft.isStated(path))
      stated.emplace_back(path);
  return stated;
}

/// Behind it stands a remedy, which is said in our words.
std::string firstLine(const std::string &message) { return message.substr(0, message.find('\n')); }

void checkPattern(Draft &draft) {
  const auto &reward = draft.job.reward;
  const bool takesPattern = reward.rule.value == "regex" || reward.rule.value == "format";
  if (draft.isSpoiled("reward.pattern") || draft.isSpoiled("reward.rule"))
    return;
  if (takesPattern && !draft.isKnown("reward.pattern"))
    draft
        .error(JobCode::MissingKey, "`reward.pattern` is missing", reward.rule.span,
               "takes a pattern")
        .withHelp(reward.rule.value == "regex"
                      ? "add what a right response contains, as `pattern: \"answer: [0-9]+\"`"
                      : "add what all of a response looks like, as `pattern: \"<think>.*\"`");
  else if (!takesPattern && draft.isKnown("reward.pattern"))
    draft
        .error(JobCode::UnusedValue,
               "`reward.pattern` has no use: only the rules `regex` and `format` have one",
               reward.pattern.span)
        .withHelp("remove it");
  else if (takesPattern)
    if (const auto pattern = Pattern::make(reward.pattern.value); !pattern.ok())
      draft
          .error(JobCode::WrongType, pattern.status().message(), reward.pattern.span,
                 "no regular expression")
          .withHelp("write it as RE2 reads it: without back references and look-around");
}

void checkCommand(Draft &draft) {
  const auto &command = draft.job.reward.command;
  if (!draft.isKnown("reward.command"))
    return;
  if (const auto words = splitCommand(command.value); !words.ok())
    draft.error(JobCode::WrongType, firstLine(words.status().message()), command.span, "no command")
        .withHelp("no shell takes part: name a program and its words, or a script");
}

/// A rule answers at once, and a service has no processes.
void checkOtherPrograms(Draft &draft) {
  const auto &reward = draft.job.reward;
  const bool isRule = draft.isKnown("reward.rule"), isService = draft.isKnown("reward.url");
  const auto unused = [&](const char *path, const auto &field, const char *why) {
    if (isOther(draft, path))
      draft.error(JobCode::UnusedValue, code(path) + " has no use: " + why, field.span)
          .withHelp("remove it");
  };
  constexpr const char *kRule = "a rule is no other program";
  if (isRule) {
    unused("reward.timeout", reward.timeoutSeconds, kRule);
    unused("reward.retries", reward.retries, kRule);
    unused("reward.workers", reward.workers, kRule);
    unused("reward.min_workers", reward.minWorkers, kRule);
  } else if (isService) {
    unused("reward.min_workers", reward.minWorkers, "a service has no processes that may be lost");
  }
}

// A judge that may think longer than an action may take would end the run as if it hung.
void checkPatience(Draft &draft) {
  const Job &job = draft.job;
  const double all = job.reward.timeoutSeconds.value * (1.0 + job.reward.retries.value);
  if (draft.isKnown("reward.rule") ||
      !draft.areKnown({"reward.timeout", "reward.retries", "limits.transfer"}) ||
      all <= job.limits.transferSeconds.value)
    return;
  draft
      .error(JobCode::Range,
             fmt::format("a response may be judged for {}s, {} of {}s each, and an action may take "
                         "{}s",
                         all, counted(job.reward.retries.value + 1, "attempt"),
                         job.reward.timeoutSeconds.value, job.limits.transferSeconds.value),
             job.reward.timeoutSeconds.origin == OriginKind::Given ? job.reward.timeoutSeconds.span
                                                                   : draft.keySpan("reward"))
      .withHelp(
          fmt::format("write `limits: {{transfer: {}s}}` or more, or use a shorter timeout", all));
}

void checkWorkers(Draft &draft) {
  const auto &reward = draft.job.reward;
  if (!draft.areKnown({"reward.workers", "reward.min_workers"}) ||
      reward.minWorkers.value <= reward.workers.value)
    return;
  draft
      .error(JobCode::Range,
             text(reward.minWorkers.value) + " processes cannot be left of " +
                 text(reward.workers.value),
             reward.minWorkers.span)
      .note("so many are started", reward.workers.span)
      .withHelp("use at most " + text(reward.workers.value));
}

void checkAddress(Draft &draft) {
  const auto &url = draft.job.reward.url;
  if (!draft.isKnown("reward.url") || url.value.starts_with("http://") ||
      url.value.starts_with("https://"))
    return;
  draft.error(JobCode::WrongType, "`reward.url` is no address of an HTTP service", url.span)
      .withHelp("write `http://HOST:PORT/PATH`");
}

} // namespace

void checkReward(Draft &draft) {
  if (draft.isSpoiled("reward"))
    return;
  const std::vector<std::string> stated = judges(draft);
  if (stated.empty()) {
    const bool isSection = draft.isStated("reward");
    draft
        .error(JobCode::MissingKey,
               isSection ? "`reward` has no judge" : "section `reward` is missing",
               draft.keySpan("reward"))
        .note("`reward` says: " + std::string(findField("reward")->sentence))
        .withHelp("add `reward: {rule: exact-answer}`, a `command`, or a `url`");
    return;
  }
  if (stated.size() > 1) {
    draft
        .error(JobCode::RewardJudges,
               code(stated[0]) + " and " + code(stated[1]) + " are two ways to judge a response",
               draft.keySpan(stated[1]), "the second one")
        .note("the first one", draft.keySpan(stated[0]))
        .withHelp("keep one of them");
    return;
  }
  checkPattern(draft);
  checkCommand(draft);
  checkOtherPrograms(draft);
  checkWorkers(draft);
  checkPatience(draft);
  checkAddress(draft);
}

} // namespace vime
