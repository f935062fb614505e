// Draft: a job while it is being read: what is known so far, and what has been reported.
//
// A value is known once it is legal by itself. A path is spoiled once something about it has been
// reported, or follows from something reported; nothing is derived from it and nothing more is said
// about it. So one mistake gives one error.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Diagnostics/JobCodes.h"
#include "compiler/Frontend/FieldTable.h"
#include "schedules/OrderTable.h"

namespace vime {

class Draft {
public:
  Draft(std::string file, Findings &findings);

  Job job;

  /// The order's table, once it has been read and judged.
  std::optional<OrderTable> table;

  Finding &error(JobCode code, std::string message, SourceSpan span, std::string label = {});
  /// What was found in another file than the job's.
  void adopt(const Findings &found);

  /// A key that the file states: a section, or the key of a value.
  void state(const std::string &path, SourceSpan keySpan) {
    keys.emplace(path, std::move(keySpan));
  }
  bool isStated(const std::string &path) const { return keys.contains(path); }
  const std::map<std::string, SourceSpan> &statedKeys() const { return keys; }

  /// What the stated keys make of the job.
  bool has(Presence presence) const;
  bool hasRounds() const { return has(Presence::Rounds); }

  /// The key, or the nearest section around it that the file states.
  SourceSpan keySpan(std::string_view path) const;

  void store(const FieldSpec &field, const std::string &path, const Value &value,
             const Origin &origin);
  void markKnown(const std::string &path) { values.insert(path); }
  bool isKnown(const std::string &path) const { return values.contains(path); }
  bool areKnown(std::initializer_list<std::string> paths) const;

  void spoil(const std::string &path) { spoiled.insert(path); }
  /// The path, or a section that it lies in, is spoiled.
  bool isSpoiled(std::string_view path) const;

  /// A value that a file which cannot be read would have given: its absence says nothing.
  void leaveOpen(const std::string &path) {
    spoil(path);
    open.insert(path);
  }
  bool isOpen(const std::string &path) const { return open.contains(path); }

  /// Of a known value.
  Value value(const std::string &path) const;
  Origin origin(const std::string &path) const;

  Job::NamedModel *model(std::string_view name);
  const Job::NamedModel *model(std::string_view name) const;
  /// Nothing of the model's family has been found wrong, and it has this field.
  bool hasField(const Job::NamedModel &model, const FieldSpec &field) const;

private:
  Findings &findings;
  std::map<std::string, SourceSpan> keys;
  std::set<std::string, std::less<>> values, spoiled, open;
};

/// Fills in defaults and derived values, reports what is missing.
void complete(Draft &draft);

/// Judges values that are legal by themselves against each other.
void checkRules(Draft &draft);

} // namespace vime
