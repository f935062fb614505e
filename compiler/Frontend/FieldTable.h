// FieldTable: every key that a job can have, one row each. The only source for reading, defaults,
// messages, the resolved text and the job dialect's list; later for the schema, `explain` and
// completion.
//
//   const FieldSpec *field = findField("models.policy.layers"); // the row `models.*.layers`
//   field->sentence                                             // "number of decoder layers"
//
// A row either binds a value of the Job, or is a section, or names what vime cannot do yet
// (`later`): such a key is refused with that sentence, never read and dropped.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/Frontend/Job.h"
#include "compiler/Frontend/Value.h"

namespace vime {

enum class FieldType : std::uint8_t {
  Section, // a mapping
  Count,   // a whole number, with `unit` a noun: `4 samples`
  Number,  // a real number
  Bytes,   // `80GiB`
  Seconds, // `600s`, `3 ms`
  Word,    // one of `words`
  Name,    // letters, digits, `.`, `_`, `-`
  Path,    // a file or folder
  Ranks,   // `0-3`
  Pair,    // two real numbers in a list
  Counts,  // whole numbers in a list: `[3, 2, 2, 1]`
  Amount,  // a whole number with `unit` or `otherUnit`: `4 samples`, `512 tokens`
  Text,    // any text of one line
  Tokens,  // ids in a list, or texts of one byte: `[10, ";"]`
  PerRank  // a whole number for all ranks, a list with one for each, or `auto`: no number
};

/// Which jobs have a field.
enum class Presence : std::uint8_t {
  Always,
  Text,      // those that train on a text
  Rounds,    // those that generate what they train on
  Reference, // of them, those with `roles.ref`
  Prompts    // of them, those that evaluate by generation
};

/// How a value gets into a Job and out of it. `model` is the model that a path `models.NAME.…`
/// speaks of.
struct Binding {
  void (*store)(Job &job, Job::NamedModel *model, std::string_view key, const Value &value,
                const Origin &origin) = nullptr;
  Value (*load)(const Job &job, const Job::NamedModel *model) = nullptr;
  Origin (*origin)(const Job &job, const Job::NamedModel *model, std::string_view key) = nullptr;
};

struct FieldSpec {
  std::string_view path; // `*` stands for a model's name
  FieldType type = FieldType::Section;
  Presence presence = Presence::Always;
  std::string_view unit{};        // of counts: `samples`
  std::string_view otherUnit{};   // of amounts: `tokens`
  double least = 0, most = 0;     // of numbers, both included
  double mostOther = 0;           // of amounts in the other unit
  bool layoutText = false;        // of Counts: a Megatron layout will do as well
  std::size_t leastItems = 1;     // of Counts
  std::size_t mostItems = 0;      // of Counts; 0: any number of them
  bool oneForBoth = false;        // of Pair: one number will do as well
  bool above = false;             // of real numbers: `least` itself is excluded
  bool below = false;             // of real numbers: `most` itself is excluded
  std::string_view fallback{};    // the default, as text
  std::string_view derivedFrom{}; // in words; set where a missing value is derived
  bool optional = false; // may be absent from a complete job; then its value is 0, false or empty
  std::vector<std::string_view> words{}; // of Word
  std::string_view otherWords{}; // of Word: other systems' words and ours, as `fp32=float32`
  std::string_view fileEnding{}; // of Word: a path with this ending will do as well
  std::vector<std::string_view> laterWords{}; // words and units of values that vime cannot do yet
  std::string_view family{};                  // only models of these families have it
  std::string_view aliases{};  // the names of Megatron and Hugging Face, separated by spaces
  std::string_view later{};    // what the key asks for, where vime cannot do it yet
  std::string_view phase{};    // the first phase of the compiler that looks at it
  std::string_view sentence{}; // what it says
  Binding binding{};

  /// Whether models of this family have it.
  bool isOf(std::string_view modelFamily) const;
  bool isLater() const { return !later.empty(); }
  bool hasValue() const { return binding.load != nullptr; }
  std::string_view key() const { return path.substr(path.rfind('.') + 1); }
};

/// Whether a complete job has it.
bool has(const Job &job, Presence presence);

/// In the order of a canonical job; the rows of a section stand together behind its own row.
std::span<const FieldSpec> fieldTable();

/// The row of a path as a job writes it, or null.
const FieldSpec *findField(std::string_view path);

/// The row in `section` (a path as a job writes it; "" is the file) that `word` is another system's
/// name for, or null.
const FieldSpec *findAlias(std::string_view section, std::string_view word);

/// Whether two names of other systems are one: `num-layers`, `num_layers`, `--num-layers`.
bool sameAlias(std::string_view alias, std::string_view word);

/// The keys of a section that exist today, in table order.
std::vector<std::string_view> keysOf(std::string_view section);

/// `pipeline.chunks` → `pipeline`; `version` → "".
std::string_view sectionOf(std::string_view path);

/// `pipeline` and `chunks` → `pipeline.chunks`.
std::string join(std::string_view section, std::string_view key);

/// Whether `path` is `pattern` with a name for `*`.
bool matches(std::string_view pattern, std::string_view path);

/// The model's name in `models.NAME.…`, or "".
std::string_view modelNameIn(std::string_view path);

} // namespace vime
