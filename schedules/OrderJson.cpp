// An order as JSON. Names and formulas of the table hold nothing that JSON would have to escape.
#include "schedules/OrderJson.h"
#include "schedules/Notation.h"
#include "schedules/UnitTime.h"

#include <cstdint>

namespace vime {

namespace {

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

template <typename Number> std::string numberList(const std::vector<Number> &numbers) {
  std::string list = "[";
  for (const Number number : numbers)
    list += (list.size() == 1 ? "" : ", ") + std::to_string(number);
  return list + "]";
}

std::string rowText(const std::vector<Task> &row) {
  std::string list = "[";
  for (const Task &task : row)
    list += (list.size() == 1 ? "" : ", ") +
            (task.kind == TaskKind::Idle ? std::string("null") : quoted(toText(task)));
  return list + "]";
}

std::string rowsText(const Schedule &schedule) {
  std::string rows;
  for (const std::vector<Task> &row : schedule.rows)
    rows += (rows.empty() ? "\n    " : ",\n    ") + rowText(row);
  return "[" + rows + "\n  ]";
}

// Six places, rounded from integers, so that every machine prints the same.
std::string bubbleText(const UnitTimes &times) {
  std::int64_t busy = 0;
  for (const std::int64_t rank : times.busy)
    busy += rank;
  const std::int64_t area = times.makespan * static_cast<std::int64_t>(times.busy.size());
  const std::int64_t millionths = area == 0 ? 0 : ((area - busy) * 1'000'000 + area / 2) / area;
  const std::string digits = std::to_string(1'000'000 + millionths % 1'000'000);
  return std::to_string(millionths / 1'000'000) + "." + digits.substr(1);
}

std::string unitTimeText(const UnitTimes &times) {
  return "{\"makespan\": " + std::to_string(times.makespan) +
         ", \"busy\": " + numberList(times.busy) + ", \"bubble\": " + bubbleText(times) +
         ", \"peak_live\": " + numberList(times.peakLive) + "}";
}

} // namespace

std::string toJson(const Order &order, ScheduleShape shape, const Schedule &schedule) {
  std::string json;
  const auto add = [&](std::string_view key, const std::string &value) {
    json += (json.empty() ? "{\n  " : ",\n  ") + quoted(key) + ": " + value;
  };
  add("name", quoted(order.name));
  add("ranks", std::to_string(shape.ranks));
  add("microbatches", std::to_string(shape.microbatches));
  add("chunks", std::to_string(shape.chunks));
  add("placement", numberList(schedule.placement));
  add("rows", rowsText(schedule));
  add("unit_time", unitTimeText(simulate(schedule)));
  add("bubble", quoted(order.bubble));
  add("peak", quoted(order.peak));
  add("source", quoted(order.source));
  return json + "\n}\n";
}

} // namespace vime
