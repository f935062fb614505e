// Opcodes and their signatures: the one table that writer, reader, printer, verifiers, executor and
// IR share.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vime::plan {

enum class Family : std::uint8_t {
  Compute = 1,
  Transfer,
  Collective,
  Move,
  Update,
  Host,
  Control,
  Rollout
};

/// Family in the high byte. Operands of each, in order, stand in the table of Opcode.cpp.
enum class Opcode : std::uint16_t {
  Forward = 0x0100,
  Loss,
  Backward,
  BackwardInput,
  BackwardWeight,
  Evaluate,         // a forward of held-out text: nothing is kept for a backward
  EvaluateLoss,     // its loss
  PolicyLoss,       // of tokens that the policy has chosen, instead of `loss`
  Infer,            // a forward of the step's samples by a model that is not trained
  LogProbabilities, // of the labels, by that model

  Send = 0x0200,
  Receive,

  Broadcast = 0x0300,
  Gather,
  AllGather,
  AllReduce,        // sums gradients over the replicas, in ascending order
  Unshard,          // a stage's weights whole, from the shares of all replicas
  ReduceScatter,    // sums gradients likewise, of which each replica gets its share
  ReduceSquares,    // adds up the squares of the replicas' shares
  BroadcastWeights, // a part of a stage's weights, from who trains it to who generates with it

  Copy = 0x0400,
  Snapshot, // a stage's weights and moments as they are now, for `checkpoint_shard`
  Reshard,  // gives the room of a stage's whole weights back

  Initialize = 0x0500, // parameters from the counter generator or a checkpoint; moments to zero
  ScaleGradients,      // by 1 / the header's denominator
  SquareNorm,          // the sum of squares of a stage, or of its share
  Clip,                // global norm, and the factor that the optimizer applies
  Optimize,            // AdamW
  AddTied,             // adds the head's gradient of a tied matrix to the embedding's
  OptimizeEarly,       // keeps weights and moments, then AdamW as if nothing had to be clipped
  Settle,              // `clip` for the step before, if it is pending: the verdict on it
  Redo,                // what was kept, and AdamW with the factor of `clip`, unless it is refused

  Decide = 0x0600,  // the coordinator writes the step header
  Load,             // the first rank of a replica reads its tokens, labels and segment offsets, and
                    // enters into the header how many tokens each microbatch has
  Report,           // the coordinator shows loss, speed and bubble
  ExportShard,      // a rank writes the tensors of its stages
  ExportCommit,     // the coordinator makes the export visible
  LoadEvaluation,   // `load` of held-out text
  ReportEvaluation, // the coordinator shows the held-out loss, and says whether the run goes on
  CheckpointShard,  // a rank writes a snapshot to the disk
  CheckpointCommit, // the coordinator makes the checkpoint visible once all shards are there

  Join = 0x0700,     // does nothing; lets an action wait for more than four others
  Measure,           // writes this rank's counters of the step
  MeasureEvaluation, // writes loss and tokens of its replica's part of an evaluation over them

  DrawPrompts = 0x0800, // the coordinator takes the round's prompts
  DrawEvaluation,       // those that are held out
  Score,           // gives the samples their rewards and advantages, and chooses those to train on
  ScoreEvaluation, // shows how many held-out prompts were answered
  Pack,            // says into how many microbatches the step's samples go
  LoadRound,       // `load` of samples of the round
  Wake,            // gives the engine its cache
  Pause,           // no token is generated from here on
  Flush,           // nothing is cached any more
  Install,         // a stage's weights are all there
  Publish,         // they have a version
  Resume,          // generation may go on
  Generate,        // a response to every sample of every prompt that is this engine's
  Advantage        // takes the KL to the reference out of rewards, and whitens what is left
};

enum class LaneKind : std::uint8_t { Compute, CopyIn, CopyOut, Io, Host, Send, Receive, Group };

/// Whether the dispatcher itself runs the actions of such lanes.
constexpr bool runsOnDispatcher(LaneKind kind) {
  return kind == LaneKind::Compute || kind == LaneKind::CopyIn || kind == LaneKind::CopyOut;
}

/// How an action uses an operand. On a collective `Root…` holds on the root only, `Others…` on all
/// others.
enum class Access : std::uint8_t { Read, Write, ReadWrite, RootReadOthersWrite, RootWrite };

struct OperandSignature {
  std::string_view name;
  Access access;
  bool optional; // may be kNoBuffer
};

struct Signature {
  Opcode opcode;
  std::string_view name; // as printed: `backward_input`
  Family family;
  LaneKind lane;
  bool perStage;      // `stage` names an entry of the stage table
  bool perMicrobatch; // `microbatch` selects ring slots
  std::span<const OperandSignature> operands;
};

/// An absent optional operand.
constexpr std::uint32_t kNoBuffer = 0xFFFFFFFFu;

/// All signatures, ascending by opcode.
std::span<const Signature> signatures();
/// Null for an opcode that this version does not know.
const Signature *findSignature(std::uint16_t opcode);
const Signature *findSignature(std::string_view name);

/// Of an evaluation, whose microbatches are counted apart from those of a step.
constexpr bool isEvaluation(Opcode opcode) {
  return opcode == Opcode::Evaluate || opcode == Opcode::EvaluateLoss ||
         opcode == Opcode::LoadEvaluation || opcode == Opcode::ReportEvaluation ||
         opcode == Opcode::MeasureEvaluation;
}

constexpr bool asksForRewards(std::uint16_t opcode) {
  return opcode == static_cast<std::uint16_t>(Opcode::Score) ||
         opcode == static_cast<std::uint16_t>(Opcode::ScoreEvaluation);
}

constexpr std::uint16_t code(Opcode opcode) { return static_cast<std::uint16_t>(opcode); }
std::string_view nameOf(Family family);
std::string_view nameOf(LaneKind kind);

} // namespace vime::plan
