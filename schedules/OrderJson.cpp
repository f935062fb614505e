// An order as JSON. Names and formulas of the table hold nothing that JSON would have to escape.
#include "schedules/OrderJson.h"
#include "schedules/Notation.h"
#include "schedules/UnitTime.h"

#include <cstdint>

namespace vime {

namespace {

std::string inQuotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

template <typename Number> std::string numberList(const std::vector<Number> &numbers) {
  std::string list = "[";
  for (const Number number : numbers)
    list += (list.size() == 1 ? "" : ", ") + std::to_string(number);
  return list + "]";
}

std::string rowText(const std::vector<Task> &row) {
  std::string list = "[";
  for (const std::string &cell : toCells(row))
    list += (list.size() == 1 ? "" : ", ") + (cell.empty() ? "null" : inQuotes(cell));
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

// `null`: left to the order.
std::string numberText(int number) { return number == 0 ? "null" : std::to_string(number); }

std::string unitTimeText(const UnitTimes &times, UnitCosts costs) {
  const std::vector<int> all{costs.forward, costs.backwardInput, costs.backwardWeight,
                             costs.transfer};
  return "{\"costs\": " + numberList(all) + ", \"makespan\": " + std::to_string(times.makespan) +
         ", \"span\": " + numberList(times.span) + ", \"busy\": " + numberList(times.busy) +
         ", \"bubble\": " + bubbleText(times) + ", \"peak_live\": " + numberList(times.peakLive) +
         "}";
}

class Object {
public:
  void add(std::string_view key, const std::string &value) {
    text += (text.empty() ? "{\n  " : ",\n  ") + inQuotes(key) + ": " + value;
  }
  std::string close() const { return text + "\n}\n"; }

private:
  std::string text;
};

// The name of a file may hold anything.
std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (c == '"' || c == '\\')
      text += {'\\', c};
    else
      text += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return text;
}

} // namespace

std::string toJson(const Order &order, ScheduleShape shape, const Schedule &schedule,
                   UnitCosts costs) {
  Object json;
  json.add("name", inQuotes(order.name));
  json.add("ranks", std::to_string(shape.ranks));
  json.add("microbatches", std::to_string(shape.microbatches));
  json.add("chunks", std::to_string(shape.chunks));
  if (schedule.copies != 1)
    json.add("copies", std::to_string(schedule.copies));
  if (schedule.slices != 1)
    json.add("slices", std::to_string(schedule.slices));
  if (order.takes.group)
    json.add("group", numberText(shape.group));
  if (order.takes.memory)
    json.add("memory", numberText(shape.memory));
  if (order.takes.slices)
    json.add("slices", std::to_string(shape.slices));
  if (order.takes.overlap)
    json.add("overlap", shape.overlap ? "true" : "false");
  json.add("placement", numberList(schedule.placement));
  json.add("rows", rowsText(schedule));
  json.add("unit_time", unitTimeText(simulate(schedule, costs), costs));
  json.add("bubble", inQuotes(order.bubble));
  json.add("peak", inQuotes(order.peak));
  json.add("source", inQuotes(order.source));
  return json.close();
}

std::string toJson(std::string_view file, const OrderTable &table, UnitCosts costs) {
  const Schedule schedule = table.schedule();
  Object json;
  json.add("file", inQuotes(escaped(file)));
  json.add("ranks", std::to_string(schedule.rows.size()));
  json.add("microbatches", std::to_string(table.microbatches()));
  json.add("placement", numberList(schedule.placement));
  json.add("rows", rowsText(schedule));
  json.add("unit_time", unitTimeText(simulate(schedule, costs), costs));
  return json.close();
}

} // namespace vime
