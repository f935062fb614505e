#include "tests/Interpreter/Tally.h"

#include "runtime/Plan/BatchCaps.h"
#include "tests/Interpreter/Meaning.h"

namespace vime::interpreter {

using plan::Opcode;

namespace {

bool isCounted(Opcode opcode) {
  return plan::findSignature(plan::code(opcode))->family == plan::Family::Compute ||
         opcode == Opcode::Load || opcode == Opcode::LoadRound || opcode == Opcode::LoadEvaluation;
}

} // namespace

void Tally::count(Opcode opcode, std::uint32_t step, std::uint32_t replica, std::uint32_t stage,
                  std::uint32_t microbatch) {
  if (isCounted(opcode))
    ++counts[{opcode, step, replica, stage, microbatch}];
}

std::uint32_t Tally::times(const Task &task) const {
  const auto found = counts.find(task);
  return found == counts.end() ? 0 : found->second;
}

std::string Tally::words(const Task &task) {
  const auto &[opcode, step, replica, stage, microbatch] = task;
  return std::string(plan::findSignature(plan::code(opcode))->name) + " of stage " +
         std::to_string(stage) + ", microbatch " + std::to_string(microbatch) + " in step " +
         std::to_string(step) + " of replica " + std::to_string(replica);
}

/// `found`: tasks that are as they should be.
std::string Tally::ofPass(std::uint32_t step, std::uint32_t replica, bool evaluates,
                          std::uint64_t &found) const {
  const auto stages = static_cast<std::uint32_t>(plan.models[0].stages.size());
  const std::uint32_t microbatches =
      evaluates ? plan.evaluation.microbatches : course[step].microbatches;
  // Of a step that is settled by a bad verdict the warm-up runs twice; how far it goes, the order
  // says.
  const bool isRedone = step != 0 && course[step].pending != 0 && course[step - 1].verdict != 0;
  const auto wanted = [&](Opcode opcode, std::uint32_t stage, std::uint32_t microbatch) {
    return isRedone && !evaluates && times({opcode, step, replica, stage, microbatch}) == 2 ? 2u
                                                                                            : 1u;
  };
  const auto wrong = [&](Opcode opcode, std::uint32_t stage, std::uint32_t microbatch,
                         std::uint32_t wanted) {
    const Task task{opcode, step, replica, stage, microbatch};
    found += wanted;
    return times(task) == wanted ? std::string() : words(task);
  };
  const bool inRounds = plan::hasRounds(plan);
  std::string fault = wrong(evaluates  ? Opcode::LoadEvaluation
                            : inRounds ? Opcode::LoadRound
                                       : Opcode::Load,
                            0, 0, 1);
  for (std::uint32_t stage = 0; stage < stages; ++stage)
    for (std::uint32_t microbatch = 0; microbatch < microbatches && fault.empty(); ++microbatch) {
      const bool isLast = stage + 1 == stages;
      const Opcode forward = evaluates ? Opcode::Evaluate : Opcode::Forward,
                   loss = evaluates  ? Opcode::EvaluateLoss
                          : inRounds ? Opcode::PolicyLoss
                                     : Opcode::Loss;
      if (plan::hasReference(plan)) {
        const std::uint32_t reference = stageNumber(1, stage);
        fault += wrong(Opcode::Infer, reference, microbatch, 1);
        fault += wrong(Opcode::LogProbabilities, reference, microbatch, isLast ? 1 : 0);
      }
      fault += wrong(forward, stage, microbatch, wanted(forward, stage, microbatch));
      fault += wrong(loss, stage, microbatch, isLast ? wanted(loss, stage, microbatch) : 0);
      if (evaluates)
        continue;
      const bool isWhole = times({Opcode::Backward, step, replica, stage, microbatch}) != 0;
      fault += wrong(Opcode::Backward, stage, microbatch, isWhole);
      fault += fault.empty() ? wrong(Opcode::BackwardInput, stage, microbatch, !isWhole) : "";
      fault += fault.empty() ? wrong(Opcode::BackwardWeight, stage, microbatch, !isWhole) : "";
    }
  return fault;
}

std::string Tally::fault() const {
  std::uint64_t found = 0, all = 0;
  for (std::uint32_t step = 0; step < course.steps(); ++step)
    for (std::uint32_t replica = 0; replica < plan.mesh.data; ++replica)
      for (const bool evaluates : {false, true}) {
        if (evaluates && (course[step].evaluate != 1 || plan::hasRounds(plan)))
          continue;
        if (std::string fault = ofPass(step, replica, evaluates, found); !fault.empty())
          return fault;
      }
  for (const auto &[task, times] : counts)
    all += times;
  return found == all ? "" : "a task that no step has";
}

} // namespace vime::interpreter
