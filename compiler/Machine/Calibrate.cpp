#include "compiler/Machine/Calibrate.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "compiler/Machine/FigureText.h"
#include "compiler/Machine/FitParts.h"
#include "compiler/Machine/SleepTimes.h"
#include "compiler/Machine/Work.h"
#include "runtime/Plan/BatchCaps.h"

namespace vime {

using plan::Opcode;

namespace {

constexpr std::size_t kFew = 8; // messages of a size say little, where there are sizes with more
// Sizes that differ by less tell nothing of what a byte takes: any noise is more.
constexpr std::uint64_t kFactor = 4, kDifference = 64 << 10;

std::int64_t quantile(std::vector<std::int64_t> values, double share) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(
      std::lround(share * static_cast<double>(values.size() - 1)))];
}

/// Half of all values lie within this share of the median.
double spreadOf(const std::vector<std::int64_t> &values) {
  const std::int64_t middle = median(values);
  std::vector<std::int64_t> distances;
  for (const std::int64_t value : values)
    distances.push_back(std::abs(value - middle));
  return middle == 0 ? 0 : static_cast<double>(median(distances)) / static_cast<double>(middle);
}

double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

class Calibration {
public:
  Calibration(const verify::ActionTable &table, const ObservedTimes &observed,
              const CalibratedRun &run)
      : plan(table.plan()), table(table), observed(observed), run(run),
        model(plan.models[0].config), caps(plan::capsOf(plan.data)) {}

  Machine machine() {
    measured.source = run.source;
    measured.model = model;
    measured.microbatch = caps;
    std::set<Opcode> opcodes;
    for (const auto &[key, times] : observed.stages)
      opcodes.insert(key.second);
    // Of a plan that has both, a whole backward stands on few stages, which tell little of parts.
    if (!isEmpty(model.family) && opcodes.contains(Opcode::BackwardInput) &&
        opcodes.contains(Opcode::BackwardWeight))
      opcodes.erase(Opcode::Backward);
    for (const Opcode opcode : opcodes)
      addStages(opcode);
    for (const auto &[opcode, times] : observed.ranks)
      if (median(times) > 0)
        measured.rank[opcode] = {seconds(median(times)), spreadOf(times)};
    result.name = run.name;
    addRates();
    addDispatch();
    addLink();
    if (run.cores != 0)
      result.cores = {static_cast<double>(run.cores), "that the run could use"};
    result.measured = std::move(measured);
    return std::move(result);
  }

private:
  void addStages(Opcode opcode) {
    std::vector<StageTime> times;
    double spread = 0;
    for (const auto &[key, lasted] : observed.stages) {
      if (key.second != opcode)
        continue;
      const verify::StageView &stage = table.stages()[key.first];
      times.push_back({plan.models[stage.model].stages[stage.stage], seconds(median(lasted)),
                       spreadOf(lasted)});
      spread = std::max(spread, times.back().spread);
    }
    if (isEmpty(model.family)) {
      double besides = 0;
      for (const StageTime &time : times)
        besides += std::max(0.0, time.seconds - declaredSeconds(model, opcode)) /
                   static_cast<double>(times.size());
      measured.stage[opcode] = {besides, spread};
      return;
    }
    if (opcode == Opcode::BackwardInput || opcode == Opcode::BackwardWeight)
      addHalves(opcode, times);
    const PartWork work = workOf(model, caps, opcode, plan::sharersOf(plan, plan.models[0]));
    const FittedParts parts = fitParts(times, work);
    const PartWeights weights = weightsOf(work);
    if (weights.layer > 0)
      measured.layer[opcode] = {parts.layer, spread};
    if (weights.embedding > 0)
      measured.embedding[opcode] = {parts.embedding};
    if (weights.head > 0)
      measured.head[opcode] = {parts.head};
    if (weights.layer + weights.embedding == 0)
      measured.head[opcode].spread = spread; // a stage's loss is the head's
  }

  /// Of stages that only have whole backwards, the half as large as where both were seen.
  void addHalves(Opcode half, std::vector<StageTime> &times) const {
    const auto timeOf = [&](std::uint32_t stage, Opcode opcode) {
      const auto found = observed.stages.find({stage, opcode});
      return found == observed.stages.end() ? 0 : median(found->second);
    };
    std::int64_t ofHalf = 0, ofBoth = 0;
    for (std::uint32_t stage = 0; stage < table.stages().size(); ++stage) {
      const std::int64_t input = timeOf(stage, Opcode::BackwardInput),
                         weight = timeOf(stage, Opcode::BackwardWeight);
      if (input != 0 && weight != 0) {
        ofHalf += half == Opcode::BackwardInput ? input : weight;
        ofBoth += input + weight;
      }
    }
    const double share =
        ofBoth == 0 ? 0.5 : static_cast<double>(ofHalf) / static_cast<double>(ofBoth);
    for (std::uint32_t stage = 0; stage < table.stages().size(); ++stage)
      if (const std::int64_t whole = timeOf(stage, Opcode::Backward);
          whole != 0 && timeOf(stage, half) == 0) {
        const verify::StageView &view = table.stages()[stage];
        times.push_back({plan.models[view.model].stages[view.stage], share * seconds(whole),
                         spreadOf(observed.stages.at({stage, Opcode::Backward}))});
      }
  }

  // ---- figures ----

  /// What a layer's forward and its update reached: for what was not measured, a roofline.
  void addRates() {
    const auto rate = [&](Opcode opcode, double Work::*amount) {
      const auto found = measured.layer.find(opcode);
      const Work work = workOf(model, caps, opcode, plan::sharersOf(plan, plan.models[0])).layer;
      return found == measured.layer.end() || found->second.seconds == 0 || work.*amount == 0
                 ? 0
                 : work.*amount / found->second.seconds;
    };
    if (const double flops = rate(Opcode::Forward, &Work::flops); flops > 0) {
      Figure &peak = model.type == DataType::Float64    ? result.float64
                     : model.type == DataType::BFloat16 ? result.bfloat16
                                                        : result.float32;
      peak = {flops, "measured: a layer's forward"};
      result.share = {1, "measured as it is reached"};
    }
    if (const double bytes = rate(Opcode::Optimize, &Work::bytes); bytes > 0) {
      result.bandwidth = {bytes, "measured: the optimizer of a layer"};
      result.bandwidthShare = {1, "measured as it is reached"};
    }
  }

  std::string sourceOf(const std::vector<std::int64_t> &times, const std::string &what) const {
    return fmt::format("measured: median of {} {}, half of them {} to {}", times.size(), what,
                       printFigure(FigureKind::Seconds, seconds(quantile(times, 0.25))),
                       printFigure(FigureKind::Seconds, seconds(quantile(times, 0.75))));
  }

  void addDispatch() {
    if (!observed.dispatch.empty())
      result.dispatch = {seconds(std::max<std::int64_t>(0, median(observed.dispatch))),
                         sourceOf(observed.dispatch, "steps from action to action")};
  }

  /// Messages of sizes far apart say latency and bandwidth, of one size how long such a one takes.
  void addLink() {
    std::map<std::uint64_t, std::vector<std::int64_t>> bySize = observed.boundaries;
    for (const auto &[bytes, times] : observed.messages)
      bySize[bytes].insert(bySize[bytes].end(), times.begin(), times.end());
    const auto isMany = [](const auto &size) { return size.second.size() >= kFew; };
    if (std::any_of(bySize.begin(), bySize.end(), isMany))
      std::erase_if(bySize, [&](const auto &size) { return !isMany(size); });
    if (bySize.empty())
      return;
    const auto &[least, ofLeast] = *bySize.begin();
    const auto &[most, ofMost] = *bySize.rbegin();
    const std::int64_t longer = median(ofMost) - median(ofLeast);
    if (most >= kFactor * least && most - least >= kDifference && longer > 0) {
      const double perByte = seconds(longer) / static_cast<double>(most - least);
      result.nodeBandwidth = {1 / perByte,
                              fmt::format("measured: {} messages of {} bytes against {} of {}",
                                          ofMost.size(), most, ofLeast.size(), least)};
      result.nodeLatency = {
          std::max(0.0, seconds(median(ofLeast)) - perByte * static_cast<double>(least)),
          sourceOf(ofLeast, fmt::format("messages of {} bytes", least))};
      return;
    }
    result.nodeLatency = {
        seconds(median(ofMost)),
        sourceOf(ofMost, fmt::format("messages of {} bytes; no others tell what a "
                                     "byte takes",
                                     most))};
  }

  const plan::Plan &plan;
  const verify::ActionTable &table;
  const ObservedTimes &observed;
  const CalibratedRun &run;
  const ModelConfig &model;
  const MicrobatchCaps caps;
  Measurements measured;
  Machine result;
};

} // namespace

Machine calibrated(const verify::ActionTable &table, const ObservedTimes &observed,
                   const CalibratedRun &run) {
  return Calibration(table, observed, run).machine();
}

} // namespace vime
