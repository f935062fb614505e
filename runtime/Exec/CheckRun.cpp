#include "runtime/Exec/CheckRun.h"

#include <map>
#include <string>

#include <fmt/format.h>

#include "runtime/Exec/CertificateCheck.h"
#include "runtime/Exec/Coordinator.h"
#include "runtime/Exec/RankModel.h"
#include "runtime/Transport/Agreement.h"
#include "runtime/Transport/Ends.h"

namespace vime {
namespace {

class NoObserver final : public RunObserver {
public:
  void stepFinished(const StepRecord &, std::span<const plan::RankStats>) override {}
  void exported() override {}
  void saved(std::uint64_t) override {}
};

/// What the ranks would tell each other, compared in one place.
Status checkAgreement(const plan::Plan &plan) {
  std::map<std::string, Claim> first; // by channel or group
  for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank) {
    const StatusOr<RankEnds> ends = endsOf(plan, rank);
    if (!ends.ok())
      return ends.status();
    const std::vector<Claim> claims = claimsOf(plan, rank, {});
    for (std::size_t end = 0; end < claims.size(); ++end) {
      const std::string stream = describe(ends->ends[end], rank);
      const Claim &other = first.emplace(stream, claims[end]).first->second;
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
  for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
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
  for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
    if (StatusOr<RankModel> model = makeRankModel(plan, rank, options.base, options.isa);
        !model.ok())
      return model.status();
  NoObserver nobody;
  const StatusOr<Coordinator> coordinator = Coordinator::open(plan, options.base, nobody);
  return coordinator.ok() ? Status() : coordinator.status();
}

} // namespace vime
