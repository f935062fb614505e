// What flight records tell, as text and as JSON.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Driver/ExplainRecords.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {

namespace {

using flight::FlightRecord;
using flight::State;

constexpr std::size_t kShownActions = 8;
constexpr std::size_t kMostRows = 32; // a table of more ranks leaves out those that say least

std::string_view wordOf(const FlightRecord &record) {
  constexpr std::string_view kStates[] = {"preparing", "connecting", "running", "done", "failed"};
  if (record.header.state == State::Running && record.waits())
    return "waiting";
  return kStates[static_cast<std::size_t>(record.header.state)];
}

std::string_view wordOf(flight::Ending ending) {
  constexpr std::string_view kEndings[] = {"unknown", "exited", "signalled", "stopped"};
  return kEndings[static_cast<std::size_t>(ending)];
}

const flight::Wait *waitOf(const flight::Diagnosis &diagnosis, std::uint32_t rank) {
  for (const flight::Wait &wait : diagnosis.waits)
    if (wait.rank == rank)
      return &wait;
  return nullptr;
}

std::string whoIsLate(const flight::Wait &wait) {
  if (wait.with.empty())
    return "";
  return wait.isInTransit() ? ", to which all had come"
                            : ", to which " + flight::ranksInWords(wait.on) + " had not come";
}

std::string rowOf(const RecordedRun &run, const flight::Diagnosis &diagnosis,
                  const FlightRecord &record) {
  const std::uint32_t rank = record.header.rank;
  std::string row =
      fmt::format("  {:<5} {:<10} {}\n", rank, wordOf(record), flight::placeOf(run.plan, record));
  if (const flight::Wait *wait = waitOf(diagnosis, rank))
    row += fmt::format("  {:16} waits for {}{}\n", "", flight::describe(run.plan, *wait),
                       whoIsLate(*wait));
  if (record.header.state == State::Failed) {
    const std::string failure = flight::textOf(record.header.failure);
    row += fmt::format("  {:16} exit code {}: {}\n", "", record.header.failureCode,
                       printable(failure.substr(0, failure.find('\n'))));
  }
  return row;
}

/// Milliseconds before the record's last sign of life.
double before(const FlightRecord &record, std::int64_t moment) {
  return static_cast<double>(record.header.aliveAt - moment) * 1e-6;
}

std::string lastActionsOf(const RecordedRun &run, const FlightRecord &record) {
  std::string text = fmt::format(
      "\nlast actions of rank {}, milliseconds before its last sign of life\n", record.header.rank);
  const std::size_t shown = std::min(kShownActions, record.recent.size());
  for (std::size_t index = record.recent.size() - shown; index < record.recent.size(); ++index) {
    const flight::ActionRecord &action = record.recent[index];
    const bool lasted = action.end > action.begin;
    text += fmt::format(
        "  {:10.3f}  {}{}\n", before(record, action.begin),
        flight::placeOf(run.plan, record.header.rank, action),
        lasted ? fmt::format(", {:.3f} ms", static_cast<double>(action.end - action.begin) * 1e-6)
        : action.end == 0 ? ", not over"
                          : "");
  }
  return text;
}

nlohmann::ordered_json jsonOf(const flight::ActionRecord &action) {
  return {{"action", action.action},
          {"step", action.step},
          {"iteration", action.iteration},
          {"begin_ns", action.begin},
          {"end_ns", action.end}};
}

nlohmann::ordered_json jsonOf(const RecordedRun &run, const flight::Diagnosis &diagnosis,
                              const FlightRecord &record) {
  const flight::Header &header = record.header;
  nlohmann::ordered_json json = {{"rank", header.rank},
                                 {"state", wordOf(record)},
                                 {"ending", wordOf(header.ending)},
                                 {"ending_value", header.endingValue},
                                 {"process", header.process},
                                 {"host", flight::textOf(header.host)},
                                 {"actions", header.begun},
                                 {"place", flight::placeOf(run.plan, record)}};
  if (const flight::ActionRecord *present = record.present()) {
    json["action"] = present->action;
    json["step"] = present->step;
    json["origin"] = flight::originOf(run.plan, header.rank, present->action);
  }
  if (const flight::Wait *wait = waitOf(diagnosis, header.rank))
    json["waits"] = {{"lane", wait->lane},
                     {"count", wait->count},
                     {"what", flight::describe(run.plan, *wait)},
                     {"not_come", wait->on},
                     {"in_transit", wait->isInTransit()}};
  if (header.state == State::Failed)
    json["failure"] = {{"code", header.failureCode},
                       {"blames_peer", header.blamesPeer != 0},
                       {"message", flight::textOf(header.failure)}};
  json["recent"] = nlohmann::ordered_json::array();
  for (const flight::ActionRecord &action : record.recent)
    json["recent"].push_back(jsonOf(action));
  return json;
}

} // namespace

std::string recordsText(const RecordedRun &run) {
  const flight::Diagnosis diagnosis = flight::diagnose(run.plan, run.byRank());
  std::string text = diagnosis.cause == flight::Cause::None
                         ? "no rank failed before the others, as far as the records tell"
                         : printable(diagnosis.sentence);
  text += "\n";
  for (const std::string &detail : diagnosis.details)
    text += "  " + printable(detail) + "\n";
  text += fmt::format("\n  {:<5} {:<10} where it stood\n", "rank", "state");
  std::size_t rows = 0;
  for (const FlightRecord &record : run.records)
    if (rows++ < kMostRows || record.header.rank == diagnosis.rank)
      text += rowOf(run, diagnosis, record);
  if (run.records.size() > kMostRows)
    text += fmt::format("  … {} ranks more: `--json` has all\n", run.records.size() - kMostRows);
  if (run.records.size() < run.plan.mesh.ranks())
    text += fmt::format("  {} of {} ranks left no record here\n",
                        run.plan.mesh.ranks() - run.records.size(), run.plan.mesh.ranks());
  if (const FlightRecord *first = run.byRank()[diagnosis.rank];
      first && diagnosis.cause != flight::Cause::None)
    text += lastActionsOf(run, *first);
  return text;
}

std::string recordsJson(const RecordedRun &run) {
  using nlohmann::ordered_json;
  const flight::Diagnosis diagnosis = flight::diagnose(run.plan, run.byRank());
  ordered_json json = {
      {"format", "vime-flight"}, {"format_version", 1},
      {"plan", run.planPath},    {"plan_id", plan::toHex(run.records.front().header.planId)},
      {"first", nullptr},        {"ranks", ordered_json::array()}};
  if (diagnosis.cause != flight::Cause::None)
    json["first"] = {{"rank", diagnosis.rank},
                     {"cause", flight::nameOf(diagnosis.cause)},
                     {"sentence", diagnosis.sentence},
                     {"details", diagnosis.details}};
  for (const FlightRecord &record : run.records)
    json["ranks"].push_back(jsonOf(run, diagnosis, record));
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace vime
