// SampleJob: legal jobs for tests, and what reading gives.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/Frontend/Job.h"

namespace vime {

/// A small legal job for a Llama on four ranks.
std::string sampleText();
/// A legal job with rounds.
std::string sampleRoundsText();

/// The same with the first `what` replaced; fails the test if it does not stand there.
std::string sampleWith(std::string_view what, std::string_view by);

/// Reads a job that must be legal; fails the test with the errors if it is not.
Job legalJob(const std::string &text, const std::string &file = "job.yaml");

/// The codes of what is found, in order: "J0012 J0022"; "" for a legal job.
std::string codesOf(const std::string &text);

std::string contentsOf(const std::filesystem::path &path);

/// Of an example. Where it begins with the weights that another job of its folder exports, with
/// that one's sizes instead: they are not there before it has run.
std::string exampleText(const std::filesystem::path &job);

/// Every job.yaml in examples/.
std::vector<std::filesystem::path> exampleJobs();

} // namespace vime
