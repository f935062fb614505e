#include "compiler/View/Memory.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Diagnostics/Amounts.h"
#include "compiler/Verify/LiveSet.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Names.h"

namespace vime {
namespace {

using namespace plan;
using verify::MemoryPart;
using verify::TierMemory;

bool isAlike(const verify::RankView &one, const verify::RankView &other) {
  return one.program == other.program && one.layout == other.layout;
}

/// The ranks that have what this one has, if it is the first of them; else nothing.
std::vector<std::uint32_t> ranksLike(const verify::ActionTable &table,
                                     const verify::RankView &rank) {
  std::vector<std::uint32_t> ranks;
  for (const verify::RankView &other : table.ranks())
    if (isAlike(rank, other)) {
      if (other.rank < rank.rank)
        return {};
      ranks.push_back(other.rank);
    }
  return ranks;
}

void appendTier(const Plan &plan, std::uint32_t rank, const TierMemory &memory, std::string &text) {
  text += fmt::format("  {}: {}", nameOf(memory.tier), bytesInWords(memory.arena));
  if (memory.action != verify::kNone)
    text += fmt::format(", most alive at action {}: {}, {}", memory.action,
                        describe(plan, rank, memory.action), bytesInWords(memory.peak));
  text += fmt::format("\n    {:>10}  {:>10}  {:>7}  {}\n", "bytes", "alive", "slots", "part");
  for (const MemoryPart &part : memory.parts)
    text += fmt::format(
        "    {:>10}  {:>10}  {:>7}  {}\n", bytesInWords(part.bytes), bytesInWords(part.aliveBytes),
        fmt::format("{}/{}", part.aliveSlots, layoutOf(plan, rank)->buffers[part.buffer].count),
        describeBuffer(plan, rank, part.buffer));
}

nlohmann::ordered_json jsonOf(const Plan &plan, std::uint32_t rank, const TierMemory &memory) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const MemoryPart &part : memory.parts) {
    const Buffer &buffer = layoutOf(plan, rank)->buffers[part.buffer];
    parts.push_back({{"name", describeBuffer(plan, rank, part.buffer)},
                     {"kind", nameOf(buffer.kind)},
                     {"buffer", part.buffer},
                     {"bytes", part.bytes},
                     {"slots", buffer.count},
                     {"alive_bytes", part.aliveBytes},
                     {"alive_slots", part.aliveSlots}});
  }
  nlohmann::ordered_json json = {{"tier", nameOf(memory.tier)}, {"arena_bytes", memory.arena},
                                 {"peak_bytes", memory.peak},   {"peak_action", nullptr},
                                 {"peak_text", nullptr},        {"parts", parts}};
  if (memory.action != verify::kNone) {
    json["peak_action"] = memory.action;
    json["peak_text"] = describe(plan, rank, memory.action);
  }
  return json;
}

} // namespace

std::string planMemory(const Plan &plan) {
  const verify::ActionTable table(plan);
  std::string text;
  for (const verify::RankView &rank : table.ranks()) {
    const std::vector<std::uint32_t> alike = ranksLike(table, rank);
    if (alike.empty())
      continue;
    text += fmt::format("rank {}{}\n", rank.rank,
                        alike.size() == 1 ? "" : fmt::format(" and {} like it", alike.size() - 1));
    for (const TierMemory &memory : liveSetOf(table, rank))
      appendTier(plan, rank.rank, memory, text);
  }
  return text;
}

std::string memoryJson(const Plan &plan) {
  const verify::ActionTable table(plan);
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (const verify::RankView &rank : table.ranks()) {
    nlohmann::ordered_json tiers = nlohmann::ordered_json::array();
    for (const TierMemory &memory : liveSetOf(table, rank))
      tiers.push_back(jsonOf(plan, rank.rank, memory));
    ranks.push_back({{"rank", rank.rank}, {"tiers", tiers}});
  }
  return nlohmann::ordered_json{{"format", "vime-memory"}, {"format_version", 1}, {"ranks", ranks}}
      .dump(2);
}

} // namespace vime
