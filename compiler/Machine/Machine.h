// Machine: what a machine can do, each figure with its source, and what was measured on it.
//
//   kind: machine
//   version: 1
//   name: h100-80g
//   device:
//     bfloat16: {value: 989 TFLOP/s, source: NVIDIA H100 data sheet}
//
// Plain data. ReadMachine.h reads the file, Profiles.h has machines by name, MachineCosts.h says
// what the actions of a plan cost there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/ModelSpec/ModelSpec.h"
#include "runtime/Plan/Opcode.h"

namespace vime {

/// In its base unit: FLOP/s, bytes, bytes a second, seconds. Without a source it is not known.
struct Figure {
  double value = 0;
  std::string source;
  bool isKnown() const { return !source.empty(); }
};

struct MeasuredTime {
  double seconds = 0; // median
  // Half of all that were measured lie within this share of it; of what was not measured by itself,
  // nothing.
  std::optional<double> spread = std::nullopt;
  bool operator==(const MeasuredTime &) const = default;
};
using MeasuredTimes = std::map<plan::Opcode, MeasuredTime>;

/// What a run took for the parts of a model, so that any stage of it follows: `stage` + its layers
/// · `layer` + `embedding` and `head` where it has them.
struct Measurements {
  std::string source; // which run
  ModelConfig model;  // of it; without layers
  MicrobatchCaps microbatch;
  MeasuredTimes stage, layer, embedding, head;
  MeasuredTimes rank; // what belongs to no stage
};

struct Machine {
  std::string name;
  // Of one rank's device. Products and attention reach `share` of the peak of their type.
  Figure float32, float64, bfloat16, share;
  Figure memory, bandwidth, bandwidthShare;
  Figure dispatch;                // of any action
  Figure engineStep, engineToken; // of an engine: any step, and each token of it
  // Of the host that the ranks of a node share.
  Figure hostMemory, hostLink, disk;
  // Ranks of one node, the cores that they share, and what lies between two of them.
  Figure ranks, cores, nodeBandwidth, nodeLatency;
  Figure networkBandwidth, networkLatency; // between ranks of different nodes
  std::optional<Measurements> measured;
};

enum class FigureKind : std::uint8_t { Flops, Bandwidth, Bytes, Seconds, Share, Count };

struct MachineField {
  std::string_view path; // `device.bfloat16`
  FigureKind kind;
  Figure Machine::*figure;
  std::string_view sentence;
};

/// All figures, in the order of a file.
std::span<const MachineField> machineFields();

/// The row of a figure of the table above.
const MachineField &fieldOf(Figure Machine::*figure);

} // namespace vime
