// Status, StatusOr<T>: how the runtime reports failure. No exceptions, nothing to forget.
//
//   StatusOr<Plan> plan = readPlan(file);
//   if (!plan.ok())
//     return plan.status();
//
// The code is the process's exit code when the failure reaches main (architecture.md, Errors and
// output).
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace vime {

enum class StatusCode : int {
  Ok = 0,
  InvalidInput = 1,  // a job, order or data file is wrong
  Usage = 2,         // the command line is wrong
  File = 3,          // a file cannot be read or written
  Unacceptable = 4,  // the plan is damaged or does not fit this machine or these peers
  RankFailed = 5,    // a rank failed while running
  Hang = 6,          // a deadline passed
  Interrupted = 130, // Ctrl-C
  Internal = 70      // a bug of ours
};

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message) : statusCode(code), text(std::move(message)) {}
  bool ok() const { return statusCode == StatusCode::Ok; }
  StatusCode code() const { return statusCode; }
  int exitCode() const { return static_cast<int>(statusCode); }
  /// Lower case, no full stop; empty when ok.
  const std::string &message() const { return text; }

private:
  StatusCode statusCode = StatusCode::Ok;
  std::string text;
};

template <typename T> class [[nodiscard]] StatusOr {
public:
  StatusOr(Status status) : failure(std::move(status)) { assert(!failure.ok()); }
  StatusOr(T value) : held(std::move(value)) {}
  bool ok() const { return held.has_value(); }
  const Status &status() const { return failure; }
  T &value() & { return *held; }
  const T &value() const & { return *held; }
  T &&value() && { return std::move(*held); }
  T &operator*() & { return *held; }
  const T &operator*() const & { return *held; }
  T *operator->() { return &*held; }
  const T *operator->() const { return &*held; }

private:
  Status failure;
  std::optional<T> held;
};

} // namespace vime
