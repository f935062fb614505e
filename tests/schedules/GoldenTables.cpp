#include "tests/schedules/GoldenTables.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace vime {
namespace {

std::string contents(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

GoldenTable headed(const std::string &name) {
  GoldenTable table{.name = name};
  const std::string file = name.substr(name.rfind('/') + 1);
  table.isOld = file.size() != name.size();
  char schedule[64] = "", content[64] = "compute";
  std::sscanf(file.c_str(), "%63[^_]_pp%d_v%d_mb%d.%63s", schedule, &table.shape.ranks,
              &table.shape.chunks, &table.shape.microbatches, content);
  table.schedule = schedule;
  table.content = content;
  return table;
}

} // namespace

std::vector<GoldenTable> goldenTables() {
  std::vector<GoldenTable> tables;
  std::istringstream file(contents(std::filesystem::path(VIME_GOLDEN_ORDERS) / "pytorch.txt"));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("# "))
      tables.push_back(headed(line.substr(2)));
    else
      tables.back().text += line + '\n';
  return tables;
}

std::vector<GoldenMetrics> goldenMetrics() {
  std::vector<GoldenMetrics> metrics;
  std::istringstream file(
      contents(std::filesystem::path(VIME_GOLDEN_ORDERS) / "pytorch-metrics.csv"));
  for (std::string line; std::getline(file, line);) {
    GoldenMetrics row;
    char schedule[64], peaks[256];
    if (std::sscanf(line.c_str(), "%63[^,],%d,%d,%d,%*d,%lf,%lf,%*f,%255[0-9 ]", schedule,
                    &row.shape.ranks, &row.shape.chunks, &row.shape.microbatches, &row.makespan,
                    &row.bubble, peaks) != 7)
      continue; // the head line
    row.schedule = schedule;
    row.peaks = peaks;
    metrics.push_back(std::move(row));
  }
  return metrics;
}

std::string zeroBubbleTable(const std::string &name) {
  std::string text =
      contents(std::filesystem::path(VIME_GOLDEN_ORDERS) / "zero-bubble" / (name + ".csv"));
  std::erase(text, '\r');
  if (!text.ends_with('\n'))
    text += '\n';
  return text;
}

namespace {

// `F3.0`: kind, microbatch, chunk; of slices `F3.0s2`.
std::string zeroBubbleCell(const Schedule &order, const Task &task) {
  static constexpr std::string_view kKinds[] = {"F", "BW", "B", "W"}; // in the order of TaskKind
  return std::string(kKinds[static_cast<std::size_t>(task.kind)]) +
         std::to_string(task.microbatch / (order.copies * order.slices)) + "." +
         std::to_string(static_cast<std::size_t>(task.stage) / order.rows.size()) +
         (order.slices > 1 ? "s" + std::to_string(task.microbatch % order.slices) : "");
}

} // namespace

std::string inZeroBubbleNotation(const Schedule &order) {
  std::string text;
  for (const std::vector<Task> &row : order.rows) {
    std::string line;
    for (std::size_t position = 0; position < row.size(); ++position) {
      if (row[position].kind == TaskKind::Idle)
        continue;
      std::string cell = zeroBubbleCell(order, row[position]);
      if (row[position].overlapsNext)
        cell = "[" + cell + "&" + zeroBubbleCell(order, row[++position]) + "]";
      line += (line.empty() ? "" : ",") + cell;
    }
    text += line + "\n";
  }
  return text;
}

} // namespace vime
