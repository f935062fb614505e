#include "runtime/Plan/Opcode.h"

#include <array>

namespace vime::plan {
namespace {

constexpr auto R = Access::Read;
constexpr auto W = Access::Write;
constexpr auto RW = Access::ReadWrite;

// `header` is the step header (runtime/Plan/StepHeader.h); `segments` the offsets of the packed
// samples of a microbatch; `input` is the boundary activation, or the tokens on the first stage;
// `output` is absent on the last stage, whose logits lie in the stash; `output_gradient` is absent
// on the last stage, `input_gradient` on the first. `tied_weights` is what the head of a tied model
// computes with, the embedding's weights or a copy of them; `tied_gradients` is where its gradient
// adds up, apart from the embedding's. `context` and `context_gradients` are there where sequences
// are cut into slices: the first slice of a microbatch begins the one, the last slice the other,
// and reads nothing of it.
constexpr OperandSignature kForward[] = {
    {"header", R, false},    {"segments", R, false},    {"input", R, false},
    {"weights", R, false},   {"stash", W, false},       {"output", W, true},
    {"workspace", W, false}, {"tied_weights", R, true}, {"context", RW, true}};
constexpr OperandSignature kLoss[] = {{"header", R, false},
                                      {"segments", R, false},
                                      {"labels", R, false},
                                      {"stash", RW, false},
                                      {"losses", W, false}};
constexpr OperandSignature kBackward[] = {
    {"header", R, false},           {"segments", R, false},
    {"output_gradient", R, true},   {"input", R, false},
    {"weights", R, false},          {"stash", RW, false},
    {"gradients", RW, false},       {"input_gradient", W, true},
    {"workspace", W, false},        {"tied_weights", R, true},
    {"tied_gradients", RW, true},   {"context", R, true},
    {"context_gradients", RW, true}};
// The output gradient and the input must stay until the weight gradient: both are read again there.
constexpr OperandSignature kBackwardInput[] = {
    {"header", R, false},       {"segments", R, false},      {"output_gradient", R, true},
    {"input", R, false},        {"weights", R, false},       {"stash", RW, false},
    {"weight_stash", W, false}, {"input_gradient", W, true}, {"workspace", W, false},
    {"tied_weights", R, true},  {"context", R, true},        {"context_gradients", RW, true}};
constexpr OperandSignature kBackwardWeight[] = {
    {"header", R, false},        {"segments", R, false},   {"output_gradient", R, true},
    {"input", R, false},         {"weights", R, false},    {"stash", R, false},
    {"weight_stash", R, false},  {"gradients", RW, false}, {"workspace", W, false},
    {"tied_gradients", RW, true}};
constexpr OperandSignature kSend[] = {{"source", R, false}};
constexpr OperandSignature kReceive[] = {{"destination", W, false}};
constexpr OperandSignature kBroadcast[] = {{"data", Access::RootReadOthersWrite, false}};
constexpr OperandSignature kGather[] = {{"source", R, false},
                                        {"destination", Access::RootWrite, true}};
constexpr OperandSignature kAllGather[] = {{"source", R, false}, {"destination", W, false}};
constexpr OperandSignature kAllReduce[] = {{"gradients", RW, false}, {"staging", W, false}};
constexpr OperandSignature kUnshard[] = {{"weight_share", R, false}, {"weights", W, false}};
// Afterwards the buffer holds nothing but this replica's share of the sum, at its place.
constexpr OperandSignature kReduceScatter[] = {{"gradients", RW, false}, {"staging", W, false}};
constexpr OperandSignature kReduceSquares[] = {{"squares", RW, false}, {"staging", W, false}};
constexpr OperandSignature kReshard[] = {{"weights", W, false}};
constexpr OperandSignature kCopy[] = {{"source", R, false}, {"destination", W, false}};
// The copy outlives the step: the optimizer goes on while it is written.
constexpr OperandSignature kSnapshot[] = {
    {"header", R, false}, {"weights", R, false}, {"moments", R, false}, {"snapshot", W, false}};
// Models that are not trained have no moments. Where replicas share a stage, `weights` are the
// share, here and for the optimizer, and all first values lie in `gradients` for a moment.
constexpr OperandSignature kInitialize[] = {
    {"weights", W, false}, {"moments", W, true}, {"gradients", W, true}};
constexpr OperandSignature kScaleGradients[] = {{"header", R, false}, {"gradients", RW, false}};
// `squares` holds a sum (kernels/SquareSum.h) for each stage of the rank, in the order of the stage
// table.
constexpr OperandSignature kSquareNorm[] = {{"gradients", R, false}, {"squares", RW, false}};
constexpr OperandSignature kClip[] = {{"all_squares", R, false}, {"scalars", W, false}};
constexpr OperandSignature kOptimize[] = {{"header", R, false},
                                          {"scalars", R, false},
                                          {"gradients", R, false},
                                          {"weights", RW, false},
                                          {"moments", RW, false}};
// `kept` is what the stage was before, until the verdict is known.
constexpr OperandSignature kOptimizeEarly[] = {{"header", R, false},
                                               {"gradients", R, false},
                                               {"weights", RW, false},
                                               {"moments", RW, false},
                                               {"kept", W, false}};
// A refused step is no update: the header's count of them, made before that was known, goes down.
constexpr OperandSignature kSettle[] = {
    {"header", RW, false}, {"all_squares", R, false}, {"scalars", W, false}};
constexpr OperandSignature kRedo[] = {{"scalars", R, false},
                                      {"gradients", R, false},
                                      {"kept", R, false},
                                      {"weights", RW, false},
                                      {"moments", RW, false}};
constexpr OperandSignature kAddTied[] = {{"tied_gradients", R, false}, {"gradients", RW, false}};
constexpr OperandSignature kDecide[] = {{"header", W, false}};
constexpr OperandSignature kLoad[] = {
    {"header", RW, false}, {"tokens", W, false}, {"labels", W, false}, {"segments", W, false}};
// Which step it is stands in the counters: its header may be gone.
constexpr OperandSignature kReport[] = {{"scalars", R, false}, {"all_stats", R, false}};
// The header's tokens become those of the evaluation; its other fields stay those of the step.
constexpr OperandSignature kLoadEvaluation[] = {
    {"header", RW, false}, {"tokens", W, false}, {"labels", W, false}, {"segments", W, false}};
constexpr OperandSignature kReportEvaluation[] = {{"header", RW, false}, {"all_stats", R, false}};
constexpr OperandSignature kExportShard[] = {{"weights", R, false}, {"stats", RW, false}};
constexpr OperandSignature kExportCommit[] = {{"replica_stats", R, false}};
constexpr OperandSignature kCheckpointShard[] = {{"snapshot", R, false}, {"stats", RW, false}};
constexpr OperandSignature kCheckpointCommit[] = {{"replica_stats", R, false}};
// `losses` where the rank has those of its replica's microbatches. Leaves in `stats` what
// `checkpoint_shard` wrote there: the next gather carries it.
constexpr OperandSignature kMeasure[] = {
    {"header", R, false}, {"losses", R, true}, {"stats", RW, false}};
constexpr OperandSignature kMeasureEvaluation[] = {
    {"header", R, false}, {"losses", R, false}, {"stats", RW, false}};

// `policy` and `reference` are of tokens with a label; what `policy_loss` leaves in `losses` is
// PolicyNumbers.
constexpr OperandSignature kPolicyLoss[] = {
    {"header", R, false}, {"segments", R, false}, {"labels", R, false},    {"policy", R, false},
    {"stash", RW, false}, {"losses", W, false},   {"workspace", W, false}, {"reference", R, true}};
constexpr OperandSignature kLogProbabilities[] = {{"header", R, false},    {"segments", R, false},
                                                  {"labels", R, false},    {"stash", RW, false},
                                                  {"reference", W, false}, {"workspace", W, false}};
constexpr OperandSignature kBroadcastWeights[] = {{"weights", Access::RootReadOthersWrite, false}};
// The coordinator has a place among those whose samples are gathered: an empty one.
constexpr OperandSignature kDraw[] = {
    {"header", R, false}, {"prompts", W, false}, {"samples", W, false}};
constexpr OperandSignature kScore[] = {
    {"header", R, false}, {"all_samples", R, false}, {"round", W, false}};
constexpr OperandSignature kScoreEvaluation[] = {{"header", R, false}, {"all_samples", R, false}};
// The header's microbatches and denominator become those of the step.
constexpr OperandSignature kPack[] = {{"header", RW, false}, {"round", R, false}};
constexpr OperandSignature kLoadRound[] = {{"header", RW, false},  {"round", R, false},
                                           {"tokens", W, false},   {"labels", W, false},
                                           {"segments", W, false}, {"policy", W, false}};
constexpr OperandSignature kWake[] = {{"cache", W, false}, {"records", W, false}};
constexpr OperandSignature kInstall[] = {{"weights", R, false}};
constexpr OperandSignature kPublish[] = {{"header", R, false}};
constexpr OperandSignature kGenerate[] = {{"prompts", R, false},
                                          {"records", RW, false},
                                          {"cache", RW, false},
                                          {"workspace", W, false},
                                          {"samples", W, false}};

// Of all microbatches of the step at once.
constexpr OperandSignature kAdvantage[] = {{"header", R, false},    {"segments", R, false},
                                           {"labels", R, false},    {"policy", RW, false},
                                           {"reference", R, false}, {"workspace", W, false}};

using enum Family;
constexpr std::array kTable = {
    Signature{Opcode::Forward, "forward", Compute, LaneKind::Compute, true, true, kForward},
    Signature{Opcode::Loss, "loss", Compute, LaneKind::Compute, true, true, kLoss},
    Signature{Opcode::Backward, "backward", Compute, LaneKind::Compute, true, true, kBackward},
    Signature{Opcode::BackwardInput, "backward_input", Compute, LaneKind::Compute, true, true,
              kBackwardInput},
    Signature{Opcode::BackwardWeight, "backward_weight", Compute, LaneKind::Compute, true, true,
              kBackwardWeight},
    Signature{Opcode::Evaluate, "evaluate", Compute, LaneKind::Compute, true, true, kForward},
    Signature{Opcode::EvaluateLoss, "evaluate_loss", Compute, LaneKind::Compute, true, true, kLoss},
    Signature{Opcode::PolicyLoss, "policy_loss", Compute, LaneKind::Compute, true, true,
              kPolicyLoss},
    Signature{Opcode::Infer, "infer", Compute, LaneKind::Compute, true, true, kForward},
    Signature{Opcode::LogProbabilities, "log_probabilities", Compute, LaneKind::Compute, true, true,
              kLogProbabilities},
    Signature{Opcode::Send, "send", Transfer, LaneKind::Send, false, true, kSend},
    Signature{Opcode::Receive, "receive", Transfer, LaneKind::Receive, false, true, kReceive},
    Signature{Opcode::Broadcast, "broadcast", Collective, LaneKind::Group, false, false,
              kBroadcast},
    Signature{Opcode::Gather, "gather", Collective, LaneKind::Group, false, false, kGather},
    Signature{Opcode::AllGather, "all_gather", Collective, LaneKind::Group, false, false,
              kAllGather},
    Signature{Opcode::AllReduce, "all_reduce", Collective, LaneKind::Group, true, false,
              kAllReduce},
    Signature{Opcode::Unshard, "unshard", Collective, LaneKind::Group, true, false, kUnshard},
    Signature{Opcode::ReduceScatter, "reduce_scatter", Collective, LaneKind::Group, true, false,
              kReduceScatter},
    Signature{Opcode::ReduceSquares, "reduce_squares", Collective, LaneKind::Group, false, false,
              kReduceSquares},
    Signature{Opcode::BroadcastWeights, "broadcast_weights", Collective, LaneKind::Group, true,
              false, kBroadcastWeights},
    Signature{Opcode::Copy, "copy", Move, LaneKind::Compute, false, true, kCopy},
    Signature{Opcode::Snapshot, "snapshot", Move, LaneKind::Compute, true, false, kSnapshot},
    Signature{Opcode::Reshard, "reshard", Move, LaneKind::Compute, true, false, kReshard},
    Signature{Opcode::Initialize, "initialize", Update, LaneKind::Compute, true, false,
              kInitialize},
    Signature{Opcode::ScaleGradients, "scale_gradients", Update, LaneKind::Compute, true, false,
              kScaleGradients},
    Signature{Opcode::SquareNorm, "square_norm", Update, LaneKind::Compute, true, false,
              kSquareNorm},
    Signature{Opcode::Clip, "clip", Update, LaneKind::Compute, false, false, kClip},
    Signature{Opcode::Optimize, "optimize", Update, LaneKind::Compute, true, false, kOptimize},
    Signature{Opcode::AddTied, "add_tied", Update, LaneKind::Compute, true, false, kAddTied},
    Signature{Opcode::OptimizeEarly, "optimize_early", Update, LaneKind::Compute, true, false,
              kOptimizeEarly},
    Signature{Opcode::Settle, "settle", Update, LaneKind::Compute, false, false, kSettle},
    Signature{Opcode::Redo, "redo", Update, LaneKind::Compute, true, false, kRedo},
    Signature{Opcode::Decide, "decide", Host, LaneKind::Host, false, false, kDecide},
    Signature{Opcode::Load, "load", Host, LaneKind::Host, false, false, kLoad},
    Signature{Opcode::Report, "report", Host, LaneKind::Host, false, false, kReport},
    Signature{Opcode::ExportShard, "export_shard", Host, LaneKind::Io, true, false, kExportShard},
    Signature{Opcode::ExportCommit, "export_commit", Host, LaneKind::Host, false, false,
              kExportCommit},
    Signature{Opcode::LoadEvaluation, "load_evaluation", Host, LaneKind::Host, false, false,
              kLoadEvaluation},
    Signature{Opcode::ReportEvaluation, "report_evaluation", Host, LaneKind::Host, false, false,
              kReportEvaluation},
    Signature{Opcode::CheckpointShard, "checkpoint_shard", Host, LaneKind::Io, true, false,
              kCheckpointShard},
    Signature{Opcode::CheckpointCommit, "checkpoint_commit", Host, LaneKind::Io, false, false,
              kCheckpointCommit},
    Signature{Opcode::Join, "join", Control, LaneKind::Compute, false, false, {}},
    Signature{Opcode::Measure, "measure", Control, LaneKind::Compute, false, false, kMeasure},
    Signature{Opcode::MeasureEvaluation, "measure_evaluation", Control, LaneKind::Compute, false,
              false, kMeasureEvaluation},
    Signature{Opcode::DrawPrompts, "draw_prompts", Rollout, LaneKind::Host, false, false, kDraw},
    Signature{Opcode::DrawEvaluation, "draw_evaluation", Rollout, LaneKind::Host, false, false,
              kDraw},
    Signature{Opcode::Score, "score", Rollout, LaneKind::Host, false, false, kScore},
    Signature{Opcode::ScoreEvaluation, "score_evaluation", Rollout, LaneKind::Host, false, false,
              kScoreEvaluation},
    Signature{Opcode::Pack, "pack", Rollout, LaneKind::Host, false, false, kPack},
    Signature{Opcode::LoadRound, "load_round", Rollout, LaneKind::Host, false, false, kLoadRound},
    Signature{Opcode::Wake, "wake", Rollout, LaneKind::Compute, false, false, kWake},
    Signature{Opcode::Pause, "pause", Rollout, LaneKind::Compute, false, false, {}},
    Signature{Opcode::Flush, "flush", Rollout, LaneKind::Compute, false, false, {}},
    Signature{Opcode::Install, "install", Rollout, LaneKind::Compute, true, false, kInstall},
    Signature{Opcode::Publish, "publish", Rollout, LaneKind::Compute, false, false, kPublish},
    Signature{Opcode::Resume, "resume", Rollout, LaneKind::Compute, false, false, {}},
    Signature{Opcode::Generate, "generate", Rollout, LaneKind::Compute, false, false, kGenerate},
    Signature{Opcode::Advantage, "advantage", Rollout, LaneKind::Compute, false, false, kAdvantage},
};

} // namespace

std::span<const Signature> signatures() { return kTable; }

const Signature *findSignature(std::uint16_t opcode) {
  for (const Signature &signature : kTable)
    if (code(signature.opcode) == opcode)
      return &signature;
  return nullptr;
}

const Signature *findSignature(std::string_view name) {
  for (const Signature &signature : kTable)
    if (signature.name == name)
      return &signature;
  return nullptr;
}

std::string_view nameOf(Family family) {
  constexpr std::string_view kNames[] = {"",       "compute", "transfer", "collective", "move",
                                         "update", "host",    "control",  "rollout"};
  return kNames[static_cast<std::size_t>(family)];
}

std::string_view nameOf(LaneKind kind) {
  constexpr std::string_view kNames[] = {"compute", "copy.in", "copy.out", "io",
                                         "host",    "send",    "receive",  "group"};
  return kNames[static_cast<std::size_t>(kind)];
}

} // namespace vime::plan
