// checkPipeline: J over the schedule: its numbers, its table, the layers and the ranks of its
// stages.
#include <algorithm>
#include <numeric>

#include "compiler/Frontend/Draft.h"
#include "compiler/Frontend/Microbatch.h"
#include "compiler/Frontend/OrderShape.h"
#include "compiler/Frontend/Rules.h"
#include "schedules/Comparison.h"
#include "schedules/Limits.h"
#include "schedules/Placement.h"
#include "schedules/Registry.h"

namespace vime {

namespace {

bool hasTable(const Draft &draft) {
  return draft.isKnown("pipeline.schedule") && namesTable(draft.job.pipeline.schedule.value);
}

void checkStages(Draft &draft) {
  const Job &job = draft.job;
  const Job::NamedModel *model = draft.model(job.actor.model.value);
  if (!model || hasTable(draft) ||
      !draft.areKnown(
          {"roles.actor.parallel.pp", "pipeline.chunks", "models." + model->name + ".layers"}))
    return;
  const std::uint64_t ranks = job.actor.pipeline.value, chunks = job.pipeline.chunks.value,
                      stages = ranks * chunks, layers = model->config.layers;
  if (stages <= layers)
    return;
  const SourceSpan layersAt = draft.origin("models." + model->name + ".layers").span;
  std::string help = "use at least " + counted(stages, "layer");
  if (chunks > 1 && layers >= ranks)
    help += ", or at most " + counted(layers / ranks, "chunk");
  if (layers >= chunks)
    help += ", or at most " + counted(layers / chunks, "rank");
  draft
      .error(JobCode::TooManyStages,
             counted(stages, "stage") + " cannot share " + counted(layers, "layer"),
             chunks > 1 ? job.pipeline.chunks.span : job.actor.pipeline.span,
             counted(ranks, "rank") + " of " + counted(chunks, "stage"))
      .note("the model has " + counted(layers, "layer"), layersAt)
      .withHelp(help);
}

// Whether every number of the order's shape is known, or left to the order.
bool hasShape(const Draft &draft) {
  const auto fields = fieldsOfSomeOrders();
  return draft.areKnown({"pipeline.schedule", "roles.actor.parallel.pp", "pipeline.microbatches",
                         "pipeline.chunks"}) &&
         std::none_of(fields.begin(), fields.end(),
                      [&](std::string_view field) { return draft.isSpoiled(field); });
}

void checkOrder(Draft &draft) {
  const Job &job = draft.job;
  const Order *order = hasShape(draft) ? findOrder(job.pipeline.schedule.value) : nullptr;
  if (order && !order->trains) {
    draft
        .error(JobCode::OrderRefuses,
               "a training step needs backwards, " + code(order->name) + " has none",
               job.pipeline.schedule.span)
        .withHelp("passes over held-out text run forwards alone under every order: `evaluation`");
    return;
  }
  const auto problem = order ? check(*order, shapeOf(job)) : std::nullopt;
  if (!problem)
    return;
  const std::string path = pathOf(problem->number);
  const SourceSpan at = draft.isKnown(path) ? draft.origin(path).span : job.pipeline.schedule.span;
  Finding &finding =
      draft.error(JobCode::OrderRefuses, problem->message, at).withHelp(problem->help);
  if (!(job.pipeline.schedule.span == at))
    finding.note("the schedule is chosen here", job.pipeline.schedule.span);
}

/// The next ones below and above, `number` itself left out.
std::string nearestDivisors(std::uint64_t number, std::uint64_t of, std::uint64_t most) {
  std::uint64_t below = number - 1, above = number + 1;
  while (below > 1 && of % below != 0)
    --below;
  while (above <= most && of % above != 0)
    ++above;
  return text(below) + (above <= most ? " or " + text(above) : "");
}

// Each slice has the same part of every sample.
void checkSlices(Draft &draft) {
  const Job &job = draft.job;
  const Order *order = hasShape(draft) ? findOrder(job.pipeline.schedule.value) : nullptr;
  const std::uint64_t slices = job.pipeline.slices.value;
  if (!order || !order->takes.slices || !draft.isKnown("pipeline.slices") || slices == 1)
    return;
  const SourceSpan &at = job.pipeline.slices.span;
  const auto uneven = [&](const std::string &why, const std::string &path,
                          const std::string &help) {
    draft.error(JobCode::Slices, why, draft.origin(path).span)
        .note("samples are cut into " + text(slices) + " slices here", at)
        .withHelp(help);
  };
  const std::uint64_t sequence = job.data.sequence.value;
  if (draft.isKnown("data.sequence") && sequence % slices != 0) {
    const std::uint64_t below = sequence / slices * slices;
    uneven("samples of " + counted(sequence, "token") + " have no " + text(slices) +
               " slices of equal length",
           "data.sequence",
           "use " + (below > 0 ? text(below) + " or " : "") + text(below + slices) +
               " tokens, or " +
               nearestDivisors(slices, sequence, std::min<std::uint64_t>(sequence, kMaxSlices)) +
               " slices");
  }
  if (draft.isKnown("pipeline.microbatch") && isPacked(job) && !draft.hasRounds())
    uneven("samples that are packed by tokens have no slices of equal length",
           "pipeline.microbatch", "state the microbatch in samples");
  if (draft.isKnown("data.split") && job.data.split.value != "window")
    uneven("a " + job.data.split.value + " is of any length, slices of samples are of one",
           "data.split", "use `split: window`");
  const Job::NamedModel *model = draft.model(job.actor.model.value);
  if (model && model->config.family == ModelFamily::TorchScript)
    uneven("a module of your own takes whole samples", "models." + model->name + ".family",
           "use another schedule, or leave `slices` out");
}

// The table is for so many ranks and microbatches; what the job states besides must agree.
void checkTable(Draft &draft) {
  const Job &job = draft.job;
  if (!draft.table)
    return;
  const auto differs = [&](const std::string &path, std::uint64_t inJob, std::uint64_t inTable,
                           std::string_view noun, const SourceSpan &at, bool isNeeded) {
    if (!draft.isKnown(path) || inJob == inTable)
      return;
    draft
        .error(JobCode::OrderDiffers,
               "the table is for " + counted(inTable, noun) + ", the job has " + text(inJob), at)
        .note("the table is named here", job.pipeline.schedule.span)
        .withHelp("write `" + path.substr(path.rfind('.') + 1) + ": " + text(inTable) +
                  (isNeeded ? "`" : "` or leave it out"));
  };
  const Schedule order = draft.table->schedule();
  std::uint64_t chunks = 0;
  for (int rank = 0; rank < static_cast<int>(order.rows.size()); ++rank)
    chunks = std::max<std::uint64_t>(chunks, stagesOf(order.placement, rank).size());
  differs("roles.actor.parallel.pp", job.actor.pipeline.value, order.rows.size(), "rank",
          job.actor.pipeline.span, /*isNeeded=*/true);
  differs("pipeline.microbatches", job.pipeline.microbatches.value,
          static_cast<std::uint64_t>(draft.table->microbatches()), "microbatch",
          job.pipeline.microbatches.span, /*isNeeded=*/false);
  differs("pipeline.chunks", job.pipeline.chunks.value, chunks, "chunk", job.pipeline.chunks.span,
          /*isNeeded=*/false);
  const Job::NamedModel *model = draft.model(job.actor.model.value);
  if (model && draft.isKnown("models." + model->name + ".layers") &&
      order.placement.size() > model->config.layers)
    draft
        .error(JobCode::TooManyStages,
               counted(order.placement.size(), "stage") + " cannot share " +
                   counted(model->config.layers, "layer"),
               job.pipeline.schedule.span, "the stages of this table")
        .note("the model has " + counted(model->config.layers, "layer"),
              draft.origin("models." + model->name + ".layers").span);
}

// A hash that nothing is compared with would be read and dropped.
void checkHash(Draft &draft) {
  const auto &hash = draft.job.pipeline.scheduleHash;
  if (draft.isKnown("pipeline.schedule") && !hasTable(draft) && !hash.value.empty())
    draft.error(JobCode::UnusedValue,
                "`pipeline.schedule_hash` has no use: " + code(draft.job.pipeline.schedule.value) +
                    " is read from no file",
                hash.span);
}

bool splitsBackwards(const OrderTable &table) {
  for (const std::vector<TableEntry> &row : table.rows)
    for (const TableEntry &entry : row)
      if (entry.kind == CellKind::BackwardInput)
        return true;
  return false;
}

/// Whether costs have a use beside the making of an order.
bool costsServe(const Draft &draft) {
  const bool merges =
      draft.table ? mergingOf(draft.job) == Merging::WhereItPays && splitsBackwards(*draft.table)
                  : mergesByCosts(draft.job);
  return merges || hasTransferCost(draft.job);
}

// So would a number that only orders by name take.
void checkNumbersBesideTable(Draft &draft) {
  if (!hasTable(draft))
    return;
  for (const std::string_view field : fieldsOfSomeOrders())
    if (const std::string path(field);
        draft.isKnown(path) && !(path == "pipeline.costs" && costsServe(draft)))
      draft
          .error(JobCode::UnusedValue, code(path) + " has no use: a table says its order itself",
                 draft.origin(path).span)
          .note("the table is named here", draft.job.pipeline.schedule.span)
          .withHelp("leave it out");
}

/// Stages of the schedule, if they are known.
std::optional<std::uint64_t> stagesOf(const Draft &draft) {
  if (draft.table)
    return static_cast<std::uint64_t>(draft.table->stages());
  if (hasTable(draft) || !draft.areKnown({"roles.actor.parallel.pp", "pipeline.chunks"}))
    return std::nullopt;
  return std::uint64_t{draft.job.actor.pipeline.value} * draft.job.pipeline.chunks.value;
}

bool hasLength(Draft &draft, const Field<std::vector<std::uint64_t>> &list, JobCode code,
               std::string_view what) {
  const std::optional<std::uint64_t> stages = stagesOf(draft);
  if (!stages || list.value.size() == *stages)
    return true;
  draft
      .error(code,
             "the schedule has " + counted(*stages, "stage") + ", " + std::string(what) + " " +
                 text(list.value.size()),
             list.span)
      .note("the schedule is chosen here", draft.job.pipeline.schedule.span);
  return false;
}

void checkLayout(Draft &draft) {
  const auto &layout = draft.job.pipeline.layout;
  const Job::NamedModel *model = draft.model(draft.job.actor.model.value);
  if (layout.value.empty() || !hasLength(draft, layout, JobCode::Layout, "the layout says") ||
      !model || !draft.isKnown("models." + model->name + ".layers"))
    return;
  const std::uint64_t sum =
      std::accumulate(layout.value.begin(), layout.value.end(), std::uint64_t{0});
  if (sum != model->config.layers)
    draft
        .error(JobCode::Layout,
               "the stages have " + counted(sum, "layer") + ", the model has " +
                   text(model->config.layers),
               layout.span)
        .note("the model has " + counted(model->config.layers, "layer"),
              draft.origin("models." + model->name + ".layers").span);
}

// Of orders that are made for costs `check` says it.
void checkCosts(Draft &draft) {
  const Job &job = draft.job;
  const Order *order = findOrder(job.pipeline.schedule.value);
  const UnitCosts costs = costsOf(job);
  if (!draft.isKnown("pipeline.costs") || !costsServe(draft) || (order && order->takes.costs) ||
      std::min({costs.forward, costs.backwardInput, costs.backwardWeight}) > 0)
    return;
  draft
      .error(JobCode::Range, "`pipeline.costs` says that a task costs nothing",
             job.pipeline.costs.span, "a task costs 1 at least")
      .withHelp("state all costs in a smaller unit");
}

// What no order has both halves of cannot be merged.
void checkMergeBackwards(Draft &draft) {
  const Job &job = draft.job;
  const auto &schedule = job.pipeline.schedule;
  const Order *order = findOrder(schedule.value);
  const bool splits =
      draft.table ? splitsBackwards(*draft.table) : !order || unitsOf(*order).splits;
  if (!draft.areKnown({"pipeline.merge_backwards", "pipeline.schedule"}) ||
      mergingOf(job) != Merging::All || splits)
    return;
  draft
      .error(JobCode::UnusedValue,
             "`pipeline.merge_backwards` has no use: all backwards of " + code(schedule.value) +
                 " are whole",
             job.pipeline.mergeBackwards.span)
      .note("the schedule is chosen here", schedule.span)
      .withHelp("leave it out");
}

void checkReceiveSlots(Draft &draft) {
  const auto &slots = draft.job.pipeline.receiveSlots;
  const std::uint64_t ranks = draft.job.actor.pipeline.value;
  if (!draft.areKnown({"pipeline.receive_slots", "roles.actor.parallel.pp"}) ||
      slots.value.size() <= 1 || slots.value.size() == ranks)
    return;
  draft
      .error(JobCode::ReceiveSlots,
             "the pipeline has " + counted(ranks, "rank") + ", receive slots are given for " +
                 text(slots.value.size()),
             slots.span)
      .note("its ranks are counted here", draft.job.actor.pipeline.span)
      .withHelp("write one number for all ranks, or leave them out");
}

void checkPlacement(Draft &draft) {
  const Job &job = draft.job;
  const auto &placement = job.pipeline.placement;
  if (placement.value.empty() ||
      !hasLength(draft, placement, JobCode::Placement, "the placement says") || !hasShape(draft))
    return;
  const Order *order = findOrder(job.pipeline.schedule.value);
  if (!draft.table && (!order || check(*order, shapeOf(job))))
    return;
  const auto moved = movedTo(draft.table ? draft.table->schedule() : order->build(shapeOf(job)),
                             Placement(placement.value.begin(), placement.value.end()));
  if (const auto *why = std::get_if<std::string>(&moved))
    draft.error(JobCode::Placement, *why, placement.span)
        .note("the schedule is chosen here", job.pipeline.schedule.span)
        .withHelp(
            "a placement gives the ranks of a schedule other numbers; stages that share a rank "
            "stay together");
}

} // namespace

void checkPipeline(Draft &draft) {
  checkStages(draft);
  checkOrder(draft);
  checkSlices(draft);
  checkTable(draft);
  checkHash(draft);
  checkNumbersBesideTable(draft);
  checkCosts(draft);
  checkMergeBackwards(draft);
  checkReceiveSlots(draft);
  checkLayout(draft);
  checkPlacement(draft);
}

} // namespace vime
