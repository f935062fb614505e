#include "compiler/Machine/Machine.h"

#include <algorithm>
#include <array>

namespace vime {

namespace {

using enum FigureKind;
constexpr std::array kFields = {
    MachineField{"device.float32", Flops, &Machine::float32, "dense peak of products in float32"},
    MachineField{"device.float64", Flops, &Machine::float64, "dense peak of products in float64"},
    MachineField{"device.bfloat16", Flops, &Machine::bfloat16,
                 "dense peak of products in bfloat16"},
    MachineField{"device.share", Share, &Machine::share,
                 "share of the peak that a stage's products and attention reach"},
    MachineField{"device.memory", Bytes, &Machine::memory, "memory of a rank's device"},
    MachineField{"device.bandwidth", Bandwidth, &Machine::bandwidth, "peak of that memory"},
    MachineField{"device.bandwidth_share", Share, &Machine::bandwidthShare,
                 "share of that peak that a stage reaches"},
    MachineField{"device.dispatch", Seconds, &Machine::dispatch,
                 "what a rank needs to start any action"},
    MachineField{"engine.step", Seconds, &Machine::engineStep,
                 "what an engine's step takes besides its tokens"},
    MachineField{"engine.token", Seconds, &Machine::engineToken,
                 "what each token of an engine's step takes"},
    MachineField{"host.memory", Bytes, &Machine::hostMemory,
                 "memory that the ranks of a node share"},
    MachineField{"host.link", Bandwidth, &Machine::hostLink,
                 "between a rank's device and its host, one way"},
    MachineField{"host.disk", Bandwidth, &Machine::disk, "what a node writes and reads"},
    MachineField{"node.ranks", Count, &Machine::ranks,
                 "ranks of a node; without it all are on one"},
    MachineField{"node.cores", Count, &Machine::cores,
                 "cores that the ranks of a node share; without it each has its own"},
    MachineField{"node.bandwidth", Bandwidth, &Machine::nodeBandwidth,
                 "between two ranks of a node, one way"},
    MachineField{"node.latency", Seconds, &Machine::nodeLatency,
                 "of a message between two ranks of a node"},
    MachineField{"network.bandwidth", Bandwidth, &Machine::networkBandwidth,
                 "between two ranks of different nodes, one way"},
    MachineField{"network.latency", Seconds, &Machine::networkLatency,
                 "of a message between two ranks of different nodes"},
};

} // namespace

std::span<const MachineField> machineFields() { return kFields; }

const MachineField &fieldOf(Figure Machine::*figure) {
  return *std::find_if(kFields.begin(), kFields.end(),
                       [&](const MachineField &field) { return field.figure == figure; });
}

} // namespace vime
