// The machines that come with the compiler, and how figures and files are read and printed.
#include "compiler/Machine/Profiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Machine/FigureText.h"
#include "compiler/Machine/PrintMachine.h"
#include "compiler/Machine/ReadMachine.h"

namespace vime {
namespace {

Machine read(std::string_view text) {
  Findings findings;
  SourceCache sources;
  sources.add("machine.yaml", std::string(text));
  const auto machine = readMachine(text, "machine.yaml", findings);
  EXPECT_TRUE(machine.has_value()) << renderText(findings, sources);
  return machine.value_or(Machine{});
}

TEST(Profiles, AreMachinesThatSayWhatDecodersNeed) {
  std::vector<std::string_view> names;
  for (const MachineProfile &profile : machineProfiles()) {
    names.push_back(profile.name);
    const Machine machine = read(profile.text);
    EXPECT_EQ(machine.name, profile.name);
    EXPECT_TRUE(profile.text.starts_with("# ")) << profile.name;
    for (Figure Machine::*figure : {&Machine::float32, &Machine::float64, &Machine::bfloat16,
                                    &Machine::share, &Machine::bandwidth, &Machine::bandwidthShare,
                                    &Machine::nodeBandwidth, &Machine::nodeLatency})
      EXPECT_TRUE((machine.*figure).isKnown()) << profile.name << " " << fieldOf(figure).path;
  }
  EXPECT_THAT(names, testing::ElementsAre("a100-80g", "cpu", "gb200", "h100-80g", "h200"));
  EXPECT_EQ(findProfile("h100"), nullptr);
}

TEST(Profiles, WhatIsPrintedIsReadBack) {
  for (const MachineProfile &profile : machineProfiles()) {
    const std::string text = printMachine(read(profile.text));
    EXPECT_EQ(printMachine(read(text)), text) << profile.name;
    for (const MachineField &field : machineFields())
      EXPECT_EQ((read(text).*field.figure).value, (read(profile.text).*field.figure).value)
          << field.path;
  }
}

TEST(Profiles, MeasurementsArePrintedAndReadBack) {
  Machine machine = read(findProfile("cpu")->text);
  Measurements measured{.source = "a run: it's mine",
                        .model = {.family = ModelFamily::Qwen3,
                                  .type = DataType::BFloat16,
                                  .hidden = 64,
                                  .heads = 4,
                                  .kvHeads = 2,
                                  .headWidth = 16,
                                  .ffn = 172,
                                  .vocab = 256,
                                  .recomputesLayers = true},
                        .microbatch = {.tokens = 512, .segments = 4, .segmentTokens = 128},
                        .stage = {},
                        .layer = {{plan::Opcode::Forward, {.seconds = 0.0125, .spread = 0.03}}},
                        .embedding = {},
                        .head = {},
                        .rank = {{plan::Opcode::Clip, {.seconds = 3e-6, .spread = 0.5}}}};
  machine.measured = measured;
  const Machine again = read(printMachine(machine));
  ASSERT_TRUE(again.measured);
  EXPECT_EQ(again.measured->source, measured.source);
  EXPECT_EQ(again.measured->model, measured.model);
  EXPECT_EQ(again.measured->microbatch.segmentTokens, 128U);
  EXPECT_EQ(again.measured->layer, measured.layer);
  EXPECT_EQ(again.measured->rank, measured.rank);
  EXPECT_TRUE(again.measured->head.empty());
}

TEST(Profiles, FiguresHaveUnits) {
  const auto value = [](FigureKind kind, const char *text) {
    const auto parsed = parseFigure(kind, text);
    return std::holds_alternative<double>(parsed) ? std::get<double>(parsed) : -1;
  };
  EXPECT_EQ(value(FigureKind::Flops, "989 TFLOP/s"), 989e12);
  EXPECT_EQ(value(FigureKind::Bandwidth, "3.35 TB/s"), 3.35e12);
  EXPECT_EQ(value(FigureKind::Seconds, "3 us"), 3e-6);
  EXPECT_EQ(value(FigureKind::Bytes, "80GiB"), 80.0 * (1 << 30));
  for (const char *text : {"989", "989 TB/s", "-1 TFLOP/s", "0 TFLOP/s", "", "TFLOP/s",
                           "1e300 TFLOP/s", "nan TFLOP/s"})
    EXPECT_EQ(value(FigureKind::Flops, text), -1) << text;
  EXPECT_EQ(printFigure(FigureKind::Flops, 989e12), "989 TFLOP/s");
  EXPECT_EQ(printFigure(FigureKind::Bandwidth, 2.0391234e12), "2.039 TB/s");
  EXPECT_EQ(printFigure(FigureKind::Seconds, 0.012345678), "12.35 ms");
  EXPECT_EQ(printFigure(FigureKind::Seconds, 0), "0 ns");
  EXPECT_EQ(printFigure(FigureKind::Share, 0.45), "0.45");
}

} // namespace
} // namespace vime
