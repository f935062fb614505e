#include "compiler/Machine/PartTimes.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "compiler/Machine/FigureText.h"
#include "compiler/Machine/MeasuredKeys.h"
#include "compiler/Machine/SleepTimes.h"

namespace vime {

using plan::Opcode;

StatusOr<double> figureOf(const Machine &machine, Figure Machine::*figure, UsedFigures &used) {
  const std::string_view path = fieldOf(figure).path;
  if ((machine.*figure).isKnown()) {
    used.insert(path);
    return (machine.*figure).value;
  }
  return Status(StatusCode::InvalidInput,
                fmt::format("machine `{}` does not say `{}`\nhelp: add it with its source, or "
                            "measure: `vimec calibrate job.yaml -o machine.yaml`",
                            machine.name, path));
}

Figure Machine::*peakOf(DataType type) {
  return type == DataType::Float64    ? &Machine::float64
         : type == DataType::BFloat16 ? &Machine::bfloat16
                                      : &Machine::float32;
}

StatusOr<Rate> rateOf(const Machine &machine, Figure Machine::*peak, Figure Machine::*share,
                      UsedFigures &used) {
  const StatusOr<double> whole = figureOf(machine, peak, used);
  if (!whole.ok())
    return whole.status();
  const StatusOr<double> part = figureOf(machine, share, used);
  if (!part.ok())
    return part.status();
  return Rate{*whole * *part, fmt::format("{} × {}", printFigure(fieldOf(peak).kind, *whole),
                                          printFigure(FigureKind::Share, *part))};
}

namespace {

// ---- the roofline ---------------------------------------------------------------------------------------------------

StatusOr<PartTimes> roofline(const Machine &machine, DataType type, const PartWork &work,
                             UsedFigures &used) {
  Rate flops, bytes;
  if (work.layer.flops + work.head.flops > 0) {
    StatusOr<Rate> rate = rateOf(machine, peakOf(type), &Machine::share, used);
    if (!rate.ok())
      return rate.status();
    flops = std::move(*rate);
  }
  StatusOr<Rate> rate = rateOf(machine, &Machine::bandwidth, &Machine::bandwidthShare, used);
  if (!rate.ok())
    return rate.status();
  bytes = std::move(*rate);
  const auto isComputed = [&](Work part) {
    return part.flops > 0 && part.flops / flops.value >= part.bytes / bytes.value;
  };
  const auto seconds = [&](Work part) {
    return isComputed(part) ? part.flops / flops.value : part.bytes / bytes.value;
  };
  const Work main = work.layer.bytes > 0 ? work.layer : work.head;
  return PartTimes{.layer = seconds(work.layer),
                   .embedding = seconds(work.embedding),
                   .head = seconds(work.head),
                   .origin = isComputed(main) ? "operations / (" + flops.text + ")"
                                              : "bytes / (" + bytes.text + ")"};
}

// ---- what was measured ----------------------------------------------------------------------------------------------

PartTimes measuredPart(const Measurements &measured, Opcode opcode) {
  const auto in = [&](const MeasuredTimes &times) {
    const auto found = times.find(opcode);
    return found == times.end() ? 0 : found->second.seconds;
  };
  return {.layer = in(measured.layer),
          .embedding = in(measured.embedding),
          .head = in(measured.head),
          .origin = "measured"};
}

/// Of any part; whether of all is for `missingPart` to say.
bool knows(const Measurements &measured, Opcode opcode) {
  return measured.layer.contains(opcode) || measured.embedding.contains(opcode) ||
         measured.head.contains(opcode);
}

/// What was not measured, and what it is taken from in the proportion of the work.
struct Relative {
  Opcode wanted, from;
};
constexpr std::array kRelatives = {
    Relative{Opcode::Evaluate, Opcode::Forward},
    Relative{Opcode::EvaluateLoss, Opcode::Loss},
    Relative{Opcode::Infer, Opcode::Forward},
    Relative{Opcode::PolicyLoss, Opcode::Loss},
    Relative{Opcode::LogProbabilities, Opcode::Loss},
    Relative{Opcode::BackwardInput, Opcode::Backward},
    Relative{Opcode::BackwardWeight, Opcode::Backward},
    Relative{Opcode::OptimizeEarly, Opcode::Optimize},
    Relative{Opcode::Redo, Opcode::Optimize},
    Relative{Opcode::Optimize, Opcode::OptimizeEarly},
    Relative{Opcode::ScaleGradients, Opcode::Optimize},
    Relative{Opcode::SquareNorm, Opcode::Optimize},
};

/// The measured time in the proportion of the work.
double scaled(double seconds, Work measured, Work wanted) {
  if (weightOf(measured) == weightOf(wanted))
    return seconds;
  return weightOf(measured) == 0 ? 0 : seconds * weightOf(wanted) / weightOf(measured);
}

struct Sizes {
  const ModelConfig &model;
  const MicrobatchCaps &caps;
  std::uint32_t sharers;
};

PartTimes scaled(const Measurements &measured, Opcode from, Opcode wanted, const Sizes &sizes) {
  const PartTimes times = measuredPart(measured, from);
  const PartWork was = workOf(measured.model, measured.microbatch, from);
  const PartWork is = workOf(sizes.model, sizes.caps, wanted, sizes.sharers);
  return {.layer = scaled(times.layer, was.layer, is.layer),
          .embedding = scaled(times.embedding, was.embedding, is.embedding),
          .head = scaled(times.head, was.head, is.head),
          .origin = from == wanted ? std::string("measured")
                                   : fmt::format("by the work from measured {}",
                                                 plan::findSignature(plan::code(from))->name)};
}

/// What is different, "hidden 256, 512 tokens"; empty if nothing is.
std::string differenceOf(const Measurements &measured, const Sizes &sizes) {
  std::string text;
  const auto add = [&](const std::string &part) { text += (text.empty() ? "" : ", ") + part; };
  if (measured.model.family != sizes.model.family)
    add(nameOf(measured.model.family));
  for (const auto &row : kModelNumbers)
    if (measured.model.*row.number != sizes.model.*row.number)
      add(fmt::format("{} {}", row.key, measured.model.*row.number));
  if (measured.model.recomputesLayers != sizes.model.recomputesLayers)
    add(measured.model.recomputesLayers ? "recompute layer" : "recompute none");
  for (const auto &row : kMicrobatchNumbers)
    if (row.number != &MicrobatchCaps::segments &&
        measured.microbatch.*row.number != sizes.caps.*row.number)
      add(fmt::format("{} {}", row.key, measured.microbatch.*row.number));
  return text;
}

/// The measured actions that this one's time adds up or is scaled from; empty if there are none.
std::vector<Opcode> sourcesOf(const Measurements &measured, Opcode opcode) {
  if (knows(measured, opcode))
    return {opcode};
  if (opcode == Opcode::Backward && knows(measured, Opcode::BackwardInput) &&
      knows(measured, Opcode::BackwardWeight))
    return {Opcode::BackwardInput, Opcode::BackwardWeight};
  for (const Relative &relative : kRelatives)
    if (relative.wanted == opcode && knows(measured, relative.from))
      return {relative.from};
  return {};
}

/// A part that has work of the action and that the file does not have: `layer`; or empty.
std::string_view missingPart(const Measurements &measured, Opcode opcode) {
  const PartWeights weights = weightsOf(workOf(measured.model, measured.microbatch, opcode));
  if (weights.layer > 0 && !measured.layer.contains(opcode))
    return "layer";
  if (weights.embedding > 0 && !measured.embedding.contains(opcode))
    return "embedding";
  return weights.head > 0 && !measured.head.contains(opcode) ? "head" : "";
}

/// `sources` is not empty.
StatusOr<PartTimes> fromMeasured(const Machine &machine, const std::vector<Opcode> &sources,
                                 Opcode opcode, const Sizes &sizes) {
  const Measurements &measured = *machine.measured;
  for (const Opcode source : sources)
    if (const std::string_view part = missingPart(measured, source); !part.empty())
      return Status(StatusCode::InvalidInput,
                    fmt::format("machine `{}` does not say `measured.{}.{}`\nhelp: add it, or "
                                "measure again: `vimec calibrate job.yaml -o machine.yaml`",
                                machine.name, part, plan::findSignature(plan::code(source))->name));
  if (sources.size() == 1)
    return scaled(measured, sources.front(), opcode, sizes);
  const PartTimes input = scaled(measured, sources[0], sources[0], sizes),
                  weight = scaled(measured, sources[1], sources[1], sizes);
  return PartTimes{.layer = input.layer + weight.layer,
                   .embedding = input.embedding + weight.embedding,
                   .head = input.head + weight.head,
                   .origin = "measured backward_input + backward_weight"};
}

Status calibrateIt(const std::string &why) {
  return Status(StatusCode::InvalidInput,
                why + "\nhelp: measure this job: `vimec calibrate job.yaml -o machine.yaml`");
}

/// What of the measurements makes no sense for the model.
Status objection(const Machine &machine, const ModelConfig &model) {
  const ModelConfig &measured = machine.measured->model;
  if (!isDecoder(measured.family))
    return calibrateIt(
        fmt::format("machine `{}` was measured with a user's module, of which nothing "
                    "follows for another model",
                    machine.name));
  if (measured.type != model.type)
    return calibrateIt(fmt::format("machine `{}` was measured in {}, the plan computes in {}",
                                   machine.name, nameOf(measured.type), nameOf(model.type)));
  if (measured.kernels != model.kernels)
    return calibrateIt(
        fmt::format("machine `{}` was measured with {} kernels, the plan has {} ones", machine.name,
                    nameOf(measured.kernels), nameOf(model.kernels)));
  return Status();
}

StatusOr<PartTimes> userStage(const Machine &machine, Opcode opcode, const Sizes &sizes) {
  if (!machine.measured || machine.measured->model.family != ModelFamily::TorchScript)
    return calibrateIt("what the stages of a user's module cost is not known: nothing follows from "
                       "their sizes");
  if (const std::string other = differenceOf(*machine.measured, sizes); !other.empty())
    return calibrateIt(fmt::format("machine `{}` was measured with another module or microbatch "
                                   "({}), from which nothing follows",
                                   machine.name, other));
  const std::vector<Opcode> sources = sourcesOf(*machine.measured, opcode);
  if (!sources.empty() && (knows(*machine.measured, opcode) || opcode == Opcode::Backward ||
                           opcode == Opcode::Evaluate || opcode == Opcode::EvaluateLoss))
    return fromMeasured(machine, sources, opcode, sizes);
  return calibrateIt(fmt::format("machine `{}` was not measured with `{}`", machine.name,
                                 plan::findSignature(plan::code(opcode))->name));
}

} // namespace

StatusOr<PartTimes> partTimes(const Machine &machine, const ModelConfig &model,
                              const MicrobatchCaps &caps, std::uint32_t sharers, Opcode opcode,
                              UsedFigures &used) {
  const Sizes sizes{model, caps, sharers};
  if (model.family == ModelFamily::TorchScript)
    return userStage(machine, opcode, sizes);
  if (machine.measured && !isEmpty(machine.measured->model.family)) {
    if (const Status status = objection(machine, model); !status.ok())
      return status;
    if (const auto sources = sourcesOf(*machine.measured, opcode); !sources.empty()) {
      StatusOr<PartTimes> times = fromMeasured(machine, sources, opcode, sizes);
      const std::string other = differenceOf(*machine.measured, sizes);
      if (times.ok() && !other.empty())
        times->origin += fmt::format(", scaled by the work from {}", other);
      return times;
    }
  }
  return roofline(machine, model.type, workOf(model, caps, opcode, sharers), used);
}

} // namespace vime
