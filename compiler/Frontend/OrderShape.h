// OrderShape: the numbers that a job's order is built for.
//
//   const Order *order = findOrder(job.pipeline.schedule.value);
//   if (auto problem = check(*order, shapeOf(job)))
//     error(problem->message).at(draft.origin(pathOf(problem->number)).span);
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/Frontend/Job.h"
#include "schedules/MergeBackwards.h"
#include "schedules/Schedule.h"

namespace vime {

/// As the job states them, not checked. Of a job that is not complete the numbers that it lacks are
/// those that leave the order its choice.
ScheduleShape shapeOf(const Job &job);

/// Whether `pipeline.costs` says what a transfer costs. Then it has a use under every order: to
/// choose how many slots channels have, or to tell what those are worth that the job states.
bool hasTransferCost(const Job &job);

/// What `pipeline.merge_backwards` says; `auto` merges nothing where steps have different numbers
/// of microbatches.
Merging mergingOf(const Job &job);

/// Whether `pipeline.costs` says which halves of backwards are merged, of an order by name.
bool mergesByCosts(const Job &job);

/// The costs of the job, or the usual ones.
UnitCosts costsOf(const Job &job);

/// The field that a number of a shape comes from: `ranks` is `roles.actor.parallel.pp`.
std::string pathOf(std::string_view number);

/// The fields that only some orders have a use for, and no table.
std::span<const std::string_view> fieldsOfSomeOrders();

} // namespace vime
