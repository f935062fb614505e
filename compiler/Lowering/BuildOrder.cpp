#include "compiler/Lowering/BuildOrder.h"

#include <set>
#include <tuple>

#include <fmt/format.h>

#include "compiler/Diagnostics/JobCodes.h"
#include "compiler/Frontend/OrderFile.h"
#include "compiler/Frontend/OrderShape.h"
#include "compiler/Frontend/ReadJob.h"
#include "runtime/Base/Counted.h"
#include "runtime/Plan/Plan.h"
#include "schedules/MergeBackwards.h"
#include "schedules/Placement.h"
#include "schedules/Registry.h"

namespace vime {
namespace {

std::optional<Schedule> namedOrder(const Job &job, Findings &findings) {
  const auto &pipeline = job.pipeline;
  const Order *order = findOrder(pipeline.schedule.value);
  if (order == nullptr) {
    findings
        .error(Rule::J, number(JobCode::UnknownWord),
               "unknown schedule `" + pipeline.schedule.value + "`")
        .at(pipeline.schedule.span);
    return std::nullopt;
  }
  if (!order->trains) {
    findings
        .error(Rule::J, number(JobCode::OrderRefuses),
               "a training step needs backwards, `" + pipeline.schedule.value + "` has none")
        .at(pipeline.schedule.span);
    return std::nullopt;
  }
  const ScheduleShape shape = shapeOf(job);
  if (const auto problem = check(*order, shape)) {
    findings.error(Rule::J, number(JobCode::OrderRefuses), problem->message)
        .at(pipeline.schedule.span)
        .withHelp(problem->help);
    return std::nullopt;
  }
  return order->build(shape);
}

// Read once more: whoever starts here has seen the job only.
std::optional<Schedule> orderOfTable(const Job &job, Findings &findings) {
  const auto &schedule = job.pipeline.schedule;
  const std::string path = pathFromJob(job.file, schedule.value);
  const auto differs = [&](std::string message) {
    findings.error(Rule::J, number(JobCode::OrderDiffers), std::move(message)).at(schedule.span);
    return std::nullopt;
  };
  const StatusOr<std::string> text = readTableFile(path);
  if (!text.ok())
    return differs(text.status().message());
  if (hashOfTable(*text) != job.pipeline.scheduleHash.value)
    return differs("the table `" + schedule.value + "` changed since the job was read");
  const std::optional<OrderTable> table = judgedTable(*text, path, findings);
  if (!table)
    return std::nullopt;
  if (table->rows.size() != job.actor.pipeline.value ||
      table->microbatches() != static_cast<int>(job.pipeline.microbatches.value))
    return differs(fmt::format("the table is for {} and {}, the job has {} and {}",
                               counted(table->rows.size(), "rank"),
                               counted(std::uint64_t(table->microbatches()), "microbatch"),
                               job.actor.pipeline.value, job.pipeline.microbatches.value));
  return table->schedule();
}

bool fitsLayout(const Schedule &order, const Job &job, Findings &findings) {
  const auto &layout = job.pipeline.layout;
  const auto depth = static_cast<std::size_t>(depthOf(order));
  if (layout.value.empty() || layout.value.size() == depth)
    return true;
  findings
      .error(
          Rule::J, number(JobCode::Layout),
          fmt::format("the schedule has {} stages, the layout says {}", depth, layout.value.size()))
      .at(layout.span);
  return false;
}

} // namespace

// Two ends for each neighbour and flow; a wait has room for so many lanes, some of which are taken.
bool hasRoomForLanes(const Schedule &order, const SourceSpan &place, Findings &findings) {
  constexpr std::size_t kOthers = 16; // compute, host, io, groups, data and metrics
  constexpr std::size_t kMost = plan::Wait::kMaxLanes - kOthers;
  std::set<std::tuple<int, int, bool, bool>> ends; // rank, peer, forward, sends
  for (std::size_t stage = 0; stage + 1 < order.placement.size(); ++stage) {
    const int from = order.placement[stage], to = order.placement[stage + 1];
    const bool isLast = (stage + 1) % static_cast<std::size_t>(depthOf(order)) == 0;
    if (from != to && !isLast)
      ends.insert({{from, to, true, true},
                   {to, from, true, false},
                   {to, from, false, true},
                   {from, to, false, false}});
  }
  std::vector<std::size_t> lanes(order.rows.size());
  for (const auto &[rank, peer, isForward, sends] : ends)
    ++lanes[static_cast<std::size_t>(rank)];
  for (std::size_t rank = 0; rank < lanes.size(); ++rank)
    if (lanes[rank] > kMost) {
      findings
          .error(
              Rule::S3, 6,
              fmt::format("rank {} exchanges activations and gradients with its neighbours on {} "
                          "lanes, a plan has room for {}",
                          rank, lanes[rank], kMost))
          .at(place)
          .withHelp("place neighbouring stages so that a rank has fewer neighbours");
      return false;
    }
  return true;
}

std::optional<Schedule> buildOrder(const Job &job, Findings &findings) {
  std::optional<Schedule> order = namesTable(job.pipeline.schedule.value)
                                      ? orderOfTable(job, findings)
                                      : namedOrder(job, findings);
  if (!order)
    return std::nullopt;
  if (const auto &placement = job.pipeline.placement; !placement.value.empty()) {
    auto moved =
        movedTo(std::move(*order), Placement(placement.value.begin(), placement.value.end()));
    if (const auto *why = std::get_if<std::string>(&moved)) {
      findings.error(Rule::J, number(JobCode::Placement), *why).at(placement.span);
      return std::nullopt;
    }
    order = std::move(std::get<Schedule>(moved));
  }
  if (!hasRoomForLanes(*order, job.pipeline.schedule.span, findings) ||
      !fitsLayout(*order, job, findings))
    return std::nullopt;
  return mergeBackwards(std::move(*order), mergingOf(job), costsOf(job));
}

} // namespace vime
