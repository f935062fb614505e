// readMachine: the text of a machine's file to a Machine, or to everything that is wrong with it.
//
//   Findings findings;
//   std::optional<Machine> machine = readMachine(text, "machine.yaml", findings);
//
// As strict as a job: unknown keys, wrong units, figures without a source are errors at their
// place.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Machine/Machine.h"

namespace vime {

/// A machine if and only if nothing was found. `file` names the text in messages.
std::optional<Machine> readMachine(std::string_view text, const std::string &file,
                                   Findings &findings);

/// The numbers of a measured model and microbatch, as both the reader and the printer know them.
struct ModelNumber {
  std::string_view key;
  std::uint32_t ModelConfig::*number;
};
struct MicrobatchNumber {
  std::string_view key;
  std::uint32_t MicrobatchCaps::*number;
};
std::span<const ModelNumber> modelNumbers();
std::span<const MicrobatchNumber> microbatchNumbers();

/// The parts that measured times are of: `layer`, …, `rank`.
struct MeasuredPart {
  std::string_view key;
  MeasuredTimes Measurements::*times;
};
std::span<const MeasuredPart> measuredParts();

} // namespace vime
