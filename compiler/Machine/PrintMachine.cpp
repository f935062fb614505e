#include "compiler/Machine/PrintMachine.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Frontend/FieldTable.h"
#include "compiler/Machine/FigureText.h"
#include "compiler/Machine/MeasuredKeys.h"

namespace vime {

namespace {

using Json = nlohmann::ordered_json;

/// In quotes where YAML would read something else.
std::string yamlText(const std::string &text) {
  std::string quoted = "'";
  for (const char letter : text)
    quoted += letter == '\'' ? "''" : std::string(1, letter);
  return quoted + '\'';
}

std::string_view nameOfOpcode(plan::Opcode opcode) {
  return plan::findSignature(plan::code(opcode))->name;
}

std::string modelText(const ModelConfig &model) {
  std::string text = fmt::format("family: {}, dtype: {}, kernels: {}, recompute: {}",
                                 nameOf(model.family), nameOf(model.type), nameOf(model.kernels),
                                 model.recomputesLayers ? "layer" : "none");
  for (const auto &row : kModelNumbers)
    text += fmt::format(", {}: {}", row.key, model.*row.number);
  return text;
}

std::string microbatchText(const MicrobatchCaps &caps) {
  std::string text;
  for (const auto &row : kMicrobatchNumbers)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", row.key, caps.*row.number);
  return text;
}

std::string measuredText(const Measurements &measured) {
  std::string text = fmt::format("measured:\n  source: {}\n  model: {{{}}}\n  microbatch: {{{}}}\n",
                                 yamlText(measured.source), modelText(measured.model),
                                 microbatchText(measured.microbatch));
  for (const MeasuredPart &part : kMeasuredParts) {
    const MeasuredTimes &times = measured.*part.times;
    if (!times.empty())
      text += fmt::format("  {}:\n", part.key);
    for (const auto &[opcode, time] : times)
      text += fmt::format("    {}: {{value: {}{}}}\n", nameOfOpcode(opcode),
                          printFigure(FigureKind::Seconds, time.seconds),
                          time.spread ? fmt::format(", spread: {:.3g}", *time.spread) : "");
  }
  return text;
}

Json jsonOf(const Measurements &measured) {
  Json model{{"family", nameOf(measured.model.family)},
             {"dtype", nameOf(measured.model.type)},
             {"kernels", nameOf(measured.model.kernels)},
             {"recompute", measured.model.recomputesLayers ? "layer" : "none"}};
  for (const auto &row : kModelNumbers)
    model[std::string(row.key)] = measured.model.*row.number;
  Json microbatch;
  for (const auto &row : kMicrobatchNumbers)
    microbatch[std::string(row.key)] = measured.microbatch.*row.number;
  Json times = Json::array();
  for (const MeasuredPart &part : kMeasuredParts)
    for (const auto &[opcode, time] : measured.*part.times) {
      times.push_back(
          {{"of", part.key}, {"what", nameOfOpcode(opcode)}, {"seconds", time.seconds}});
      if (time.spread)
        times.back()["spread"] = *time.spread;
    }
  return {
      {"source", measured.source}, {"model", model}, {"microbatch", microbatch}, {"times", times}};
}

const char *unitOf(FigureKind kind) {
  constexpr const char *kUnits[] = {"FLOP/s", "B/s", "B", "s", "", ""};
  return kUnits[static_cast<std::size_t>(kind)];
}

} // namespace

std::string printMachine(const Machine &machine) {
  std::string text = fmt::format("kind: machine\nversion: 1\nname: {}\n", machine.name);
  std::string_view section;
  for (const MachineField &field : machineFields()) {
    const Figure &figure = machine.*field.figure;
    if (!figure.isKnown())
      continue;
    if (section != sectionOf(field.path))
      text += fmt::format("{}:\n", section = sectionOf(field.path));
    text += fmt::format("  {}: {{value: {}, source: {}}}\n", field.path.substr(section.size() + 1),
                        printFigure(field.kind, figure.value), yamlText(figure.source));
  }
  return machine.measured ? text + measuredText(*machine.measured) : text;
}

std::string machineJson(const Machine &machine) {
  Json figures = Json::array();
  for (const MachineField &field : machineFields())
    if (const Figure &figure = machine.*field.figure; figure.isKnown())
      figures.push_back({{"path", field.path},
                         {"value", figure.value},
                         {"unit", unitOf(field.kind)},
                         {"text", printFigure(field.kind, figure.value)},
                         {"source", figure.source}});
  Json json{{"format", "vime-machine"},
            {"format_version", 1},
            {"name", machine.name},
            {"figures", figures}};
  if (machine.measured)
    json["measured"] = jsonOf(*machine.measured);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace vime
