#include "compiler/Driver/TorchTable.h"

#include <iostream>

#include <fmt/format.h>

#include "compiler/Diagnostics/Utf8.h"
#include "schedules/Notation.h"
#include "schedules/TorchLowering.h"

namespace vime {

int printTorchTable(const std::string &name, const Schedule &order, const std::string &with,
                    const OutputOptions &output) {
  if (const auto reason = beyondTorch(order))
    return reportFailure(
        Status(StatusCode::InvalidInput,
               fmt::format("`{}` is beyond PyTorch's notation: {}", printable(name), *reason)),
        output, "`--format=grid` shows it");
  if (with.empty())
    std::cout << toCsv(order);
  else
    std::cout << toCsv(with == "shards" ? withShards(order) : withTransfers(order));
  return 0;
}

} // namespace vime
