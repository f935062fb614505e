#include "compiler/Frontend/LaunchFlags.h"

#include <algorithm>
#include <utility>

namespace vime {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// A flag and the value with which it says what holds anyway; `*`: with any.
constexpr Pair kImplied[] = {
    {"swiglu", "*"},
    {"group-query-attention", "*"},
    {"use-rotary-position-embeddings", "*"},
    {"disable-bias-linear", "*"},
    {"normalization", "RMSNorm"},
    {"position-embedding-type", "rope"},
    {"attention-dropout", "0"},
    {"attention-dropout", "0.0"},
    {"hidden-dropout", "0"},
    {"hidden-dropout", "0.0"},
    {"rotary-percent", "1.0"},
    {"use-dynamic-batch-size", "*"}, // microbatches are counted in tokens
    {"use-flash-attn", "*"},
    {"attention-backend", "*"},
    {"accumulate-allreduce-grads-in-fp32", "*"},
    {"attention-softmax-in-fp32", "*"},
    {"rollout-shuffle", "*"}, // prompts are shuffled by the seed
    {"recompute-method", "*"},
    {"recompute-num-layers", "1"},
    {"optimizer", "adam"},
    {"use-rollout-logprobs", "*"}, // the engine's are the trainer's, to the bit
    {"update-weights-interval", "1"},
    {"flush-cache-interval", "1"},
    {"tensor-model-parallel-size", "1"},
    {"context-parallel-size", "1"},
    {"expert-model-parallel-size", "1"},
    {"expert-tensor-parallel-size", "1"},
    {"sequence-parallel", "*"}, // of ranks that share a layer, which there are not
    {"rollout-num-gpus-per-engine", "1"},
    {"input-key", "prompt"},
    {"label-key", "answer"},
    {"label-key", "label"},
    {"num-experts", "0"},
    {"kl-coef", "0"},
    {"kl-coef", "0.00"},
    {"kl-coef", "0.0"},
    {"qkv-format", "thd"},
    {"train-backend", "megatron"},
};

constexpr std::string_view kHost = "moving state to host memory";
constexpr std::string_view kExperts = "mixtures of experts";
constexpr std::string_view kRay = "a flag of Ray, which has no part here";
constexpr std::string_view kFormat = "prompts have the keys `prompt` and `answer`, as plain text";

constexpr Pair kReasons[] = {
    {"address", kRay},
    {"runtime-env-json", kRay},
    {"working-dir", kRay},
    {"no-wait", kRay},
    {"head", kRay},
    {"node-ip-address", kRay},
    {"num-gpus", kRay},
    {"disable-usage-stats", kRay},
    {"dashboard-host", kRay},
    {"dashboard-port", kRay},
    {"colocate", "roles on the same ranks; the engines have got ranks of their own"},
    {"rollout-num-gpus-per-engine", "engines of several ranks; each has got one"},
    {"expert-tensor-parallel-size", kExperts},
    {"moe-router-topk", kExperts},
    {"moe-ffn-hidden-size", kExperts},
    {"moe-shared-expert-intermediate-size", kExperts},
    {"moe-token-dispatcher-type", kExperts},
    {"moe-grouped-gemm", kExperts},
    {"multi-latent-attention", "attention by latent vectors"},
    {"q-lora-rank", "attention by latent vectors"},
    {"kv-lora-rank", "attention by latent vectors"},
    {"mtp-num-layers", "heads that foretell several tokens"},
    {"optimizer-cpu-offload", kHost},
    {"overlap-cpu-optimizer-d2h-h2d", kHost},
    {"use-precision-aware-optimizer", "a choice of the precision of optimizer states"},
    {"offload-train", kHost},
    {"offload-rollout", kHost},
    {"load", "checkpoints of Megatron; `hf-checkpoint` is read"},
    {"ref-load", "checkpoints of Megatron; the reference begins as the actor does"},
    {"input-key", kFormat},
    {"label-key", kFormat},
    {"apply-chat-template", kFormat},
    {"tool-key", kFormat},
    {"metadata-key", "`metadata` is the key"},
    {"custom-rm-path", "rewards in Python; a `reward.command` speaks JSON lines"},
    {"rm-type", "no rule of this name: choose `reward.rule`"},
    {"custom-generate-function-path", "generation in Python"},
    {"rollout-function-path", "rollouts in Python"},
    {"kl-coef", "a divergence in the reward; `use-kl-loss` has it in the loss"},
    {"use-tis", "a correction without use: engine and trainer have the same probabilities, to the "
                "bit"},
    {"num-epoch", "runs that are counted in epochs; `num-rollout` counts rounds"},
    {"decoder-first-pipeline-num-layers", "fewer layers than stages"},
    {"balance-data", "microbatches by cost; they are packed by first fit"},
    {"eval-max-response-len", "another length of responses in evaluations"},
    {"loss-type", "training on given responses; a job without rounds trains on a text"},
    {"use-fault-tolerance", "engines that are replaced while a run goes on"},
    {"dynamic-sampling-filter-path", "filters in Python; there is `rollout.filter: equal-rewards`"},
};

} // namespace

bool isImplied(std::string_view flag, std::string_view value) {
  return std::ranges::any_of(kImplied, [&](const Pair &row) {
    return row.first == flag && (row.second == "*" || row.second == value);
  });
}

std::string_view whyNot(std::string_view flag) {
  const auto *const row = std::ranges::find(kReasons, flag, &Pair::first);
  return row == std::end(kReasons) ? std::string_view() : row->second;
}

} // namespace vime
