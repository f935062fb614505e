#include "runtime/Exec/CheckRun.h"

#include <map>
#include <string>

#include <fmt/format.h>

#include "runtime/Exec/CertificateCheck.h"
#include "runtime/Exec/Coordinator.h"
#include "runtime/Exec/RankModel.h"
#include "runtime/Exec/RoundSources.h"
#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Transport/Agreement.h"
#include "runtime/Transport/Ends.h"

namespace vime {
namespace {

/// What the ranks would tell each other, compared in one place; those that stand for all are
/// enough.
Status checkAgreement(const plan::Plan &plan) {
  std::map<std::pair<std::string, std::uint32_t>, Claim> first; // by channel or group
  for (std::uint32_t rank = 0; rank < plan::representatives(plan.mesh); ++rank) {
    const StatusOr<RankEnds> ends = endsOf(plan, rank);
    if (!ends.ok())
      return ends.status();
    const std::vector<Claim> claims = claimsOf(plan, rank, {});
    for (std::size_t end = 0; end < claims.size(); ++end) {
      const End &stated = ends->ends[end];
      const std::string stream = describe(stated, rank);
      // A group has an instance for each coordinate along the other axes.
      const std::uint32_t instance = stated.members.empty() ? 0 : stated.members.front();
      const Claim &other = first.emplace(std::pair(stream, instance), claims[end]).first->second;
      if (other.stream != claims[end].stream)
        return Status(
            StatusCode::Unacceptable,
            fmt::format("rank {} and rank {} disagree about the times, bytes or types on {}",
                        other.rank, rank, stream));
    }
  }
  return Status();
}

} // namespace

Status checkRun(const plan::Plan &plan, const RunOptions &options) {
  const std::uint32_t ranks = plan::representatives(plan.mesh);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    if (Status status = checkCertificate(plan, rank); !status.ok())
      return status;
  if (Status status = checkAgreement(plan); !status.ok())
    return status;
  if (Status status = checkMemory(plan); !status.ok())
    return status;
  if (Status status = checkExport(plan, options.base); !status.ok())
    return status;
  if (Status status = checkSaving(plan, options); !status.ok())
    return status;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    if (StatusOr<RankModel> model = makeRankModel(plan, rank, options.base, options.isa);
        !model.ok())
      return model.status();
  if (plan::hasRounds(plan)) {
    const StatusOr<RoundSources> rounds = openRounds(plan, options.base, options.replay);
    return rounds.ok() ? Status() : rounds.status();
  }
  if (const StatusOr<TextDataset> text = openText(plan, options.base); !text.ok())
    return text.status();
  if (plan.evaluation.text.empty())
    return Status();
  const StatusOr<TextDataset> heldOut = openHeldOut(plan, options.base);
  return heldOut.ok() ? Status() : heldOut.status();
}

} // namespace vime
