// Bindings: how the rows of the field table reach the members of a Job. Included by FieldTable.cpp
// only.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "compiler/Frontend/FieldTable.h"

namespace vime {

inline void assign(std::string &to, const Value &value) { to = std::get<std::string>(value); }
inline void assign(double &to, const Value &value) { to = std::get<double>(value); }
inline void assign(std::uint64_t &to, const Value &value) { to = std::get<std::uint64_t>(value); }
inline void assign(Quantity &to, const Value &value) { to = std::get<Quantity>(value); }
inline void assign(CountList &to, const Value &value) { to = std::get<CountList>(value); }
// The field's range has been checked.
inline void assign(std::uint32_t &to, const Value &value) {
  to = static_cast<std::uint32_t>(std::get<std::uint64_t>(value));
}

// Unknown words have been refused.
inline void assign(ModelFamily &to, const Value &value) {
  for (const ModelFamily family :
       {ModelFamily::Llama, ModelFamily::Null, ModelFamily::Sleep, ModelFamily::Qwen2,
        ModelFamily::Qwen3, ModelFamily::TorchScript})
    if (nameOf(family) == std::get<std::string>(value))
      to = family;
}

inline void assign(bool &to, const Value &value) { to = std::get<std::string>(value) == "true"; }

inline void assign(DataType &to, const Value &value) {
  for (const DataType type : {DataType::Float32, DataType::Float64, DataType::BFloat16})
    if (nameOf(type) == std::get<std::string>(value))
      to = type;
}

template <typename T> Value valueOf(const T &member) {
  if constexpr (std::is_enum_v<T>)
    return std::string(nameOf(member));
  else if constexpr (std::is_same_v<T, bool>)
    return std::string(member ? "true" : "false");
  else if constexpr (std::is_integral_v<T>)
    return std::uint64_t{member};
  else
    return member;
}

template <typename T> void store(Field<T> &field, const Value &value, const Origin &origin) {
  assign(field.value, value);
  field.origin = origin.kind;
  field.span = origin.span;
  field.from = origin.from;
}

template <typename T> Origin originOf(const Field<T> &field) {
  return {field.origin, field.span, field.from};
}

/// `Access` takes a Job, const or not, to a Field of it.
template <auto Access> constexpr Binding bindField() {
  return {
      .store = [](Job &job, Job::NamedModel *, std::string_view, const Value &value,
                  const Origin &origin) { store(Access(job), value, origin); },
      .load = [](const Job &job, const Job::NamedModel *) { return valueOf(Access(job).value); },
      .origin = [](const Job &job, const Job::NamedModel *,
                   std::string_view) { return originOf(Access(job)); }};
}

/// A member of a model's configuration; its origin stands beside it.
template <auto Member> constexpr Binding bindModel() {
  return {.store =
              [](Job &, Job::NamedModel *model, std::string_view key, const Value &value,
                 const Origin &origin) {
                assign(model->config.*Member, value);
                model->origins[std::string(key)] = origin;
              },
          .load = [](const Job &,
                     const Job::NamedModel *model) { return valueOf(model->config.*Member); },
          .origin =
              [](const Job &, const Job::NamedModel *model, std::string_view key) {
                const auto found = model->origins.find(std::string(key));
                return found == model->origins.end() ? Origin() : found->second;
              }};
}

/// A path beside a model's configuration.
template <auto Member> constexpr Binding bindFileOfModel() {
  return {.store = [](Job &, Job::NamedModel *model, std::string_view, const Value &value,
                      const Origin &origin) { store(model->*Member, value, origin); },
          .load = [](const Job &,
                     const Job::NamedModel *model) { return valueOf((model->*Member).value); },
          .origin = [](const Job &, const Job::NamedModel *model,
                       std::string_view) { return originOf(model->*Member); }};
}

/// `Role` takes a Job to a role with ranks.
template <auto Role> constexpr Binding bindRanks() {
  return {.store =
              [](Job &job, Job::NamedModel *, std::string_view, const Value &value,
                 const Origin &origin) {
                const RankRange range = std::get<RankRange>(value);
                store(Role(job).firstRank, std::uint64_t{range.first}, origin);
                store(Role(job).ranks, std::uint64_t{range.count}, origin);
              },
          .load = [](const Job &job, const Job::NamedModel *) -> Value {
            return RankRange{Role(job).firstRank.value, Role(job).ranks.value};
          },
          .origin = [](const Job &job, const Job::NamedModel *,
                       std::string_view) { return originOf(Role(job).ranks); }};
}

/// `First` and `Second` take a Job to the members of a pair.
template <auto First, auto Second> constexpr Binding bindPair() {
  return {.store =
              [](Job &job, Job::NamedModel *, std::string_view, const Value &value,
                 const Origin &origin) {
                const auto [first, second] = std::get<NumberPair>(value);
                store(First(job), first, origin);
                store(Second(job), second, origin);
              },
          .load = [](const Job &job, const Job::NamedModel *) -> Value {
            return NumberPair{First(job).value, Second(job).value};
          },
          .origin = [](const Job &job, const Job::NamedModel *,
                       std::string_view) { return originOf(First(job)); }};
}

constexpr Binding bindEvaluationInterval() {
  return {.store =
              [](Job &job, Job::NamedModel *, std::string_view, const Value &value,
                 const Origin &origin) {
                const Quantity every = std::get<Quantity>(value);
                store(job.evaluation.every, every.count, origin);
                job.evaluation.everyInRounds = every.inOther;
              },
          .load = [](const Job &job, const Job::NamedModel *) -> Value {
            return Quantity{job.evaluation.every.value, job.evaluation.everyInRounds};
          },
          .origin = [](const Job &job, const Job::NamedModel *,
                       std::string_view) { return originOf(job.evaluation.every); }};
}

} // namespace vime
