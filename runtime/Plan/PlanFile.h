// PlanFile: plans as bytes. The compiler writes one file, every rank reads its part of it.
//
//   Status written = writePlan(plan, "plan.bin");
//   StatusOr<Plan> whole = readPlan("plan.bin");              // tools: everything, every hash
//   StatusOr<RankPlan> mine = readRankPlan("plan.bin", 3);    // a rank: what it needs
//
// What the bytes mean is in compiler/docs/plan-format.md. Whatever a reader returns has passed
// `checkPlan` (CheckPlan.h). Failures: File when the file cannot be opened, read or written;
// Unacceptable, with a sentence that says what is wrong, when its bytes are not a plan that this
// program can run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/Base/Status.h"
#include "runtime/Plan/Plan.h"

namespace vime::plan {

/// What a rank needs. Of other ranks' programs it has the stage tables, of their layouts nothing;
/// indices hold all the same. `job`, `predictions` and `origins`, which no rank reads, are empty.
struct RankPlan {
  Plan plan;
  std::uint32_t rank = 0;
  Hash128 id{};
};

/// The same plan gives the same bytes. The plan is not checked.
std::string serializePlan(const Plan &plan);

/// Checks the plan (Internal if it could not be read back), then replaces `path` at once: whoever
/// opens it sees the old file or the new one, and after a failure the old one is still there and
/// nothing else.
Status writePlan(const Plan &plan, const std::string &path);

StatusOr<Plan> readPlan(const std::string &path);
StatusOr<RankPlan> readRankPlan(const std::string &path, std::uint32_t rank);

/// The same from memory.
StatusOr<Plan> parsePlan(std::string_view bytes);
StatusOr<RankPlan> parseRankPlan(std::string_view bytes, std::uint32_t rank);

/// Names what the plan makes ranks do: equal for plans that differ only in compiler version and
/// origins.
Hash128 planId(const Plan &plan);

/// 32 hexadecimal digits, the high half first, as `xxhsum -H128` prints.
std::string toHex(const Hash128 &hash);

} // namespace vime::plan
