// What the ops of the `job` dialect hold.
#pragma once

#include <array>
#include <span>

#include "dialects/Record/RecordAttributes.h"
#include "dialects/Record/RecordText.h"

namespace vime::ir {

struct JobHead {
  std::string file; // as the user named it
  bool operator==(const JobHead &) const = default;
};

enum class FieldOrigin : std::uint8_t { Given, Default, Derived };

template <> struct Words<FieldOrigin> {
  static std::span<const std::string_view> all() {
    static constexpr std::array<std::string_view, 3> kWords = {"given", "default", "derived"};
    return kWords;
  }
};

/// Positions count from 1; line 0: no place.
struct JobField {
  std::string path, value;
  FieldOrigin origin = FieldOrigin::Given;
  std::string from; // of derived values
  std::string file;
  std::int32_t line = 0, column = 0, length = 1;
  bool operator==(const JobField &) const = default;
};

/// The place in job.yaml; unknown without one.
mlir::Location locationOf(mlir::MLIRContext *context, const JobField &field);

template <typename Fields> void visitFields(Fields &fields, JobHead &job) {
  fields.leading("file", job.file);
}

template <typename Fields> void visitFields(Fields &fields, JobField &field) {
  fields.leading("path", field.path);
  fields.leading("value", field.value);
  fields.leading("origin", field.origin);
  fields.optional("from", field.from, std::string());
  fields.optional("at", field.file, std::string());
  fields.optional("line", field.line, 0);
  fields.optional("column", field.column, 0);
  fields.optional("length", field.length, 1);
}

} // namespace vime::ir
