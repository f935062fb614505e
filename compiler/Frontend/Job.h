// Job: what the user declared, complete: every value given, defaulted or derived, each with its
// origin.
//
// Filled by `readJob` (ReadJob.h) from the field table (FieldTable.h); read by the phases of the
// compiler. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Frontend/Value.h"
#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

enum class OriginKind : std::uint8_t { Given, Default, Derived };

/// Where a value comes from; see Field.
struct Origin {
  OriginKind kind = OriginKind::Default;
  SourceSpan span;
  std::string from;
  bool operator==(const Origin &) const = default;
};

/// A value and where it comes from. `span` is the value in job.yaml when given, else the key or
/// section it follows from.
template <typename T> struct Field {
  T value{};
  OriginKind origin = OriginKind::Default;
  SourceSpan span;
  std::string from; // of derived values: `model, ranks`
};

struct Job {
  std::string file; // as the user named it, for messages
  Field<std::string> name;

  struct {
    Field<std::uint32_t> ranks;
    Field<std::string> device;   // `cpu`
    Field<std::string> kernels;  // `native`, `libtorch`
    Field<std::string> machine;  // a profile or a file; empty: none
    Field<std::uint64_t> memory; // bytes per rank; 0: not stated
  } cluster;

  struct NamedModel {
    std::string name;
    SourceSpan span;
    ModelConfig config;
    std::map<std::string, Origin> origins; // of the values in `config`, by key: `layers`
    Field<std::string> checkpoint;         // Hugging Face directory, as stated
    Field<std::string> module;             // TorchScript file, as stated
  };
  std::vector<NamedModel> models;

  struct {
    Field<std::string> model; // name of the actor's model
    Field<std::uint32_t> firstRank, ranks;
    Field<std::uint32_t> pipeline; // parallel.pp
    Field<std::uint32_t> data;     // parallel.dp: replicas
    Field<bool> shard;             // parallel.shard: they share weights, gradients and moments
  } actor;

  /// The engines, one a rank, behind the actor's ranks.
  struct {
    Field<std::string> model; // the actor's; empty: nothing is generated, there are no rounds
    Field<std::uint32_t> firstRank, ranks;
    Field<std::string> engine; // `native`
  } rolloutRole;

  /// The model that the policy stays near; it stands on the actor's ranks, stage for stage.
  struct {
    Field<std::string> model; // of the actor's sizes; empty: none
    Field<std::string> like;  // `actor`
    Field<bool> frozen;       // true
  } reference;

  struct {
    Field<std::string> schedule; // name of an order, or path of a table (schedules/OrderTable.h)
    Field<std::string> scheduleHash;            // of the table's bytes; empty: no table
    Field<std::uint32_t> chunks, microbatches;  // microbatches of a step in each replica, at most
    Field<std::uint32_t> group, memory, slices; // see ScheduleShape; 0: left to the order
    Field<bool> overlap;                        // forwards and backwards as overlapped pairs
    Field<std::vector<std::uint64_t>> costs;    // F, I, W and maybe of a transfer; empty: all alike
    Field<std::string> mergeBackwards;          // `auto`, `all`, `none`: schedules/MergeBackwards.h
    Field<Quantity> microbatch;                 // samples, or tokens: then samples are packed
    Field<std::vector<std::uint64_t>> layout;   // layers of each stage; empty: as even as possible
    Field<std::vector<std::uint64_t>> placement; // rank of each stage; empty: as the order has it
    Field<std::uint64_t> memoryLimit;            // bytes per rank that a plan may use; 0: no limit
    /// schedules/ReceiveSlots.h: of all ranks or of each; empty: not chosen yet, the usual ones.
    Field<std::vector<std::uint64_t>> receiveSlots;
  } pipeline;

  struct {
    Field<std::uint64_t> global;                    // samples of a step, of all replicas
    Field<std::uint32_t> prompts, samplesPerPrompt; // of a round
  } batch;

  struct {
    Field<std::string> text;
    Field<std::uint32_t> sequence;  // tokens
    Field<std::string> split;       // `window`, `line`, `paragraph`
    Field<std::string> tail;        // `join`, `short`, `drop`
    Field<std::string> prompts;     // instead of a text, where there are rounds
    Field<std::uint32_t> maxPrompt; // tokens
  } data;

  struct {
    Field<std::string> mode;                // `sync`
    Field<std::uint32_t> maxNew;            // tokens of a response
    Field<double> temperature, topP;        // 0: the likeliest token; 1: all tokens
    Field<std::uint32_t> topK;              // 0: all tokens
    Field<std::vector<std::uint64_t>> stop; // tokens that end a response
    Field<std::uint32_t> slots;             // sequences of an engine at a time
    Field<std::uint32_t> stepTokens;        // of all of them that an engine's step takes
    Field<double> overSample;               // prompts drawn for each that is trained on
    Field<std::string> filter;              // `none`, `equal-rewards`
    Field<std::string> dump;                // folder; empty: none
  } rollout;

  /// One of `rule`, `command` and `url` is not empty.
  struct {
    Field<std::string> rule;    // `exact-answer`, `numeric`, `regex`, `format`
    Field<std::string> pattern; // of `regex` and `format`
    Field<std::string> command, url;
    Field<double> timeoutSeconds;
    Field<std::uint32_t> retries, workers, minWorkers;
  } reward;

  struct {
    Field<std::string> advantage, loss, unit; // words of runtime/Plan/Names.h
    Field<double> clipLow, clipHigh;
    Field<double> dualClip; // 0: none
    Field<double> klCoefficient;
    Field<std::string> klPlace; // `loss`, `reward`
    Field<std::string> klEstimator;
    Field<double> entropy;
    Field<std::string> correction;
    Field<double> correctionLow, correctionHigh;
  } algorithm;

  struct {
    Field<std::string> transport; // `broadcast`
    Field<std::uint64_t> bucket;  // bytes of a message, at most
  } weightSync;

  /// Of packed samples: how many microbatches the steps of the run need, in the replica that has
  /// most; each number that occurs, ascending. Found by `readJob`, in no text of a job.
  std::vector<std::uint32_t> packedSteps;

  struct {
    Field<std::string> kind; // `adamw`
    Field<double> learningRate, beta1, beta2, epsilon, weightDecay;
    Field<std::string> commit;   // `barrier`, `post_validated`
    Field<double> clip;          // largest global norm of the gradients; 0: they are not clipped
    Field<std::uint64_t> warmup; // steps
    Field<std::string> decay;    // `constant`, `linear`, `cosine`
    Field<double> floor;
  } optimizer;

  struct {
    Field<std::string> text;         // empty: no evaluation by a text
    Field<std::string> prompts;      // empty: no evaluation by generation
    Field<std::uint64_t> every;      // steps; of prompts: rounds
    bool everyInRounds = false;      // as it is stated
    Field<std::uint64_t> samples;    // 0: follow from the microbatches; of each prompt
    Field<std::uint32_t> count;      // of prompts: the first ones
    Field<double> temperature, topP; // see rollout
    Field<std::uint32_t> topK;
    Field<std::uint32_t> microbatches, patience; // 0: follow from the samples; without end
    Field<double> target;                        // 0: none
  } evaluation;

  struct {
    Field<std::string> recompute;   // `none` or `layer`
    Field<std::uint32_t> unsharded; // stages of a rank that are whole at a time; 0: not stated
    Field<std::string> unshardRule; // `fewest` or `torch-compatible`
  } memory;

  struct {
    Field<std::string> directory; // empty: no checkpoints
    Field<std::uint64_t> every;   // steps
    Field<std::uint32_t> keep;    // the newest ones; 0: all
  } checkpoint;

  struct {
    Field<std::uint64_t> steps, seed;
    Field<std::uint64_t> rounds; // 0: none, steps take their samples from a text
    Field<std::string> exportTo; // empty: no export
  } run;

  struct {
    Field<double> connectSeconds, transferSeconds;
  } limits;

  const NamedModel *model(const std::string &name) const {
    for (const NamedModel &candidate : models)
      if (candidate.name == name)
        return &candidate;
    return nullptr;
  }
};

/// Whether the job generates what it trains on.
inline bool hasRounds(const Job &job) { return !job.rolloutRole.model.value.empty(); }
inline bool hasReference(const Job &job) { return !job.reference.model.value.empty(); }

/// Optimizer steps that take the samples of one round.
inline std::uint64_t stepsOfRound(const Job &job) {
  return std::uint64_t{job.batch.prompts.value} * job.batch.samplesPerPrompt.value /
         (job.batch.global.value == 0 ? 1 : job.batch.global.value);
}

/// Prompts that a round draws: as many as it trains on, times `rollout.over_sample`.
std::uint64_t candidatesOf(const Job &job);

/// The job in canonical YAML, every value present with its origin behind it: `  chunks: 1  #
/// derived from schedule`. Same job, same text; reading the text gives the same values.
std::string resolvedText(const Job &job);

} // namespace vime
