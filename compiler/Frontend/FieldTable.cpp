// The rows of the field table.
#include "compiler/Frontend/FieldTable.h"

#include <limits>

#include "compiler/Frontend/Bindings.h"
#include "schedules/Registry.h"

namespace vime {

namespace {

constexpr double kMostCount = std::numeric_limits<std::int32_t>::max();
constexpr double kMostWhole = static_cast<double>(std::numeric_limits<std::int64_t>::max());
constexpr double kMostReal = 1e12;
constexpr double kDay = 24 * 3600;

// A binding of the member `place` of a Job, and of a model's configuration.
#define IN_JOB(place) bindField<[](auto &job) -> auto & { return job.place; }>()
#define IN_MODEL(member) bindModel<&ModelConfig::member>()

using enum FieldType;

std::vector<FieldSpec> clusterRows() {
  return {
      {.path = "cluster", .phase = "job", .sentence = "the machines: ranks and what each of them has"},
      {.path = "cluster.ranks", .type = Count, .least = 1, .most = kMaxRanks, .phase = "job",
       .sentence = "number of ranks, one process and one device each", .binding = IN_JOB(cluster.ranks)},
      {.path = "cluster.device", .type = Word, .fallback = "cpu", .words = {"cpu"},
       .laterWords = {"cuda", "gpu", "auto", "h100", "h100-80g", "h200", "a100", "a100-80g", "b200", "rocm"},
       .phase = "memory", .sentence = "what the ranks compute on", .binding = IN_JOB(cluster.device)},
      {.path = "cluster.memory", .type = Bytes, .least = 1, .most = kMostWhole, .optional = true, .phase = "memory",
       .sentence = "memory of one rank", .binding = IN_JOB(cluster.memory)},
      {.path = "cluster.nodes", .later = "machines of several nodes"},
      {.path = "cluster.ranks_per_node", .later = "machines of several nodes"},
      {.path = "cluster.host_memory", .later = "moving state to host memory"},
      {.path = "cluster.disk", .later = "moving state to disk"},
      {.path = "cluster.flops", .later = "a cost model of the device"},
      {.path = "cluster.bandwidth", .later = "a cost model of the links"},
      {.path = "cluster.latency", .later = "a cost model of the links"},
  };
}

std::vector<FieldSpec> modelRows() {
  return {
      {.path = "models", .phase = "job", .sentence = "the models, by names of your choice"},
      {.path = "models.*", .phase = "job", .sentence = "one model: its family and sizes, or a checkpoint"},
      {.path = "models.*.checkpoint", .type = Path, .optional = true, .family = "llama", .aliases = "load", .phase = "job",
       .sentence = "a Hugging Face directory; family and sizes are read from its config.json",
       .binding = bindCheckpoint()},
      {.path = "models.*.family", .type = Word, .words = {"llama", "null", "sleep"},
       .laterWords = {"qwen", "qwen2", "qwen3", "mistral", "mixtral", "deepseek", "gpt2", "gemma"}, .phase = "job",
       .sentence = "llama: a decoder; null: computes nothing; sleep: tasks last as long as stated",
       .binding = IN_MODEL(family)},
      {.path = "models.*.layers", .type = Count, .least = 1, .most = 65536, .aliases = "num-layers num-hidden-layers n-layer",
       .phase = "order", .sentence = "number of layers; stages are runs of them", .binding = IN_MODEL(layers)},
      {.path = "models.*.hidden", .type = Count, .least = 1, .most = 1 << 20, .family = "llama", .aliases = "hidden-size d-model",
       .phase = "memory", .sentence = "width of the activation between two layers", .binding = IN_MODEL(hidden)},
      {.path = "models.*.heads", .type = Count, .least = 1, .most = 1 << 20, .family = "llama",
       .aliases = "num-attention-heads", .phase = "memory", .sentence = "number of attention heads",
       .binding = IN_MODEL(heads)},
      {.path = "models.*.kv_heads", .type = Count, .least = 1, .most = 1 << 20, .derivedFrom = "heads", .family = "llama",
       .aliases = "num-query-groups num-key-value-heads", .phase = "memory",
       .sentence = "number of key-value heads, each shared by as many heads", .binding = IN_MODEL(kvHeads)},
      {.path = "models.*.head_width", .type = Count, .least = 2, .most = 1 << 20, .derivedFrom = "hidden, heads",
       .family = "llama", .aliases = "kv-channels head-dim", .phase = "memory", .sentence = "width of one attention head",
       .binding = IN_MODEL(headWidth)},
      {.path = "models.*.ffn", .type = Count, .least = 1, .most = 1 << 22, .family = "llama",
       .aliases = "ffn-hidden-size intermediate-size", .phase = "memory",
       .sentence = "width inside the feed-forward block", .binding = IN_MODEL(ffn)},
      {.path = "models.*.vocab", .type = Count, .least = 1, .most = 1 << 24, .family = "llama",
       .aliases = "vocab-size padded-vocab-size", .phase = "memory", .sentence = "number of token ids",
       .binding = IN_MODEL(vocab)},
      {.path = "models.*.dtype", .type = Word, .fallback = "float32", .words = {"float32", "float64"},
       .laterWords = {"bfloat16", "float16", "bf16", "fp16", "float8"}, .aliases = "torch-dtype", .phase = "memory",
       .sentence = "type of weights, gradients and activations", .binding = IN_MODEL(type)},
      {.path = "models.*.rope_theta", .type = Number, .most = kMostReal, .positive = true, .fallback = "10000",
       .family = "llama", .aliases = "rotary-base", .phase = "plan", .sentence = "base of the rotary positions",
       .binding = IN_MODEL(ropeTheta)},
      {.path = "models.*.norm_epsilon", .type = Number, .most = 1, .positive = true, .fallback = "1e-05",
       .family = "llama", .aliases = "norm-epsilon rms-norm-eps layernorm-epsilon", .phase = "plan",
       .sentence = "added to the mean square in every norm", .binding = IN_MODEL(normEpsilon)},
      {.path = "models.*.forward", .type = Seconds, .most = 3600, .family = "sleep", .phase = "plan",
       .sentence = "how long a forward of one stage and microbatch lasts", .binding = IN_MODEL(forwardSeconds)},
      {.path = "models.*.backward_input", .type = Seconds, .most = 3600, .family = "sleep", .phase = "plan",
       .sentence = "how long an input gradient of one stage and microbatch lasts",
       .binding = IN_MODEL(backwardInputSeconds)},
      {.path = "models.*.backward_weight", .type = Seconds, .most = 3600, .family = "sleep", .phase = "plan",
       .sentence = "how long a weight gradient of one stage and microbatch lasts",
       .binding = IN_MODEL(backwardWeightSeconds)},
      {.path = "models.*.preset", .later = "sizes of well-known models by name"},
      {.path = "models.*.experts", .aliases = "num-experts", .later = "mixtures of experts"},
      {.path = "models.*.tied", .aliases = "tie-word-embeddings", .later = "an output layer tied to the embedding"},
  };
}

std::vector<FieldSpec> roleRows() {
  return {
      {.path = "roles", .phase = "job", .sentence = "which model copy runs where, and for what"},
      {.path = "roles.actor", .phase = "job", .sentence = "the model that is trained"},
      {.path = "roles.actor.model", .type = Name, .phase = "job", .sentence = "name of a model in `models`",
       .binding = IN_JOB(actor.model)},
      {.path = "roles.actor.ranks", .type = Ranks, .most = kMaxRanks - 1, .derivedFrom = "cluster.ranks", .phase = "job",
       .sentence = "first and last rank", .binding = bindActorRanks()},
      {.path = "roles.actor.parallel", .phase = "job", .sentence = "how the ranks are arranged"},
      {.path = "roles.actor.parallel.pp", .type = Count, .least = 1, .most = kMaxRanks, .derivedFrom = "roles.actor.ranks",
       .aliases = "pipeline-model-parallel-size pipeline-parallel-size", .phase = "order",
       .sentence = "ranks that one pipeline runs through", .binding = IN_JOB(actor.pipeline)},
      {.path = "roles.actor.parallel.dp", .aliases = "data-parallel-size", .later = "data parallelism"},
      {.path = "roles.actor.parallel.cp", .aliases = "context-parallel-size", .later = "context parallelism"},
      {.path = "roles.actor.parallel.tp", .aliases = "tensor-model-parallel-size tensor-parallel-size", .later = "tensor parallelism"},
      {.path = "roles.actor.parallel.ep", .aliases = "expert-model-parallel-size", .later = "expert parallelism"},
      {.path = "roles.actor.like", .later = "roles that copy another role's layout"},
      {.path = "roles.actor.frozen", .later = "models that are not trained"},
      {.path = "roles.actor.engine", .later = "generation"},
      {.path = "roles.critic", .later = "a critic"},
      {.path = "roles.ref", .later = "a reference model"},
      {.path = "roles.reward", .later = "a reward model"},
      {.path = "roles.rollout", .later = "generation"},
  };
}

std::vector<FieldSpec> pipelineRows() {
  return {
      {.path = "pipeline", .phase = "order", .sentence = "the order in which microbatches go through the stages"},
      {.path = "pipeline.schedule", .type = Word, .words = orderNames(),
       .laterWords = {"auto", "zb-v", "zb-h2", "zb-auto", "dualpipe", "dualpipe-v", "looped-bfs", "bidirectional"},
       .phase = "order", .sentence = "name of the order", .binding = IN_JOB(pipeline.schedule)},
      {.path = "pipeline.chunks", .type = Count, .least = 1, .most = kMaxChunks, .derivedFrom = "pipeline.schedule",
       .aliases = "num-virtual-stages-per-pipeline-rank virtual-pipeline-model-parallel-size", .phase = "order",
       .sentence = "stages on each rank", .binding = IN_JOB(pipeline.chunks)},
      {.path = "pipeline.microbatches", .type = Count, .least = 1, .most = kMaxMicrobatches,
       .aliases = "num-microbatches gradient-accumulation-steps", .phase = "order", .sentence = "microbatches of one step",
       .binding = IN_JOB(pipeline.microbatches)},
      {.path = "pipeline.microbatch", .type = Count, .unit = "samples", .least = 1, .most = 65536,
       .laterWords = {"tokens"}, .aliases = "micro-batch-size", .phase = "memory", .sentence = "size of one microbatch",
       .binding = IN_JOB(pipeline.samples)},
      {.path = "pipeline.memory_limit", .type = Bytes, .least = 1, .most = kMostWhole, .derivedFrom = "cluster.memory",
       .optional = true, .phase = "memory", .sentence = "memory that a plan may use on one rank",
       .binding = IN_JOB(pipeline.memoryLimit)},
      {.path = "pipeline.layout", .aliases = "pipeline-model-parallel-layout", .later = "uneven stages"},
      {.path = "pipeline.overlap", .later = "overlapping a forward with a backward"},
      {.path = "pipeline.recompute", .aliases = "recompute-granularity", .later = "recomputing activations"},
  };
}

std::vector<FieldSpec> dataAndOptimizerRows() {
  return {
      {.path = "data", .phase = "job", .sentence = "what the model learns from"},
      {.path = "data.text", .type = Path, .aliases = "data-path", .phase = "plan", .sentence = "a text file; its bytes are the tokens",
       .binding = IN_JOB(data.text)},
      {.path = "data.sequence", .type = Count, .unit = "tokens", .least = 1, .most = 1 << 20, .aliases = "seq-length",
       .phase = "memory", .sentence = "length of one sample", .binding = IN_JOB(data.sequence)},
      {.path = "data.prompts", .later = "generation from prompts"},
      {.path = "data.max_prompt", .later = "generation from prompts"},
      {.path = "data.shuffle", .later = "a choice of the order of samples"},
      {.path = "data.tokenizer", .later = "tokenizers other than bytes"},

      {.path = "optimizer", .phase = "plan", .sentence = "how gradients change the weights"},
      {.path = "optimizer.kind", .type = Word, .fallback = "adamw", .words = {"adamw"},
       .laterWords = {"adam", "sgd", "muon", "lion", "adafactor"}, .phase = "memory", .sentence = "name of the optimizer",
       .binding = IN_JOB(optimizer.kind)},
      {.path = "optimizer.lr", .type = Number, .most = kMostReal, .aliases = "learning-rate", .phase = "plan",
       .sentence = "learning rate", .binding = IN_JOB(optimizer.learningRate)},
      {.path = "optimizer.betas", .type = Pair, .most = 1, .fallback = "[0.9, 0.999]", .phase = "plan",
       .sentence = "decay of the first and of the second moment", .binding = bindBetas()},
      {.path = "optimizer.epsilon", .type = Number, .most = 1, .positive = true, .fallback = "1e-08",
       .aliases = "adam-eps eps", .phase = "plan", .sentence = "added to the root of the second moment",
       .binding = IN_JOB(optimizer.epsilon)},
      {.path = "optimizer.weight_decay", .type = Number, .most = 1e6, .fallback = "0.01", .aliases = "weight-decay", .phase = "plan",
       .sentence = "decoupled weight decay", .binding = IN_JOB(optimizer.weightDecay)},
      {.path = "optimizer.clip", .type = Number, .most = kMostReal, .fallback = "1", .aliases = "clip-grad max-grad-norm",
       .phase = "plan", .sentence = "largest global norm of the gradients; 0: they are not clipped",
       .binding = IN_JOB(optimizer.clip)},
      {.path = "optimizer.schedule", .aliases = "lr-decay-style", .later = "learning-rate schedules"},
      {.path = "optimizer.warmup", .aliases = "lr-warmup-iters", .later = "learning-rate schedules"},
      {.path = "optimizer.decay", .aliases = "lr-decay-iters", .later = "learning-rate schedules"},
      {.path = "optimizer.min_lr", .aliases = "min-lr", .later = "learning-rate schedules"},
      {.path = "optimizer.states", .later = "a choice of the precision of optimizer states"},
  };
}

std::vector<FieldSpec> runRows() {
  return {
      {.path = "run", .phase = "plan", .sentence = "how long, and what remains"},
      {.path = "run.steps", .type = Count, .least = 1, .most = kMostCount, .aliases = "train-iters", .phase = "plan",
       .sentence = "number of optimizer updates", .binding = IN_JOB(run.steps)},
      {.path = "run.seed", .type = Count, .most = kMostWhole, .fallback = "0", .phase = "plan",
       .sentence = "from which initial weights and the order of samples follow", .binding = IN_JOB(run.seed)},
      {.path = "run.export", .type = Path, .optional = true, .aliases = "save", .phase = "plan",
       .sentence = "a Hugging Face directory, written at the end", .binding = IN_JOB(run.exportTo)},
      {.path = "run.rounds", .later = "rounds of generation and training"},
      {.path = "run.eval", .aliases = "eval-interval", .later = "evaluation"},
      {.path = "run.deterministic", .later = "runs that are not deterministic"},

      {.path = "limits", .phase = "plan", .sentence = "when to give up"},
      {.path = "limits.transfer", .type = Seconds, .most = kDay, .positive = true, .fallback = "600s", .phase = "plan",
       .sentence = "longest wait for a peer", .binding = IN_JOB(limits.transferSeconds)},
      {.path = "limits.queue", .later = "queues of samples"},
      {.path = "limits.retries", .later = "services that can be asked again"},

      {.path = "batch", .aliases = "global-batch-size", .later = "batches of prompts and samples"},
      {.path = "rollout", .later = "generation"},
      {.path = "reward", .later = "rewards"},
      {.path = "eval", .later = "evaluation"},
      {.path = "algorithm", .later = "reinforcement learning"},
      {.path = "weight_sync", .later = "sending weights to engines"},
      {.path = "staleness", .later = "asynchronous training"},
      {.path = "memory", .later = "moving state to host memory and disk"},
      {.path = "checkpoint", .later = "saving and resuming a run"},
  };
}

std::vector<FieldSpec> allRows() {
  std::vector<FieldSpec> rows = {
      {.path = "version", .type = Count, .least = 1, .most = 1, .phase = "job", .sentence = "version of the job format: 1"},
      {.path = "name", .type = Name, .derivedFrom = "the file's name", .phase = "job", .sentence = "name of the job in messages",
       .binding = IN_JOB(name)},
  };
  for (auto &&section : {clusterRows(), modelRows(), roleRows(), pipelineRows(), dataAndOptimizerRows(), runRows()})
    rows.insert(rows.end(), section.begin(), section.end());
  return rows;
}

#undef IN_JOB
#undef IN_MODEL

} // namespace

std::span<const FieldSpec> fieldTable() {
  static const std::vector<FieldSpec> rows = allRows();
  return rows;
}

} // namespace vime
