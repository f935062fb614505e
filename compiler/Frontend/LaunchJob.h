// LaunchJob: the values that a launch line gives a job, and the job's text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/Frontend/FieldTable.h"

namespace vime {

class LaunchJob {
public:
  /// `path` as a job writes it; `text` as a user would, without quotes.
  void set(const std::string &path, std::string text) { values[path] = std::move(text); }
  void set(const std::string &path, std::uint64_t number) { set(path, std::to_string(number)); }

  /// What a flag says in its own words, without units: empty, or why the field cannot take it.
  std::string setFlag(const FieldSpec &field, const std::vector<std::string> &words);

  std::string get(const std::string &path) const;

  /// Sections and keys in the order of a canonical job.
  std::string text() const;

private:
  std::map<std::string, std::string> values;
};

} // namespace vime
