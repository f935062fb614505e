// Names: the word for each enumerator of a plan, as tools print it and messages use it, and back.
//
//   nameOf(BufferKind::OutputGradient)   // "output_gradient"
//   enumeratorOf<Flow>("backward")       // Flow::Backward
//
// One table per type (Names.cpp); a value that is no enumerator has no name, which is how the
// reader finds it.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "runtime/Plan/Plan.h"

namespace vime::plan {

/// All names of the type, in the order of its enumerators, which count from 0.
template <typename Enum> std::span<const std::string_view> namesOf();

template <> std::span<const std::string_view> namesOf<Axis>();       // pp dp cp tp mirror
template <> std::span<const std::string_view> namesOf<Flow>();       // forward backward data …
template <> std::span<const std::string_view> namesOf<Collective>(); // broadcast gather all_gather
template <> std::span<const std::string_view> namesOf<LaneKind>();   // compute copy.in …
template <> std::span<const std::string_view> namesOf<Tier>();       // device host
template <> std::span<const std::string_view> namesOf<BufferKind>(); // header segments …
template <> std::span<const std::string_view> namesOf<DataType>();   // float32 …
template <> std::span<const std::string_view> namesOf<ModelFamily>();
template <> std::span<const std::string_view> namesOf<KernelLibrary>();   // native libtorch
template <> std::span<const std::string_view> namesOf<Decision>();        // microbatches evaluate …
template <> std::span<const std::string_view> namesOf<Comparison>();      // equal not_equal …
template <> std::span<const std::string_view> namesOf<Split>();           // window line paragraph
template <> std::span<const std::string_view> namesOf<Tail>();            // join short drop
template <> std::span<const std::string_view> namesOf<Decay>();           // constant linear cosine
template <> std::span<const std::string_view> namesOf<GradientOrder>();   // ascending scheduled
template <> std::span<const std::string_view> namesOf<RewardKind>();      // exact-answer numeric …
template <> std::span<const std::string_view> namesOf<AdvantageRule>();   // grpo dr-grpo …
template <> std::span<const std::string_view> namesOf<PolicyObjective>(); // ppo-clip gspo …
template <> std::span<const std::string_view> namesOf<LossUnit>();        // token sequence …
template <> std::span<const std::string_view> namesOf<KlEstimator>();     // k1 k2 k3
template <> std::span<const std::string_view> namesOf<Correction>();      // none tis icepop

template <typename Enum> bool isEnumerator(Enum value) {
  return static_cast<std::size_t>(value) < namesOf<Enum>().size();
}

/// `?` for what is no enumerator.
template <typename Enum> std::string_view wordOf(Enum value) {
  return isEnumerator(value) ? namesOf<Enum>()[static_cast<std::size_t>(value)] : "?";
}

template <typename Enum> std::optional<Enum> enumeratorOf(std::string_view name) {
  const auto names = namesOf<Enum>();
  for (std::size_t index = 0; index < names.size(); ++index)
    if (names[index] == name)
      return static_cast<Enum>(index);
  return std::nullopt;
}

inline std::string_view nameOf(Axis axis) { return wordOf(axis); }
inline std::string_view nameOf(Flow flow) { return wordOf(flow); }
inline std::string_view nameOf(Collective operation) { return wordOf(operation); }
inline std::string_view nameOf(Tier tier) { return wordOf(tier); }
inline std::string_view nameOf(BufferKind kind) { return wordOf(kind); }

/// Of a bit of Action::flags: `signalled` …; `?` for one without meaning.
std::string_view flagName(std::size_t bit);
/// The bits that have one.
std::uint8_t knownFlags();

} // namespace vime::plan
