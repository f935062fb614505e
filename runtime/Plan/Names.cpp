#include "runtime/Plan/Names.h"

namespace vime::plan {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::string_view kAxes[] = {"pp", "dp", "cp", "tp", "mirror"};
constexpr std::string_view kFlows[] = {"forward", "backward", "data",
                                       "weights", "metrics",  "control"};
constexpr std::string_view kCollectives[] = {"broadcast",      "gather",           "all_gather",
                                             "all_reduce",     "unshard",          "reduce_scatter",
                                             "reduce_squares", "broadcast_weights"};
constexpr std::string_view kLaneKinds[] = {"compute", "copy.in", "copy.out", "io",
                                           "host",    "send",    "receive",  "group"};
constexpr std::string_view kTiers[] = {"device", "host"};
constexpr std::string_view kBuffers[] = {"header",         "segments",        "tokens",
                                         "labels",         "losses",          "scalars",
                                         "squares",        "all_squares",     "stats",
                                         "replica_stats",  "all_stats",       "weights",
                                         "gradients",      "moments",         "input",
                                         "output",         "output_gradient", "input_gradient",
                                         "stash",          "weight_stash",    "tied_weights",
                                         "tied_gradients", "workspace",       "snapshot",
                                         "staging",        "context",         "context_gradients",
                                         "kept",           "weight_share",    "prompts",
                                         "samples",        "all_samples",     "round",
                                         "policy",         "reference",       "records",
                                         "cache"};
constexpr std::string_view kDataTypes[] = {"float32", "float64", "bfloat16", "int32", "byte"};
constexpr std::string_view kFamilies[] = {"llama", "null",  "sleep",
                                          "qwen2", "qwen3", "torchscript"};
constexpr std::string_view kKernelLibraries[] = {"native", "libtorch"};

constexpr std::string_view kDecisions[] = {"microbatches", "evaluate", "save",    "stop",   "bad",
                                           "pending",      "settle",   "verdict", "rollout"};
constexpr std::string_view kComparisons[] = {"equal", "not_equal", "less", "at_least"};
constexpr std::string_view kSplits[] = {"window", "line", "paragraph"};
constexpr std::string_view kTails[] = {"join", "short", "drop"};
constexpr std::string_view kGradientOrders[] = {"ascending", "scheduled"};
constexpr std::string_view kDecays[] = {"constant", "linear", "cosine"};

constexpr std::string_view kRewards[] = {"exact-answer", "numeric", "regex",
                                         "format",       "command", "http"};
constexpr std::string_view kAdvantages[] = {"grpo", "dr-grpo", "rloo", "reinforce++",
                                            "reinforce++-baseline"};
constexpr std::string_view kObjectives[] = {"ppo-clip", "gspo", "cispo", "reinforce"};
constexpr std::string_view kLossUnits[] = {"token", "sequence", "rollout", "prompt", "constant"};
constexpr std::string_view kKlEstimators[] = {"k1", "k2", "k3"};
constexpr std::string_view kCorrections[] = {"none", "tis", "icepop"};

constexpr std::string_view kFlags[] = {"signalled",     "group_begin",   "group_end",
                                       "host_blocking", "skip_if_empty", "last_use"};

static_assert(1u << (std::size(kFlags) - 1) == kLastUse);
static_assert(std::size(kAxes) == static_cast<std::size_t>(Axis::Mirror) + 1);
static_assert(std::size(kBuffers) == static_cast<std::size_t>(BufferKind::Cache) + 1);
static_assert(std::size(kCollectives) ==
              static_cast<std::size_t>(Collective::BroadcastWeights) + 1);
static_assert(std::size(kFlows) == static_cast<std::size_t>(Flow::Control) + 1);
static_assert(std::size(kLaneKinds) == static_cast<std::size_t>(LaneKind::Group) + 1);
static_assert(std::size(kDataTypes) == static_cast<std::size_t>(DataType::Byte) + 1);
static_assert(std::size(kDecisions) == static_cast<std::size_t>(Decision::Rollout) + 1);
static_assert(std::size(kComparisons) == static_cast<std::size_t>(Comparison::AtLeast) + 1);
static_assert(std::size(kSplits) == static_cast<std::size_t>(Split::Paragraph) + 1);
static_assert(std::size(kTails) == static_cast<std::size_t>(Tail::Drop) + 1);
static_assert(std::size(kGradientOrders) == static_cast<std::size_t>(GradientOrder::Scheduled) + 1);
static_assert(std::size(kDecays) == static_cast<std::size_t>(Decay::Cosine) + 1);
static_assert(std::size(kRewards) == static_cast<std::size_t>(RewardKind::Http) + 1);
static_assert(std::size(kAdvantages) ==
              static_cast<std::size_t>(AdvantageRule::ReinforcePlusPlusBaseline) + 1);
static_assert(std::size(kObjectives) == static_cast<std::size_t>(PolicyObjective::Reinforce) + 1);
static_assert(std::size(kLossUnits) == static_cast<std::size_t>(LossUnit::Constant) + 1);
static_assert(std::size(kKlEstimators) == static_cast<std::size_t>(KlEstimator::K3) + 1);
static_assert(std::size(kCorrections) == static_cast<std::size_t>(Correction::IcePop) + 1);
static_assert(std::size(kFamilies) == static_cast<std::size_t>(ModelFamily::TorchScript) + 1);
static_assert(std::size(kKernelLibraries) == static_cast<std::size_t>(KernelLibrary::LibTorch) + 1);

} // namespace

template <> Names namesOf<Axis>() { return kAxes; }
template <> Names namesOf<Flow>() { return kFlows; }
template <> Names namesOf<Collective>() { return kCollectives; }
template <> Names namesOf<LaneKind>() { return kLaneKinds; }
template <> Names namesOf<Tier>() { return kTiers; }
template <> Names namesOf<BufferKind>() { return kBuffers; }
template <> Names namesOf<DataType>() { return kDataTypes; }
template <> Names namesOf<ModelFamily>() { return kFamilies; }
template <> Names namesOf<KernelLibrary>() { return kKernelLibraries; }
template <> Names namesOf<Decision>() { return kDecisions; }
template <> Names namesOf<Comparison>() { return kComparisons; }
template <> Names namesOf<Split>() { return kSplits; }
template <> Names namesOf<Tail>() { return kTails; }
template <> Names namesOf<GradientOrder>() { return kGradientOrders; }
template <> Names namesOf<Decay>() { return kDecays; }
template <> Names namesOf<RewardKind>() { return kRewards; }
template <> Names namesOf<AdvantageRule>() { return kAdvantages; }
template <> Names namesOf<PolicyObjective>() { return kObjectives; }
template <> Names namesOf<LossUnit>() { return kLossUnits; }
template <> Names namesOf<KlEstimator>() { return kKlEstimators; }
template <> Names namesOf<Correction>() { return kCorrections; }

std::string_view flagName(std::size_t bit) { return bit < std::size(kFlags) ? kFlags[bit] : "?"; }
std::uint8_t knownFlags() { return (1u << std::size(kFlags)) - 1; }

} // namespace vime::plan
