// ZeroBubbleCell: what one cell says in the notation of the zero-bubble family, which names chunks
// of a rank where PyTorch names stages.
//
//   cell     := "" | task | "[" task "&" task "]" | "{" transfer ("+" transfer)* "}"
//   task     := ("F" | "B" | "W" | "BW") microbatch "." chunk ["s" slice]     B: the input gradient
//   transfer := ("SF" | "RF" | "SB" | "RB") microbatch "." chunk ["s" slice]
#pragma once

#include "schedules/TableCell.h"

namespace vime {

/// As `readCell`; the stage of an entry is a chunk of its rank.
std::variant<Cell, TableProblem> readZeroBubbleCell(std::string_view cell);

/// Whether a table whose first cell this is must be one of these.
bool isZeroBubbleCell(std::string_view cell);

} // namespace vime
