#include "compiler/Frontend/ImportLaunch.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/Frontend/FieldTable.h"
#include "compiler/Frontend/LaunchFlags.h"
#include "compiler/Frontend/LaunchJob.h"
#include "compiler/Frontend/LaunchReader.h"
#include "compiler/Frontend/Numbers.h"
#include "runtime/Base/Counted.h"

namespace vime {
namespace {

class Importer : LaunchReader {
public:
  Importer(const LaunchLine &launch, const std::string &name) : LaunchReader(launch) {
    job.set("name", name);
  }

  ImportedJob run() {
    model();
    roles();
    pipeline();
    batch();
    prompts();
    reward();
    algorithm();
    optimizer();
    evaluation();
    saving();
    for (const LaunchFlag &flag : launch.flags)
      if (&flag == launch.find(flag.name) && !used.contains(flag.name))
        remaining(flag);
    for (const std::string &program : launch.programs)
      if (program.ends_with("train_async.py"))
        notes.push_back(
            fmt::format("`{}` is left out: asynchronous rounds; they are synchronous", program));
    return {job.text(), std::move(notes)};
  }

private:
  /// Of a flag that nothing has used: a field by another name, or nothing of a job.
  void remaining(const LaunchFlag &flag) {
    const std::string value = fmt::format("{}", fmt::join(flag.values, " "));
    if (isImplied(flag.name, value))
      return;
    if (const std::string_view why = whyNot(flag.name); !why.empty())
      return leaveOut(flag.name, why);
    const FieldSpec *field = fieldOf(flag.name);
    if (field && field->isLater())
      return leaveOut(flag.name, field->later);
    if (!field || field->path.starts_with("roles.actor.parallel"))
      return leaveOut(flag.name, "nothing of a job says it");
    const std::string problem = job.setFlag(*field, flag.values);
    if (!problem.empty())
      leaveOut(flag.name, problem);
  }

  static const FieldSpec *fieldOf(std::string_view flag) {
    for (const char *path : {"optimizer.lr", "run.seed"}) // fields of the same name
      if (findField(path)->key() == flag)
        return findField(path);
    for (const FieldSpec &field : fieldTable())
      if (findAlias(sectionOf(field.path), flag) == &field)
        return &field;
    return nullptr;
  }

  // --- What several flags say together ---

  void model() {
    const bool hasNorms = has("qk-layernorm"), hasBiases = has("add-qkv-bias");
    const bool isUntied = has("untie-embeddings-and-output-weights");
    if (const auto checkpoint = take("hf-checkpoint"))
      job.set("models.policy.checkpoint", *checkpoint);
    if (!launch.find("num-layers"))
      return;
    if (hasNorms && hasBiases)
      leaveOut("add-qkv-bias", "a decoder with norms and biases of the heads");
    job.set("models.policy.family", hasNorms ? "qwen3" : hasBiases ? "qwen2" : "llama");
    job.set("models.policy.tied", isUntied ? "false" : "true");
    if (has("bf16"))
      job.set("models.policy.dtype", "bfloat16");
    if (has("fp16"))
      leaveOut("fp16", "float16");
  }

  void roles() {
    const std::uint64_t nodes = count("actor-num-nodes").value_or(1),
                        perNode = count("actor-num-gpus-per-node").value_or(1);
    const std::uint64_t pipeline = at("pipeline-model-parallel-size");
    const std::uint64_t others = at("tensor-model-parallel-size") * at("context-parallel-size");
    const std::uint64_t replicas =
        std::max<std::uint64_t>(nodes * perNode / (pipeline * others), 1);
    const std::uint64_t perEngine = std::max<std::uint64_t>(at("rollout-num-gpus-per-engine"), 1),
                        ofEngines = count("rollout-num-gpus").value_or(nodes * perNode);
    used.insert("pipeline-model-parallel-size");
    const std::uint64_t actor = pipeline * replicas;
    job.set("roles.actor.model", "policy");
    job.set("roles.actor.ranks", actor == 1 ? "0" : fmt::format("0-{}", actor - 1));
    job.set("roles.actor.parallel.pp", pipeline);
    job.set("roles.actor.parallel.dp", replicas);
    if (isSupervised()) {
      job.set("cluster.ranks", actor);
      return;
    }
    const std::uint64_t engines = std::max<std::uint64_t>(ofEngines / perEngine, 1);
    job.set("cluster.ranks", actor + engines);
    job.set("roles.rollout.ranks", engines == 1 ? fmt::format("{}", actor)
                                                : fmt::format("{}-{}", actor, actor + engines - 1));
  }

  bool isSupervised() {
    const LaunchFlag *loss = launch.find("loss-type");
    return (loss && !loss->values.empty() && loss->values.front() == "sft_loss") ||
           !launch.find("n-samples-per-prompt");
  }

  void pipeline() {
    const Count chunks = count("num-virtual-stages-per-pipeline-rank");
    job.set("pipeline.schedule", chunks && *chunks > 1 ? "interleaved" : "1f1b");
    if (chunks && *chunks > 1)
      job.set("pipeline.chunks", *chunks);
    if (const Count tokens = count("max-tokens-per-gpu"))
      job.set("pipeline.microbatch",
              fmt::format("{} tokens", *tokens * at("context-parallel-size")));
    else if (const Count samples = count("micro-batch-size"))
      job.set("pipeline.microbatch", fmt::format("{} samples", *samples));
    if (const auto granularity = take("recompute-granularity")) {
      if (*granularity == "full")
        job.set("memory.recompute", "layer");
      else
        leaveOut("recompute-granularity", "parts of a layer that are computed again");
    }
    unevenStages();
  }

  void unevenStages() {
    const Count last = count("decoder-last-pipeline-num-layers");
    const std::uint64_t stages = at("pipeline-model-parallel-size");
    if (!last || stages < 2)
      return;
    if (!launch.find("num-layers") || launch.find("decoder-first-pipeline-num-layers"))
      return leaveOut("decoder-last-pipeline-num-layers",
                      "the layers of the model are not stated; `pipeline.layout` takes them");
    const std::uint64_t rest = at("num-layers") - std::min(at("num-layers"), *last);
    if (rest % (stages - 1) != 0)
      return leaveOut("decoder-last-pipeline-num-layers",
                      fmt::format("{} layers are left for {} stages", rest, stages - 1));
    std::vector<std::uint64_t> layers(stages - 1, rest / (stages - 1));
    layers.push_back(*last);
    job.set("pipeline.layout", fmt::format("[{}]", fmt::join(layers, ", ")));
  }

  void batch() {
    const Count prompts = count("rollout-batch-size"), samples = count("n-samples-per-prompt"),
                steps = count("num-steps-per-rollout"), over = count("over-sampling-batch-size");
    if (prompts && !isSupervised())
      job.set("batch.prompts", *prompts);
    if (samples)
      job.set("batch.samples_per_prompt", *samples);
    const std::uint64_t all = prompts.value_or(1) * samples.value_or(1);
    Count global = count("global-batch-size");
    if (!global && steps && *steps > 0 && all % *steps == 0)
      global = all / *steps;
    if (global)
      job.set("batch.global", fmt::format("{} samples", *global));
    stepsOfRound = global && *global > 0 ? std::max<std::uint64_t>(all / *global, 1) : 1;
    chooseAmong(over, prompts);
  }

  void chooseAmong(Count over, Count prompts) {
    const LaunchFlag *filter = launch.find("dynamic-sampling-filter-path");
    const bool isByRewards = filter && !filter->values.empty() &&
                             filter->values.front().find("nonzero_std") != std::string::npos;
    if (isByRewards && over && prompts && *over > *prompts) {
      used.insert("dynamic-sampling-filter-path");
      job.set("rollout.filter", "equal-rewards");
      job.set("rollout.over_sample",
              fmt::format("{}", static_cast<double>(*over) / static_cast<double>(*prompts)));
    } else if (over && prompts && *over > *prompts) {
      leaveOut("over-sampling-batch-size",
               "without `rollout.filter` the first prompts are taken, and no others are drawn");
    }
  }

  void prompts() {
    const Count response = count("rollout-max-response-len"),
                context = count("rollout-max-context-len");
    if (response && !isSupervised())
      job.set("rollout.max_new", fmt::format("{} tokens", *response));
    if (context && response && *context > *response && !launch.find("rollout-max-prompt-len"))
      job.set("data.max_prompt", fmt::format("{} tokens", *context - *response));
    if (const auto topK = take("rollout-top-k"); topK && *topK != "-1")
      job.set("rollout.top_k", *topK);
  }

  void reward() {
    if (const auto url = take("rm-url"))
      job.set("reward.url", *url);
    const LaunchFlag *type = launch.find("rm-type");
    if (!type || type->values.empty())
      return;
    const std::string &word = type->values.front();
    if (word == "remote_rm" && launch.find("rm-url"))
      used.insert("rm-type");
    else if (word == "math" || word == "deepscaler" || word == "dapo") {
      used.insert("rm-type");
      job.set("reward.rule", "exact-answer");
      notes.push_back(fmt::format("`--rm-type {}` is `exact-answer`: what stands in the last "
                                  "`\\boxed{{}}` or behind `####` is compared to the byte",
                                  word));
    }
  }

  void algorithm() {
    if (const auto advantage = take("advantage-estimator"))
      estimator(*advantage);
    if (has("calculate-per-token-loss"))
      job.set("algorithm.unit", "token");
    if (const auto low = take("eps-clip"), high = take("eps-clip-high"); low || high)
      job.set("algorithm.clip",
              fmt::format("[{}, {}]", low.value_or("0.2"), high.value_or(low.value_or("0.2"))));
    divergence();
    if (launch.find("normalize-advantages") && job.get("algorithm.advantage").starts_with("rein"))
      used.insert("normalize-advantages");
  }

  void estimator(const std::string &word) {
    if (word == "gspo" || word == "cispo")
      job.set("algorithm.loss", word);
    const FieldSpec &field = *findField("algorithm.advantage");
    const std::string problem =
        job.setFlag(field, {word == "gspo" || word == "cispo" ? "grpo" : word});
    if (!problem.empty())
      leaveOut("advantage-estimator", problem);
    if (has("disable-grpo-std-normalization") && word == "grpo") {
      job.set("algorithm.advantage", "dr-grpo");
      job.set("algorithm.unit", "rollout");
    }
  }

  void divergence() {
    const bool isUsed = has("use-kl-loss");
    const auto weight = take("kl-loss-coef"), kind = take("kl-loss-type");
    const auto number = weight ? realNumber(*weight) : std::nullopt;
    if (!isUsed || !number || *number == 0)
      return;
    job.set("algorithm.kl.coef", *weight);
    job.set("roles.ref.like", "actor");
    if (kind)
      if (const std::string problem = job.setFlag(*findField("algorithm.kl.estimator"), {*kind});
          !problem.empty())
        leaveOut("kl-loss-type", problem);
  }

  void optimizer() {
    const auto first = take("adam-beta1"), second = take("adam-beta2");
    if (first || second)
      job.set("optimizer.betas",
              fmt::format("[{}, {}]", first.value_or("0.9"), second.value_or("0.999")));
  }

  void evaluation() {
    const LaunchFlag *sets = launch.find("eval-prompt-data");
    const Count every = count("eval-interval");
    if (!sets)
      return;
    used.insert("eval-prompt-data");
    // `PATH`, or names and paths by turns.
    job.set("eval.prompts", sets->values.size() > 1 ? sets->values[1]
                            : sets->values.empty()  ? ""
                                                    : sets->values[0]);
    job.set("eval.every", counted(every.value_or(1), "round"));
    if (sets->values.size() > 2)
      leaveOut("eval-prompt-data", "more than one set of prompts; the first one is kept");
  }

  void saving() {
    const auto directory = take("save");
    const Count every = count("save-interval");
    if (!directory)
      return;
    job.set("checkpoint.dir", *directory);
    job.set("checkpoint.every", counted(every.value_or(1) * stepsOfRound, "step"));
  }

  LaunchJob job;
  std::uint64_t stepsOfRound = 1;
};

} // namespace

ImportedJob importLaunch(const LaunchLine &launch, const std::string &name) {
  return Importer(launch, name).run();
}

} // namespace vime
