#include "runtime/Checkpoint/Identity.h"

#include <fmt/format.h>

#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Names.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {

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
