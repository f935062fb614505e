// The rows of `cluster` and `roles`: what there is, and what runs where.
#include "compiler/Frontend/Bindings.h"
#include "compiler/Frontend/FieldRows.h"
#include "schedules/Registry.h"

namespace vime {

using enum FieldType;

namespace {

// A pipeline runs through at most kMaxRanks of them, its replicas through the others.
constexpr double kMostClusterRanks = 1 << 20;

} // namespace

std::vector<FieldSpec> clusterRows() {
  return {
      {.path = "cluster",
       .phase = "job",
       .sentence = "the machines: ranks and what each of them has"},
      {.path = "cluster.ranks",
       .type = Count,
       .least = 1,
       .most = kMostClusterRanks,
       .phase = "job",
       .sentence = "number of ranks, one process and one device each",
       .binding = IN_JOB(cluster.ranks)},
      {.path = "cluster.device",
       .type = Word,
       .fallback = "cpu",
       .words = {"cpu"},
       .laterWords = {"cuda", "gpu", "auto", "h100", "h100-80g", "h200", "a100", "a100-80g", "b200",
                      "rocm"},
       .phase = "memory",
       .sentence = "what the ranks compute on",
       .binding = IN_JOB(cluster.device)},
      {.path = "cluster.kernels",
       .type = Word,
       .fallback = "native",
       .words = {"native", "libtorch"},
       .phase = "memory",
       .sentence = "native: kernels of vime's own; libtorch: PyTorch's, in a plug-in",
       .binding = IN_JOB(cluster.kernels)},
      {.path = "cluster.machine",
       .type = Path,
       .optional = true,
       .phase = "plan",
       .sentence = "machine whose costs tell what a step will take: a profile of `vimec machines`, "
                   "or a file",
       .binding = IN_JOB(cluster.machine)},
      {.path = "cluster.memory",
       .type = Bytes,
       .least = 1,
       .most = kMostWhole,
       .optional = true,
       .phase = "memory",
       .sentence = "memory of one rank",
       .binding = IN_JOB(cluster.memory)},
      {.path = "cluster.nodes", .later = "machines of several nodes"},
      {.path = "cluster.ranks_per_node", .later = "machines of several nodes"},
      {.path = "cluster.host_memory", .later = "moving state to host memory"},
      {.path = "cluster.disk", .later = "moving state to disk"},
  };
}

std::vector<FieldSpec> roleRows() {
  return {
      {.path = "roles", .phase = "job", .sentence = "which model copy runs where, and for what"},
      {.path = "roles.actor", .phase = "job", .sentence = "the model that is trained"},
      {.path = "roles.actor.model",
       .type = Name,
       .phase = "job",
       .sentence = "name of a model in `models`",
       .binding = IN_JOB(actor.model)},
      {.path = "roles.actor.ranks",
       .type = Ranks,
       .most = kMostClusterRanks - 1,
       .derivedFrom = "cluster.ranks",
       .phase = "job",
       .sentence = "first and last rank",
       .binding = bindActorRanks()},
      {.path = "roles.actor.parallel", .phase = "job", .sentence = "how the ranks are arranged"},
      {.path = "roles.actor.parallel.pp",
       .type = Count,
       .least = 1,
       .most = kMaxRanks,
       .derivedFrom = "roles.actor.ranks, roles.actor.parallel.dp",
       .aliases = "pipeline-model-parallel-size pipeline-parallel-size",
       .phase = "order",
       .sentence = "ranks that one pipeline runs through",
       .binding = IN_JOB(actor.pipeline)},
      {.path = "roles.actor.parallel.dp",
       .type = Count,
       .least = 1,
       .most = kMostClusterRanks,
       .fallback = "1",
       .aliases = "data-parallel-size",
       .phase = "comm",
       .sentence = "replicas of the pipeline, each with microbatches of its own",
       .binding = IN_JOB(actor.data)},
      {.path = "roles.actor.parallel.shard",
       .type = Word,
       .fallback = "false",
       .words = {"false", "true"},
       .aliases = "fully-sharded-data-parallel fsdp",
       .phase = "comm",
       .sentence =
           "true: each replica keeps only its share of weights, moments and summed gradients",
       .binding = IN_JOB(actor.shard)},
      {.path = "roles.actor.parallel.cp",
       .aliases = "context-parallel-size",
       .later = "context parallelism"},
      {.path = "roles.actor.parallel.tp",
       .aliases = "tensor-model-parallel-size tensor-parallel-size",
       .later = "tensor parallelism"},
      {.path = "roles.actor.parallel.ep",
       .aliases = "expert-model-parallel-size",
       .later = "expert parallelism"},
      {.path = "roles.actor.like", .later = "roles that copy another role's layout"},
      {.path = "roles.actor.frozen", .later = "models that are not trained"},
      {.path = "roles.actor.engine", .later = "generation"},
      {.path = "roles.critic", .later = "a critic"},
      {.path = "roles.ref", .later = "a reference model"},
      {.path = "roles.reward", .later = "a reward model"},
      {.path = "roles.rollout", .later = "generation"},
  };
}

} // namespace vime
