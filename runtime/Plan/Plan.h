// Plan: all that a compiled job says, in memory. The contract between compiler and runtime, beside
// ModelSpec.
//
// Plain values without behaviour: the compiler fills one, `writePlan` makes bytes of it, `readPlan`
// gives it back, the verifiers judge it, a rank runs its part of it. What bytes look like is in
// compiler/docs/plan-format.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/DataType.h"
#include "runtime/ModelSpec/ModelSpec.h"
#include "runtime/Plan/Action.h"
#include "runtime/Plan/Hash.h"
#include "runtime/Plan/Opcode.h"
#include "runtime/Plan/Round.h"

namespace vime::plan {

// ---- who: the mesh ------------------------------------------------------------------------------

/// `Mirror` is no axis of the mesh: along it are two ranks of a replica, one as far from the start
/// of the pipeline as the other from its end, where two copies of the model go opposite ways.
enum class Axis : std::uint8_t { Pipeline, Data, Context, Tensor, Mirror };

/// Sizes of the axes; their product is the number of ranks that train. For now only `pipeline` and
/// `data` may exceed 1. The ranks with one coordinate along `data` are a replica; that of
/// coordinate 0 leads.
/// rank = ((data * context + c) * tensor + t) * pipeline + pp
/// Behind them are ranks that only generate, each with the whole model; with any, `data` is 2 at
/// most.
struct Mesh {
  std::uint32_t pipeline = 1;
  std::uint32_t data = 1;
  std::uint32_t context = 1;
  std::uint32_t tensor = 1;
  std::uint32_t engines = 0;
  std::uint32_t trainers() const { return pipeline * data * context * tensor; }
  std::uint32_t ranks() const { return trainers() + engines; }
  bool isEngine(std::uint32_t rank) const { return rank >= trainers() && rank < ranks(); }
  bool operator==(const Mesh &) const = default;
};

/// A peer seen from a rank: `pp + value` (modulo the axis) or the fixed coordinate `pp = value`.
/// Other coordinates equal.
struct Peer {
  bool relative = true;
  Axis axis = Axis::Pipeline;
  std::int32_t value = 0;
  bool operator==(const Peer &) const = default;
};

// ---- what travels -------------------------------------------------------------------------------

enum class Flow : std::uint8_t { Forward, Backward, Data, Weights, Metrics, Control };

/// Bytes of one message: fixed + perToken * tokens of its microbatch in the step header. Both ends
/// compute it alike.
struct Message {
  DataType type = DataType::Byte;
  std::uint32_t fixed = 0;    // bytes
  std::uint32_t perToken = 0; // bytes
  bool operator==(const Message &) const = default;
};

enum class Collective : std::uint8_t {
  Broadcast,
  Gather,
  AllGather,
  AllReduce,
  Unshard,         // an all-gather of shares of a stage's weights
  ReduceScatter,   // of the sum of all members each one's own share
  ReduceSquares,   // an all-reduce of sums of squares
  BroadcastWeights // a broadcast of a part of a stage's weights, `message.fixed` bytes at most
};

/// Whether calls take their bytes from their operands: the message states the type of the elements
/// and no bytes.
constexpr bool movesOperands(Collective operation) { return operation >= Collective::AllReduce; }
/// Whether a call adds up what members give, for which its rank has to wait.
constexpr bool addsUp(Collective operation) {
  return operation == Collective::AllReduce || operation == Collective::ReduceScatter ||
         operation == Collective::ReduceSquares;
}

/// An ordered stream of one collective over all ranks along `axes`, once for each coordinate along
/// the others. `message` is one member's contribution (of a broadcast: the whole), unless the
/// operation takes its bytes from its operands.
///
/// With `members` it is of these ranks alone, ascending, and there is one.
struct Group {
  std::string name;
  Flow flow = Flow::Control;
  Collective operation = Collective::Broadcast;
  std::uint8_t axes = 1;  // bit per Axis; members in ascending rank
  std::uint32_t root = 0; // member index
  Message message;
  std::vector<std::uint32_t> members;
  bool operator==(const Group &) const = default;
};

/// An in-order queue of a rank. `flow`, `peer`, `message` and `slots` belong to Send and Receive;
/// `group` to Group.
struct Lane {
  LaneKind kind = LaneKind::Compute;
  Flow flow = Flow::Forward;
  Peer peer;
  Message message;
  std::uint32_t slots = 0; // ring slots at the receiving end, the same at both ends
  std::uint32_t group = 0; // index into Plan::groups
  bool operator==(const Lane &) const = default;
};

// ---- what may vary ------------------------------------------------------------------------------

/// What is decided while the job runs: a field of the step header, made by the coordinator, or
/// (`Bad`, `Verdict`) of the step's scalars, computed alike by every rank. Nothing else in a
/// program may vary.
enum class Decision : std::uint8_t {
  Microbatches, // of this step
  Evaluate,     // 1: an evaluation follows this step
  Save,         // 1: a checkpoint follows this step
  Stop,         // 1: this step is the last one
  Bad,          // 1: the gradients are not finite, the step changes no parameter
  Pending,      // 1: the step before this one is still to be settled
  Settle,       // 1: this step is settled at its own end, 0: by the step behind it
  Verdict,      // on a step whose optimizer has run early: kStands, kClipped or kRefused
  Rollout       // 1: this step begins a round
};

/// Values of `Verdict`.
constexpr std::uint32_t kStands = 0, // nothing had to be clipped
    kClipped = 1,                    // the step is done again with its factor
    kRefused = 2;                    // its gradients are not finite: it is taken back

/// A decision that the plan makes, and the values that it may have, ascending.
struct DecisionRange {
  Decision decision = Decision::Microbatches;
  std::vector<std::uint32_t> values;
  bool operator==(const DecisionRange &) const = default;
};

enum class Comparison : std::uint8_t { Equal, NotEqual, Less, AtLeast };

/// An entry of the condition table, which guards and cases name.
struct Condition {
  Decision decision = Decision::Microbatches;
  Comparison comparison = Comparison::Equal;
  std::uint32_t value = 0;
  bool operator==(const Condition &) const = default;
};

// ---- programs and layouts -----------------------------------------------------------------------

/// Actions [begin, end) run `trips` times. Loops with the same id take part together on all ranks.
///
/// Loops form a tree, at most two deep: a loop over steps, and in it loops over microbatches. An
/// inner loop's range lies inside its parent's; its `start` counts from the start of its parent's
/// iteration, that of an outermost loop from the start of the program. Time of an action inside:
/// start + iteration * period + base, of nested loops the sum of both. What stands behind a loop
/// has bases that count from its start + trips * period, within the same parent.
/// `Action::microbatch` and `step` go by the iteration of the innermost loop, behind an inner loop
/// by its trips, as if one more iteration ran there; in front of the first inner one nothing
/// advances.
struct Loop {
  std::uint32_t id = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t trips = 0;
  std::int64_t start = 0;
  std::int64_t period = 0;
  /// 0: all trips run. Else the loop, over steps, ends behind an iteration in which this entry of
  /// the condition table holds (counted from 1); then all lanes are drained.
  std::uint8_t until = 0;
  /// 0: as many trips in every step. Else, of a loop over microbatches in a case: `trips` are those
  /// of a whole step (DataSettings::microbatches), and a step runs one less for each `perTrip`
  /// microbatches that it has less. At least one runs.
  std::uint32_t perTrip = 0;
  bool operator==(const Loop &) const = default;
};

/// Actions [begin, end) run only where the condition holds (an entry of the table, counted from 1;
/// 0: always). The clock goes on as if they always ran. All lanes are drained at both edges,
/// whether or not they run, so that nothing is under way there and no wait reaches across (D4); of
/// some cases only where they run (Decisions.h, drainsOnlyIfRun).
/// Holds loops whole; lies outside of loops or in a loop over steps.
struct Case {
  std::uint32_t begin = 0, end = 0;
  std::uint8_t condition = 0;
  bool operator==(const Case &) const = default;
};

/// A chunk: the stage behind `Action::stage`.
struct LocalStage {
  std::uint16_t model = 0; // index into Plan::models
  std::uint32_t stage = 0; // index into Model::stages
  bool operator==(const LocalStage &) const = default;
};

struct Program {
  std::vector<Lane> lanes; // at most Wait::kMaxLanes; lane 0 is `compute`
  std::vector<Action> actions;
  std::vector<std::uint32_t> operands; // buffer indices in the layout, or kNoBuffer
  std::vector<Loop> loops;             // ascending by begin, parents before children
  std::vector<Case> cases;             // ascending by begin, disjoint
  std::vector<LocalStage> stages;
  bool operator==(const Program &) const = default;
};

enum class Tier : std::uint8_t { Device, Host };

/// What a buffer is for; the printed name follows from it and the stage.
enum class BufferKind : std::uint8_t {
  Header,
  Segments,
  Tokens,
  Labels,
  Losses,
  Scalars,
  Squares,
  AllSquares,
  Stats,
  ReplicaStats, // of the ranks of one replica, where there are several
  AllStats,
  Weights,
  Gradients,
  Moments,
  Input,
  Output,
  OutputGradient,
  InputGradient,
  Stash,
  WeightStash,
  TiedWeights,   // the head's copy of a tied embedding that another rank has
  TiedGradients, // of the head's use of it, until they are added to the embedding's
  Workspace,
  Snapshot, // runtime/Plan/Snapshot.h
  Staging,  // what other replicas' gradients pass through while they are added up
  // Of sequences in slices: keys and values of a microbatch, for attention in its later slices, and
  // their gradients so far, for the earlier ones.
  Context,
  ContextGradients,
  Kept,        // runtime/Plan/Kept.h
  WeightShare, // what a replica keeps of a stage's weights where they are sharded
  // Of rounds (runtime/Plan/RolloutRecords.h).
  Prompts,
  Samples,    // of one engine
  AllSamples, // of all engines, one behind the other
  Round,      // those that the round trains on
  Policy,     // what the last stage needs of a microbatch's tokens
  Reference,  // their log-probabilities by the reference model
  // Of engines (runtime/ModelSpec/EngineRegions.h).
  Records,
  Cache
};

/// Buffer::stage of what belongs to no stage.
constexpr std::uint16_t kNoStage = 0xFFFF;

/// `count` slots of `bytes` each, `stride` apart, first at `offset` of its tier's arena. A
/// microbatch b uses slot b % count, of what its slices share one slot (Slices.h). Offsets and
/// strides are multiples of kBufferAlignment.
struct Buffer {
  BufferKind kind = BufferKind::Header;
  Tier tier = Tier::Device;
  std::uint16_t stage = kNoStage; // index in the program's stage table
  std::uint32_t count = 1;
  std::uint64_t bytes = 0;
  std::uint64_t stride = 0;
  std::uint64_t offset = 0;
  std::uint64_t extent() const { return count == 0 ? 0 : stride * (count - 1) + bytes; }
  bool operator==(const Buffer &) const = default;
};
constexpr std::uint64_t kBufferAlignment = 64;

struct Layout {
  std::vector<Buffer> buffers;
  std::array<std::uint64_t, 2> arena{}; // exact bytes for each Tier
  bool operator==(const Layout &) const = default;
};

// ---- the model and the settings that routines read ----------------------------------------------

struct Model {
  ModelConfig config;
  std::vector<StageRange> stages; // in order of the layers
  /// Hugging Face directory to start from, as the job states it; empty: initialise.
  std::string checkpoint;
  std::string moduleFile; // TorchScript file, as the job states it; empty for other families
  Hash128 moduleHash{};   // XXH3-128 of the file when the plan was made
  /// Each replica keeps only its share (runtime/ModelSpec/StageShare.h) of every stage's weights
  /// and moments, and of its gradients once they are reduced. Whole weights are there from
  /// `unshard` to `reshard`.
  bool sharded = false;
  bool operator==(const Model &) const = default;
};

/// What becomes of the samples at the end of an epoch that fill no step.
enum class Tail : std::uint8_t {
  Join,  // a step that begins in one epoch ends in the next
  Short, // they are a step of fewer microbatches
  Drop   // they are left out
};

/// What of a text is a sample.
enum class Split : std::uint8_t {
  Window,   // `sequence` tokens, wherever they begin
  Line,     // a line; a longer one is several samples
  Paragraph // the lines between two empty ones, likewise
};

/// The samples of a step go, in their order, each into the first microbatch that still has room for
/// it: for `samples` samples, and for `tokens` tokens. runtime/Data does it alike for everybody.
///
/// With `slices` such a microbatch is cut into so many along the sequence, each of which counts as
/// a microbatch of its own here, in programs and in step headers: with 4 slices microbatch 6 is
/// slice 2 of the second one. It has a part of every sample, `sequence / slices` tokens long.
struct DataSettings {
  std::string text; // path as the job states it
  std::uint64_t textBytes = 0;
  Hash128 textHash{};             // XXH3-128 of the whole file when the plan was made
  std::uint32_t sequence = 0;     // tokens of the longest possible sample
  std::uint32_t samples = 0;      // of a microbatch, at most
  std::uint32_t tokens = 0;       // of a microbatch, at most; room for one sample at least
  std::uint32_t microbatches = 0; // of a step in each replica, at most
  std::uint32_t slices = 1;       // of a sequence; divides `sequence` and `microbatches`
  std::uint64_t batch = 0;        // samples of a whole step, of all replicas
  Split split = Split::Window;
  Tail tail = Tail::Join;
  bool operator==(const DataSettings &) const = default;
};

/// Held-out text, judged by forward passes only.
struct EvaluationSettings {
  std::string text; // path as the job states it; empty: no evaluation
  std::uint64_t textBytes = 0;
  Hash128 textHash{};
  std::uint64_t every = 0;        // steps
  std::uint64_t batch = 0;        // samples of an evaluation: the first ones
  std::uint32_t microbatches = 0; // of an evaluation in each replica, as large as those of a step
  std::uint32_t patience = 0; // evaluations in a row without a better loss that end the run; 0: any
  double target = 0;          // a loss that ends the run; 0: none
  bool operator==(const EvaluationSettings &) const = default;
};

/// How the learning rate goes down behind the warm-up.
enum class Decay : std::uint8_t { Constant, Linear, Cosine };

struct OptimizerSettings {
  double learningRate = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0.01;
  double clip = 0;          // largest global norm; 0: no clipping
  std::uint64_t warmup = 0; // steps in which the learning rate rises
  Decay decay = Decay::Constant;
  double floor = 0; // learning rate that the decay leads to, at the end of the run
  bool operator==(const OptimizerSettings &) const = default;
};

/// Where the run saves itself, so that another one can go on from there.
struct CheckpointSettings {
  std::string directory;   // as the job states it; empty: no checkpoints
  std::uint64_t every = 0; // steps; the last step is saved too
  std::uint32_t keep = 0;  // the newest ones; 0: all
  bool operator==(const CheckpointSettings &) const = default;
};

struct RunSettings {
  std::string name;
  std::uint64_t steps = 0;
  std::uint64_t seed = 0;
  /// Hugging Face directory to write at the end, as the job states it; empty: none.
  std::string exportTo;
  bool operator==(const RunSettings &) const = default;
};

struct Limits {
  double connectSeconds = 300;   // in which all ranks must have met
  double transferSeconds = 600;  // longest wait for a peer
  std::uint64_t memoryBytes = 0; // per rank, 0: no limit stated
  bool operator==(const Limits &) const = default;
};

/// In which order the weight gradients of a stage are added up (S4).
enum class GradientOrder : std::uint8_t {
  Ascending, // by microbatch, so that the sum has the same bits under every order of tasks
  Scheduled  // as the order of tasks has it
};

// ---- the rest -----------------------------------------------------------------------------------

/// Pairs of ranks (low, high) that connect at the same time; no rank twice in a round. Or, without
/// pairs, as many turns as it takes for every two replicas to meet, rank by rank (Mesh.h).
struct ConnectRound {
  bool inEveryReplica = false; // the pairs are of the leading one and have their like in all others
  bool allReplicas = false;
  std::vector<std::array<std::uint32_t, 2>> pairs;
  bool operator==(const ConnectRound &) const = default;
};

/// What the compiler expects. Shown by tools, never read by the executor.
struct Predictions {
  double stepUnits = 0;       // makespan of a step at F=I=W=1, B=2
  double bubble = 0;          // fraction of rank time idle in that step
  std::uint32_t peakLive = 0; // most microbatches alive on a rank
  /// Where costs in seconds come from; empty: nobody knows any, and what follows is 0.
  std::string costs;
  double stepSeconds = 0;    // from one step to the next
  double expectedBubble = 0; // fraction of rank time idle in it
  bool operator==(const Predictions &) const = default;
};

/// Where an action of this opcode comes from: a key of job.yaml. Positions count from 1.
struct Origin {
  std::uint16_t opcode = 0;
  std::uint32_t line = 0, column = 0, length = 0;
  std::string key; // `pipeline.schedule`
  bool operator==(const Origin &) const = default;
};

struct Plan {
  std::string compiler; // version; not part of the plan id
  std::string job;      // the resolved job as text
  std::string schedule; // name of the order
  GradientOrder gradientOrder = GradientOrder::Ascending;
  Mesh mesh;
  std::vector<Group> groups;
  std::vector<DecisionRange> decisions; // ascending
  std::vector<Condition> conditions;    // at most 254: guards and cases count them from 1
  std::vector<Model> models;
  DataSettings data;
  EvaluationSettings evaluation;
  RoundSettings round;
  OptimizerSettings optimizer;
  CheckpointSettings checkpoint;
  RunSettings run;
  Limits limits;
  std::vector<Program> programs;
  std::vector<Layout> layouts;
  /// Program and layout of each coordinate along the pipeline axis: first of the leading replica,
  /// then, if there are several, of all others, which share them (Mesh.h); then of each engine.
  std::vector<std::uint32_t> programOf, layoutOf;
  std::vector<ConnectRound> connect;
  Predictions predictions;
  std::vector<Origin> origins; // not part of the plan id
  bool operator==(const Plan &) const = default;
};

} // namespace vime::plan
