// FigureText: a figure of a machine as its file writes it.
//
//   parseFigure(FigureKind::Flops, "989 TFLOP/s")      // 9.89e14
//   printFigure(FigureKind::Bandwidth, 3.35e12)        // "3.35 TB/s"
//
// Rates are decimal, as data sheets have them; sizes and durations are those of a job.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "compiler/Frontend/Value.h"
#include "compiler/Machine/Machine.h"

namespace vime {

std::variant<double, ValueProblem> parseFigure(FigureKind kind, std::string_view text);

/// With at most four digits that matter.
std::string printFigure(FigureKind kind, double value);

} // namespace vime
