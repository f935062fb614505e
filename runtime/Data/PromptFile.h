// PromptFile: the prompts of a job, one a line of a file of JSON Lines, read and checked once.
//
//   {"prompt": "12+7=", "answer": "19"}
//   {"prompt_ids": [5, 17, 3], "label": "19", "metadata": {"level": 2}}
//
//   StatusOr<PromptFile> prompts = PromptFile::open("train.jsonl", {.tokens = 40});
//   prompts->at(promptOfDraw(prompts->count(), seed, 17)).tokens   // of draw 17
//
// `prompt` is a text, of which each byte is a token; a model with another vocabulary takes
// `prompt_ids`. `answer` (or `label`) is a text for rewards to compare with, `metadata` an object
// that is handed on to them. Whatever else a line has is an error, and none is cut or left out:
// every error names the line. Bytes that are no UTF-8 stay what they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/Base/FileHash.h"
#include "runtime/Base/Status.h"
#include "runtime/Plan/Round.h"

namespace vime {

/// What a prompt must be.
struct PromptLimits {
  std::uint32_t tokens = 0; // at most
  std::uint32_t vocabulary = 256;
  bool needsAnswer = false;
  bool needsText = false; // `prompt_ids` have none
};

/// For the rollouts of a plan: what its reward needs too.
PromptLimits promptLimits(const plan::RoundSettings &round, std::uint32_t vocabulary);

struct Prompt {
  std::vector<std::int32_t> tokens; // 1 at least
  bool isText = true;               // tokens are bytes
  std::string answer;               // empty: none
  std::string metadata;             // an object, as JSON; empty: none
};

class PromptFile {
public:
  /// File: not readable. InvalidInput: no prompts, or one that is not as `limits` say.
  static StatusOr<PromptFile> open(const std::string &path, const PromptLimits &limits);
  /// The same, and the file must be the one that the plan was made for (Unacceptable).
  static StatusOr<PromptFile> open(const std::string &path, const PromptLimits &limits,
                                   const FileFingerprint &expected);

  std::uint64_t count() const { return prompts.size(); }
  const Prompt &at(std::uint64_t prompt) const { return prompts[prompt]; }
  const FileFingerprint &fingerprint() const { return print; }
  const PromptLimits &limits() const { return kept; }

private:
  PromptFile() = default;
  static StatusOr<PromptFile> open(const std::string &path, const PromptLimits &limits,
                                   const FileFingerprint *expected);

  std::vector<Prompt> prompts;
  FileFingerprint print;
  PromptLimits kept;
};

/// Which prompt of so many a draw takes: each epoch goes through all of them in an order of its
/// own, made from the seed.
std::uint64_t promptOfDraw(std::uint64_t count, std::uint64_t seed, std::uint64_t draw);

} // namespace vime
