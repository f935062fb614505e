// CheckParts: the pieces of `checkPlan`, one file each. Every one relies on those above it having
// passed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/Base/Status.h"
#include "runtime/Plan/Plan.h"

namespace vime::plan {

/// CheckCommon.cpp: mesh, groups, models, settings, bindings, stage tables, connect rounds,
/// predictions, origins.
Status checkCommon(const Plan &plan);

/// CheckRound.cpp: settings of rounds, of a plan whose mesh and data have been checked.
Status checkRound(const Plan &plan);

/// CheckLayout.cpp: the buffers of a rank that stands for others (Mesh.h).
Status checkLayout(const Plan &plan, std::uint32_t rank);

/// By buffer: whether another one lies on some of its bytes.
std::vector<bool> buffersThatShare(const Layout &layout);
bool shareBytes(const Buffer &one, const Buffer &other);

/// CheckProgram.cpp: lanes, loops and actions of such a rank, and (OperandRules.h) the buffers its
/// actions name.
Status checkProgram(const Plan &plan, std::uint32_t rank);

/// CheckText.cpp: UTF-8 without control characters; in texts of several lines, tabs and line ends
/// are fine.
bool isCleanText(std::string_view text, bool lines = false);

inline Status unacceptable(std::string sentence) {
  return Status(StatusCode::Unacceptable, std::move(sentence));
}

// More than any cluster, job or machine has: beyond them a number is damage, not a plan, and sums
// may overflow.
inline constexpr std::uint64_t kMostRanks = 1 << 20, kMostMicrobatches = 1 << 20,
                               kMostTokens = std::uint64_t{1} << 31, kMostSlices = 64,
                               kMostMessage = std::uint64_t{1} << 31,
                               kMostBytes = std::uint64_t{1} << 50;

} // namespace vime::plan
