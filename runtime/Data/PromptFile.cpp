#include "runtime/Data/PromptFile.h"

#include <string_view>

#include <fmt/format.h>

#include "runtime/Data/Permutation.h"
#include "runtime/Data/PromptLine.h"
#include "runtime/Data/TextFile.h"

namespace vime {
namespace {

constexpr std::string_view kCompileAgain =
    "help: compile the job again, so that the plan is for the prompts as they are";

std::string_view textOf(const TextFile &file) {
  return {reinterpret_cast<const char *>(file.bytes().data()), file.bytes().size()};
}

FileFingerprint fingerprintOf(const TextFile &file) {
  return {.bytes = file.bytes().size(), .hash = hashBytes(file.bytes())};
}

Status checkSame(const std::string &path, const FileFingerprint &found,
                 const FileFingerprint &expected) {
  if (found.bytes != expected.bytes)
    return Status(StatusCode::Unacceptable,
                  fmt::format("prompts `{}` have {} bytes, and had {} when the plan was made\n{}",
                              path, found.bytes, expected.bytes, kCompileAgain));
  if (found.hash != expected.hash)
    return Status(StatusCode::Unacceptable,
                  fmt::format("prompts `{}` have other content than when the plan was made\n{}",
                              path, kCompileAgain));
  return {};
}

StatusOr<std::vector<Prompt>> parse(const std::string &path, std::string_view text,
                                    const PromptLimits &limits) {
  std::vector<Prompt> prompts;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    StatusOr<Prompt> prompt = parsePromptLine(text.substr(0, end), limits);
    if (!prompt.ok())
      return Status(prompt.status().code(),
                    fmt::format("prompts `{}`, line {}: {}", path, prompts.size() + 1,
                                prompt.status().message()));
    prompts.push_back(std::move(*prompt));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  if (prompts.empty())
    return Status(StatusCode::InvalidInput, fmt::format("prompts `{}`: the file is empty", path));
  return prompts;
}

} // namespace

PromptLimits promptLimits(const plan::RoundSettings &round, std::uint32_t vocabulary) {
  const plan::RewardKind kind = round.reward.kind;
  return {.tokens = round.rollout.maxPrompt,
          .vocabulary = vocabulary,
          .needsAnswer = kind == plan::RewardKind::ExactAnswer || kind == plan::RewardKind::Numeric,
          .needsText = kind != plan::RewardKind::Command && kind != plan::RewardKind::Http};
}

StatusOr<PromptFile> PromptFile::open(const std::string &path, const PromptLimits &limits,
                                      const FileFingerprint *expected) {
  const StatusOr<std::shared_ptr<const TextFile>> file = TextFile::open(path);
  if (!file.ok())
    return file.status();
  PromptFile result;
  result.print = fingerprintOf(**file);
  if (expected)
    if (Status same = checkSame(path, result.print, *expected); !same.ok())
      return same;
  StatusOr<std::vector<Prompt>> prompts = parse(path, textOf(**file), limits);
  if (!prompts.ok())
    return prompts.status();
  if (Status status = (*file)->unchanged(); !status.ok())
    return status;
  result.prompts = std::move(*prompts);
  result.kept = limits;
  return result;
}

StatusOr<PromptFile> PromptFile::open(const std::string &path, const PromptLimits &limits) {
  return open(path, limits, nullptr);
}

StatusOr<PromptFile> PromptFile::open(const std::string &path, const PromptLimits &limits,
                                      const FileFingerprint &expected) {
  return open(path, limits, &expected);
}

std::uint64_t promptOfDraw(std::uint64_t count, std::uint64_t seed, std::uint64_t draw) {
  return Permutation(count, seed, draw / count)(draw % count);
}

} // namespace vime
