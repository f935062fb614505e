// The table of S2: for each operand that is read, which output of which action it must hold.
#include <algorithm>
#include <cassert>

#include "compiler/Verify/S2Values.h"

namespace vime::verify {
namespace {

using namespace plan;

struct Row {
  std::string_view reader, operand;
  std::array<std::string_view, 8> writers; // `opcode.operand`
  OfStage stage = OfStage::Any;
  OfMicrobatch microbatch = OfMicrobatch::Any;
  OfStep step = OfStep::This;
  std::string_view edge = {};                  // `first` or `last`: on that stage
  std::array<std::string_view, 8> onEdge = {}; // these instead
};

using enum OfStage;
constexpr auto SameMicrobatch = OfMicrobatch::Same;
constexpr auto NoMicrobatch = OfMicrobatch::Any;
constexpr auto EachSlot = OfMicrobatch::Slot;
constexpr auto This = OfStep::This;
constexpr auto Weights = OfStep::Weights;
constexpr auto AnyStep = OfStep::Any;
constexpr auto Latest = OfStep::Latest;
constexpr auto Sum = OfStep::Sum;
constexpr auto Settled = OfStep::Settled;

using Writers = std::array<std::string_view, 8>;
constexpr Writers kHeader{"load.header", "load_round.header", "settle.header"},
    kSegments{"load.segments", "load_round.segments"}, kTokens{"load.tokens", "load_round.tokens"},
    kLabels{"load.labels", "load_round.labels"}, kOutput{"forward.output"};
constexpr Writers kLossStash{"loss.stash", "policy_loss.stash"};
constexpr Writers kPolicy{"load_round.policy", "advantage.policy"};
// Of engines and coordinator, before a step's samples are loaded.
constexpr Writers kDecided{"decide.header", "load_round.header"};
constexpr Writers kPrompts{"draw_prompts.prompts", "draw_evaluation.prompts"};
constexpr Writers kHeldOut{"load_evaluation.header"};
constexpr Writers kWeights{"initialize.weights", "optimize.weights", "optimize_early.weights",
                           "redo.weights"};
constexpr Writers kMoments{"initialize.moments", "optimize.moments", "optimize_early.moments",
                           "redo.moments"};
// What an evaluation or a checkpoint behind the step takes.
constexpr Writers kNewWeights{"optimize.weights", "redo.weights"},
    kNewMoments{"optimize.moments", "redo.moments"};
constexpr Writers kScalars{"clip.scalars", "settle.scalars"};
constexpr Writers kGradient{"backward.input_gradient", "backward_input.input_gradient"};
constexpr Writers kSummands{"backward.gradients", "backward_weight.gradients"};
// Whether replicas and copies are there to be added up, and that they are, S4 judges.
constexpr Writers kReduced{"backward.gradients", "backward_weight.gradients", "add_tied.gradients",
                           "all_reduce.gradients", "reduce_scatter.gradients"};
constexpr Writers kSum{"backward.gradients", "backward_weight.gradients",
                       "scale_gradients.gradients"};
constexpr Writers kReady{"backward.gradients", "backward_weight.gradients", "add_tied.gradients",
                         "all_reduce.gradients"};
constexpr Writers kTied{"backward.tied_gradients", "backward_weight.tied_gradients"};
constexpr Writers kContextGradients{"backward.context_gradients",
                                    "backward_input.context_gradients"};
constexpr Writers kScaled{"scale_gradients.gradients"}, kForwardStash{"forward.stash"};
constexpr Writers kStats{
    "measure.stats",    "measure_evaluation.stats", "export_shard.stats",     "gather.destination",
    "generate.samples", "draw_prompts.samples",     "draw_evaluation.samples"},
    kAllStats{"gather.destination"};

constexpr Row kRows[] = {
    {"forward", "header", kHeader},
    {"forward", "segments", kSegments},
    {"forward", "input", kOutput, Before, SameMicrobatch, This, "first", kTokens},
    {"forward", "weights", kWeights, Same, NoMicrobatch, Weights},
    {"forward", "tied_weights", kWeights, First, NoMicrobatch, Weights},
    {"forward", "context", {"forward.context"}, Same, OfMicrobatch::Before},

    {"loss", "header", kHeader},
    {"loss", "segments", kSegments},
    {"loss", "labels", kLabels},
    {"loss", "stash", kForwardStash, Same, SameMicrobatch},

    {"backward", "header", kHeader},
    {"backward", "segments", kSegments},
    {"backward", "output_gradient", kGradient, Behind, SameMicrobatch},
    {"backward", "input", kOutput, Before, SameMicrobatch, This, "first", kTokens},
    {"backward", "weights", kWeights, Same, NoMicrobatch, Weights},
    {"backward", "stash", kForwardStash, Same, SameMicrobatch, This, "last", kLossStash},
    {"backward", "gradients", kSum, Same, NoMicrobatch, Sum},
    {"backward", "tied_weights", kWeights, First, NoMicrobatch, Weights},
    {"backward", "tied_gradients", kTied, Same, NoMicrobatch, Sum},
    {"backward", "context", {"forward.context"}, Same, OfMicrobatch::EndSlice},
    {"backward", "context_gradients", kContextGradients, Same, OfMicrobatch::Behind},

    {"backward_input", "header", kHeader},
    {"backward_input", "segments", kSegments},
    {"backward_input", "output_gradient", kGradient, Behind, SameMicrobatch},
    {"backward_input", "input", kOutput, Before, SameMicrobatch, This, "first", kTokens},
    {"backward_input", "weights", kWeights, Same, NoMicrobatch, Weights},
    {"backward_input", "stash", kForwardStash, Same, SameMicrobatch, This, "last", kLossStash},
    {"backward_input", "tied_weights", kWeights, First, NoMicrobatch, Weights},
    {"backward_input", "context", {"forward.context"}, Same, OfMicrobatch::EndSlice},
    {"backward_input", "context_gradients", kContextGradients, Same, OfMicrobatch::Behind},

    {"backward_weight", "header", kHeader},
    {"backward_weight", "segments", kSegments},
    {"backward_weight", "output_gradient", kGradient, Behind, SameMicrobatch},
    {"backward_weight", "input", kOutput, Before, SameMicrobatch, This, "first", kTokens},
    {"backward_weight", "weights", kWeights, Same, NoMicrobatch, Weights},
    {"backward_weight", "stash", {"backward_input.stash"}, Same, SameMicrobatch},
    {"backward_weight", "weight_stash", {"backward_input.weight_stash"}, Same, SameMicrobatch},
    {"backward_weight", "gradients", kSum, Same, NoMicrobatch, Sum},
    {"backward_weight", "tied_gradients", kTied, Same, NoMicrobatch, Sum},

    {"scale_gradients", "header", kHeader},
    {"add_tied", "tied_gradients", kTied, Last},
    {"add_tied", "gradients", kSummands, Same},
    {"all_reduce", "gradients", kReady, Same}, // S4 tells when they are added
    {"reduce_scatter", "gradients", kReady, Same},
    {"unshard", "weight_share", kWeights, Same, NoMicrobatch, AnyStep}, // who reads them tells
    {"reduce_squares", "squares", {"square_norm.squares"}},
    {"scale_gradients", "gradients", kReduced, Same},
    {"square_norm", "gradients", kScaled, Same},
    {"all_gather", "source", {"square_norm.squares", "reduce_squares.squares"}},
    {"clip", "all_squares", {"all_gather.destination"}},
    {"optimize", "header", kHeader},
    {"optimize", "scalars", {"clip.scalars"}},
    {"optimize", "gradients", kScaled, Same},
    {"optimize", "weights", kWeights, Same, NoMicrobatch, AnyStep},
    {"optimize", "moments", kMoments, Same, NoMicrobatch, AnyStep},

    {"optimize_early", "header", kHeader},
    {"optimize_early", "gradients", kScaled, Same},
    {"optimize_early", "weights", kWeights, Same, NoMicrobatch, AnyStep},
    {"optimize_early", "moments", kMoments, Same, NoMicrobatch, AnyStep},
    {"settle", "header", {"load.header"}},
    {"settle", "all_squares", {"all_gather.destination"}, Any, NoMicrobatch, Settled},
    {"redo", "scalars", kScalars},
    {"redo", "gradients", kScaled, Same, NoMicrobatch, Settled},
    {"redo", "kept", {"optimize_early.kept"}, Same, NoMicrobatch, Settled},

    {"load", "header", {"decide.header"}},
    {"measure", "header", kHeader, Any, NoMicrobatch, Latest},
    {"measure", "losses", {"loss.losses", "policy_loss.losses"}, Any, EachSlot, Latest},
    {"report", "scalars", kScalars},
    {"report", "all_stats", kAllStats, Any, NoMicrobatch, Settled},
    {"gather", "source", kStats},
    {"export_shard", "weights", kWeights, Same, NoMicrobatch, AnyStep},
    {"export_commit", "replica_stats", kAllStats},

    {"evaluate", "header", kHeldOut},
    {"evaluate", "segments", {"load_evaluation.segments"}},
    {"evaluate",
     "input",
     {"evaluate.output"},
     Before,
     SameMicrobatch,
     This,
     "first",
     {"load_evaluation.tokens"}},
    {"evaluate", "weights", kNewWeights, Same},
    {"evaluate", "tied_weights", kNewWeights, First},
    {"evaluate", "context", {"evaluate.context"}, Same, OfMicrobatch::Before},
    {"evaluate_loss", "header", kHeldOut},
    {"evaluate_loss", "segments", {"load_evaluation.segments"}},
    {"evaluate_loss", "labels", {"load_evaluation.labels"}},
    {"evaluate_loss", "stash", {"evaluate.stash"}, Same, SameMicrobatch},
    {"load_evaluation", "header", kHeader},
    {"report_evaluation", "header", kHeldOut},
    {"measure_evaluation", "header", kHeldOut},
    {"measure_evaluation", "losses", {"evaluate_loss.losses"}, Any, EachSlot},
    {"report_evaluation", "all_stats", kAllStats},

    {"snapshot",
     "header",
     {"load.header", "load_round.header", "report_evaluation.header", "settle.header"}},
    {"policy_loss", "header", kHeader},
    {"policy_loss", "segments", kSegments},
    {"policy_loss", "labels", kLabels},
    {"policy_loss", "policy", kPolicy},
    {"advantage", "header", kHeader},
    {"advantage", "segments", kSegments},
    {"advantage", "labels", kLabels},
    {"advantage", "policy", {"load_round.policy"}},
    {"advantage", "reference", {"log_probabilities.reference"}, Any, EachSlot},
    {"policy_loss", "stash", kForwardStash, Same, SameMicrobatch},
    {"policy_loss", "reference", {"log_probabilities.reference"}, Any, SameMicrobatch},
    {"infer", "header", kHeader},
    {"infer", "segments", kSegments},
    {"infer", "input", {"infer.output"}, Before, SameMicrobatch, This, "first", kTokens},
    {"infer", "weights", {"initialize.weights"}, Same, NoMicrobatch, AnyStep},
    {"infer", "tied_weights", {"initialize.weights"}, First, NoMicrobatch, AnyStep},
    {"log_probabilities", "header", kHeader},
    {"log_probabilities", "segments", kSegments},
    {"log_probabilities", "labels", kLabels},
    {"log_probabilities", "stash", {"infer.stash"}, Same, SameMicrobatch},

    {"draw_prompts", "header", kDecided, Any, NoMicrobatch, Latest},
    {"draw_evaluation", "header", kDecided, Any, NoMicrobatch, Latest},
    {"score", "header", {"decide.header"}},
    {"score_evaluation", "header", kDecided, Any, NoMicrobatch, Latest},
    {"score", "all_samples", kAllStats},
    {"score_evaluation", "all_samples", kAllStats, Any, NoMicrobatch, Latest},
    {"pack", "header", {"decide.header"}},
    {"pack", "round", {"score.round"}, Any, NoMicrobatch, AnyStep},
    {"load_round", "header", {"pack.header"}},
    {"load_round", "round", {"score.round"}, Any, NoMicrobatch, AnyStep},
    {"generate", "prompts", kPrompts, Any, NoMicrobatch, Latest},
    {"generate", "records", {"wake.records", "generate.records"}, Any, NoMicrobatch, AnyStep},
    {"generate", "cache", {"wake.cache", "generate.cache"}, Any, NoMicrobatch, AnyStep},
    {"publish", "header", kDecided, Any, NoMicrobatch, Latest},
    {"broadcast_weights", "weights", kWeights, Same, NoMicrobatch, Weights},
    {"install", "weights", kWeights, Same, NoMicrobatch, Weights},

    {"snapshot", "weights", kNewWeights, Same},
    {"snapshot", "moments", kNewMoments, Same},
    {"checkpoint_shard", "snapshot", {"snapshot.snapshot"}, Same},
    {"checkpoint_commit", "replica_stats", kAllStats, Any, NoMicrobatch, Settled},
};

/// The number of `opcode.operand`.
Product product(std::string_view text) {
  const std::size_t dot = text.find('.');
  const Signature *signature = findSignature(text.substr(0, dot));
  assert(signature);
  std::uint8_t operand = 0;
  while (signature->operands[operand].name != text.substr(dot + 1))
    ++operand;
  return productOf(opcodeIndex(signature->opcode), operand);
}

Need::Products products(const std::array<std::string_view, 8> &writers) {
  Need::Products numbers = Need::kNone;
  for (std::size_t index = 0; index < writers.size(); ++index)
    if (!writers[index].empty())
      numbers[index] = product(writers[index]);
  return numbers;
}

Need needOf(const Row &row) {
  Need need{.products = products(row.writers),
            .stage = row.stage,
            .microbatch = row.microbatch,
            .step = row.step};
  need.onFirst = row.edge == "first" ? products(row.onEdge) : need.products;
  need.onLast = row.edge == "last" ? products(row.onEdge) : need.products;
  return need;
}

void set(NeedTable &table, Product read, const Need &need) {
  const auto known = std::find(table.needs.begin(), table.needs.end(), need);
  table.of[opcodeOf(read)][operandOf(read)] =
      static_cast<std::uint8_t>(known - table.needs.begin());
  if (known == table.needs.end())
    table.needs.push_back(need);
}

NeedTable build() {
  NeedTable table;
  for (auto &operands : table.of)
    operands.fill(NeedTable::kFree);
  for (const Row &row : kRows)
    set(table, product(std::string(row.reader) + "." + std::string(row.operand)), needOf(row));
  // Of all stages; that each lies where it belongs, `install` tells.
  set(table, productOf(opcodeIndex(Opcode::Generate), kEngineWeights),
      needOf({"generate", "", kWeights, Any, NoMicrobatch, Weights}));
  return table;
}

} // namespace

const NeedTable &needTable() {
  static const NeedTable kTable = build();
  return kTable;
}

std::string nameOf(Product product) {
  const Signature &signature = *signatureTable()[opcodeOf(product)];
  return std::string(signature.operands[operandOf(product)].name) + " of " +
         std::string(signature.name);
}

} // namespace vime::verify
