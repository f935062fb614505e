// OrderFile: the table that an order is read from, as a file.
//
//   StatusOr<std::string> text = readTableFile("mine.csv");
//   std::optional<OrderTable> table = judgedTable(*text, "mine.csv", findings);
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/Diagnostics/Findings.h"
#include "compiler/Diagnostics/SourceCache.h"
#include "compiler/Frontend/Draft.h"
#include "runtime/Base/Status.h"
#include "schedules/OrderTable.h"

namespace vime {

/// The whole file (`-` is standard input), or why not.
StatusOr<std::string> readTableFile(const std::string &path);

/// Nothing, and what is wrong, if it cannot be read or is not legal. `file` is what findings call
/// it; `placement` as `readTable` takes it.
std::optional<OrderTable> judgedTable(std::string_view text, const std::string &file,
                                      Findings &findings, std::string_view placement = {});

/// XXH3-128 of the table's bytes, as hexadecimal digits.
std::string hashOfTable(std::string_view text);

/// If the draft's schedule is a table: reads and judges it, and takes from it what the job leaves
/// out. Its text goes to `sources`, which may be null.
void readOrderOf(Draft &draft, SourceCache *sources);

} // namespace vime
