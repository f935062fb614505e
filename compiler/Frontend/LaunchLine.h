// LaunchLine: the flags that a launch script of vime or slime gives to its training program.
//
//   LaunchLine launch = readLaunch("python3 train.py --colocate --rollout-batch-size 32 \\\n …");
//   launch.find("rollout-batch-size")->values   // {"32"}
//
// Words are split as a shell does it: quotes, comments, arrays, lines that go on. Variables that
// the text itself sets are put in; nothing is run, and what else is a variable stays one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vime {

struct LaunchFlag {
  std::string name; // without dashes, `_` as `-`
  std::vector<std::string> values;
  int line = 1;
};

struct LaunchLine {
  std::vector<LaunchFlag>
      flags; // in order; of a name that stands several times the last one counts
  std::vector<std::string> programs; // words that end in `.py`

  /// Null: it is not there.
  const LaunchFlag *find(std::string_view name) const;
};

/// Whether a text has flags at all: tables of orders have none.
bool isLaunch(std::string_view text);

LaunchLine readLaunch(std::string_view text);

} // namespace vime
