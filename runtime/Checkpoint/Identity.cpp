#include "runtime/Checkpoint/Identity.h"

#include <fmt/format.h>

#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Names.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

/// What decides which prompts a round draws, and what the weights answer to them. So each prompt
/// comes once in an epoch, also across runs. Who answers and who judges may change.
void addRounds(Identity &identity, const plan::RoundSettings &round) {
  const auto number = [](auto value) { return fmt::format("{}", value); };
  const plan::RolloutSettings &rollout = round.rollout;
  identity["data.prompts_hash"] = plan::toHex(round.prompts.hash);
  identity["rollout.steps"] = number(rollout.steps);
  identity["rollout.prompts"] = number(rollout.prompts);
  identity["rollout.candidates"] = number(rollout.candidates);
  identity["rollout.samples_per_prompt"] = number(rollout.samples);
  identity["rollout.max_new"] = number(rollout.maxNew);
  identity["rollout.temperature"] = number(rollout.sampling.temperature);
  identity["rollout.top_p"] = number(rollout.sampling.topP);
  identity["rollout.top_k"] = number(rollout.sampling.topK);
  identity["rollout.stop"] = fmt::format("{}", fmt::join(rollout.stops, " "));
}

} // namespace

Identity identityOf(const plan::Plan &plan) {
  const auto number = [](auto value) { return fmt::format("{}", value); };
  const ModelConfig &model = plan.models.front().config;
  const plan::DataSettings &data = plan.data;
  const plan::OptimizerSettings &optimizer = plan.optimizer;
  Identity identity = {
      {"model.family", std::string(plan::wordOf(model.family))},
      {"model.type", std::string(plan::wordOf(model.type))},
      {"model.layers", number(model.layers)},
      {"model.hidden", number(model.hidden)},
      {"model.heads", number(model.heads)},
      {"model.kv_heads", number(model.kvHeads)},
      {"model.head_width", number(model.headWidth)},
      {"model.ffn", number(model.ffn)},
      {"model.vocab", number(model.vocab)},
      {"model.rope_theta", number(model.ropeTheta)},
      {"model.norm_epsilon", number(model.normEpsilon)},
      {"model.tied", number(model.tiedHead)},
      {"model.kernels", nameOf(model.kernels)},
      {"data.text_hash", plan::toHex(data.textHash)},
      {"data.sequence", number(data.sequence)},
      {"data.samples_of_a_step", number(data.batch)},
      {"data.split", std::string(plan::wordOf(data.split))},
      {"data.tail", std::string(plan::wordOf(data.tail))},
      {"optimizer.kind", "adamw"},
      {"optimizer.beta1", number(optimizer.beta1)},
      {"optimizer.beta2", number(optimizer.beta2)},
      {"run.seed", number(plan.run.seed)},
  };
  if (plan::hasRounds(plan))
    addRounds(identity, plan.round);
  if (model.family == ModelFamily::TorchScript)
    identity["model.module_hash"] = plan::toHex(plan.models.front().moduleHash);
  return identity;
}

std::string findDifference(const Identity &there, const Identity &here) {
  for (const auto &[fact, value] : here) {
    const auto other = there.find(fact);
    if (other == there.end())
      return fmt::format("it does not say what `{}` is", fact);
    if (other->second != value)
      return fmt::format("`{}` is {} there and {} in the plan", fact, other->second, value);
  }
  for (const auto &[fact, value] : there)
    if (!here.contains(fact))
      return fmt::format("`{}` is {} there, which this program does not know", fact, value);
  return "";
}

} // namespace vime
