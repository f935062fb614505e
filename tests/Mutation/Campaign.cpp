#include "tests/Mutation/Campaign.h"

#include <random>

#include <fmt/format.h>

#include "tests/Mutation/OrderMutations.h"
#include "tests/Mutation/PlanMutations.h"
#include "tests/Mutation/Reclock.h"

namespace vime {

void Campaign::run(std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t number = first; number < first + count; ++number)
    tryOne(number);
}

/// One in eight is an order.
void Campaign::tryOne(std::uint32_t number) {
  std::mt19937 random(number);
  if (random() % 8 == 0) {
    const BaseOrder &base = baseOrders()[random() % baseOrders().size()];
    const OrderMutation &mutation = orderMutations()[random() % orderMutations().size()];
    if (base.name.find(only) == std::string::npos)
      return;
    Schedule order = base.order;
    if (!mutation.apply(order, random) ||
        (order.rows == base.order.rows && order.placement == base.order.placement)) {
      ++withoutChange;
      return;
    }
    return note(number, base.name, "order: " + std::string(mutation.name),
                tryOrder(base, order, mutation.name));
  }
  const BasePlan &base = basePlans()[random() % basePlans().size()];
  const PlanMutation &mutation = planMutations()[random() % planMutations().size()];
  if (base.name.find(only) == std::string::npos)
    return;
  plan::Plan plan = base.plan;
  Mutant mutant(plan, random);
  if (!mutation.apply(mutant) || plan == base.plan) {
    ++withoutChange;
    return;
  }
  if (mutation.reclocked)
    reclock(plan);
  note(number, base.name + mutant.what, "plan: " + std::string(mutation.name),
       tryPlan(plan, mutation.name));
}

void Campaign::note(std::uint32_t number, const std::string &what, const std::string &mutation,
                    const Trial &trial) {
  constexpr std::size_t kTold = 40;
  ++classes[mutation][static_cast<std::size_t>(trial.agreement)];
  ++faults[std::string(interpreter::nameOf(trial.verdict.fault))];
  if (trial.agreement == Agreement::Stricter)
    ++reasons[trial.reason == "" ? "?" : std::string(trial.reason)];
  if (trial.agreement < Agreement::WrongAccept || told.size() == kTold)
    return;
  std::string codes;
  for (const std::string &code : trial.codes)
    codes += (codes.empty() ? "" : " ") + code;
  told.push_back(fmt::format("mutant {} ({}; {}): {}, the interpreter finds it {} {}", number,
                             mutation, what, codes.empty() ? "the judges accept it" : codes,
                             interpreter::nameOf(trial.verdict.fault), trial.verdict.text));
}

std::uint64_t Campaign::times(Agreement agreement) const {
  std::uint64_t times = 0;
  for (const auto &[name, counts] : classes)
    times += counts[static_cast<std::size_t>(agreement)];
  return times;
}

std::string Campaign::table() const {
  constexpr std::string_view kRow = "{:<40}{:>9}{:>9}{:>10}{:>10}{:>13}{:>14}\n";
  std::string text = fmt::format(kRow, "class", "mutants", "refused", "harmless", "stricter",
                                 "wrong accept", "wrong refusal");
  Counts all{};
  const auto row = [&](const std::string &name, const Counts &counts) {
    std::uint64_t mutants = 0;
    for (const std::uint64_t count : counts)
      mutants += count;
    text += fmt::format(kRow, name, mutants, counts[1], counts[0], counts[2], counts[3], counts[4]);
  };
  for (const auto &[name, counts] : classes) {
    row(name, counts);
    for (std::size_t index = 0; index < kAgreements; ++index)
      all[index] += counts[index];
  }
  row("all", all);
  text += fmt::format("\n{} without a change\n\nstricter than the interpreter, by design:\n",
                      withoutChange);
  for (const auto &[reason, times] : reasons)
    text += fmt::format("{:>7}  {}\n", times, reason);
  text += "\nwhat the interpreter finds:\n";
  for (const auto &[fault, times] : faults)
    text += fmt::format("{:>7}  {}\n", times, fault);
  return text;
}

} // namespace vime
