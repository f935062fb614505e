// A program of somebody else: reads a plan and runs it on threads.
#include <cstdio>

#include "runtime/Exec/LocalRun.h"
#include "runtime/Exec/RunObserver.h"
#include "runtime/Plan/PlanFile.h"

namespace {

struct Counter final : vime::RunObserver {
  void stepFinished(const vime::StepRecord &, std::span<const vime::plan::RankStats>) override {
    ++steps;
  }
  void exported() override {}
  void saved(std::uint64_t) override {}
  int steps = 0;
};

} // namespace

int main(int, char **values) {
  const auto plan = vime::plan::readPlan(values[1]);
  if (!plan.ok())
    return plan.status().exitCode();
  Counter counter;
  const vime::Status ran =
      vime::runLocal(*plan, vime::plan::planId(*plan), {.base = values[2]}, counter);
  std::printf("%d steps, %s\n", counter.steps, ran.message().c_str());
  return ran.exitCode();
}
