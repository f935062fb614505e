#include "compiler/View/Memory.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/Diagnostics/Amounts.h"
#include "compiler/Diagnostics/Utf8.h"
#include "compiler/Verify/LiveSet.h"
#include "runtime/Plan/Allowance.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Names.h"

namespace vime {
namespace {

using namespace plan;
using verify::MemoryPart;
using verify::TierMemory;

/// Ranks that share program and layout, the first of them in front; ascending by it.
std::vector<std::vector<const verify::RankView *>> alikeRanks(const verify::ActionTable &table) {
  std::vector<std::vector<const verify::RankView *>> lists;
  std::map<std::pair<const Program *, const Layout *>, std::size_t> places;
  for (const verify::RankView &rank : table.ranks()) {
    const auto [place, isNew] = places.emplace(std::pair(rank.program, rank.layout), lists.size());
    if (isNew)
      lists.emplace_back();
    lists[place->second].push_back(&rank);
  }
  return lists;
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

/// What the plan's job says of receive slots, as it says it: `2  # default`; empty if nothing.
std::string slotsInJob(const Plan &plan) {
  constexpr std::string_view kKey = "\n  receive_slots: ";
  const std::size_t key = plan.job.find(kKey);
  if (key == std::string::npos)
    return {};
  const std::size_t begin = key + kKey.size();
  return printable(plan.job.substr(begin, plan.job.find('\n', begin) - begin));
}

/// The value and where it comes from.
std::pair<std::string, std::string> slotsAndOrigin(const Plan &plan) {
  const std::string line = slotsInJob(plan);
  const std::size_t mark = line.find('#');
  if (mark == std::string::npos)
    return {line, {}};
  return {line.substr(0, line.find_last_not_of(' ', mark == 0 ? 0 : mark - 1) + 1),
          line.substr(std::min(mark + 2, line.size()))};
}

} // namespace

std::string planMemory(const Plan &plan) {
  const verify::ActionTable table(plan, verify::wholeStepOf(plan));
  std::string text;
  for (const auto &ranks : alikeRanks(table)) {
    const std::uint32_t rank = ranks.front()->rank;
    text += fmt::format("rank {}{}{}\n", rank,
                        ranks.size() == 1 ? "" : fmt::format(" and {} like it", ranks.size() - 1),
                        plan.mesh.data > 2 && rank >= plan.mesh.pipeline
                            ? ", in every replica but the leading one"
                            : "");
    for (const TierMemory &memory : liveSetOf(table, *ranks.front()))
      appendTier(plan, rank, memory, text);
    text +=
        fmt::format("  beside its arenas: {} at most\n", bytesInWords(rankAllowance(plan, rank)));
  }
  text += fmt::format("every process, beside its ranks: {} at most\n",
                      bytesInWords(processAllowance(plan)));
  if (const auto [slots, origin] = slotsAndOrigin(plan); !slots.empty())
    text += fmt::format("slots of the channels into {}: {}, {}\n",
                        slots.starts_with('[') ? "each rank of the pipeline" : "every rank", slots,
                        origin);
  return text;
}

std::string memoryJson(const Plan &plan) {
  const verify::ActionTable table(plan, verify::wholeStepOf(plan));
  nlohmann::ordered_json lists = nlohmann::ordered_json::array();
  for (const auto &ranks : alikeRanks(table)) {
    nlohmann::ordered_json numbers = nlohmann::ordered_json::array(),
                           tiers = nlohmann::ordered_json::array();
    for (const verify::RankView *rank : ranks)
      numbers.push_back(rank->rank);
    for (const TierMemory &memory : liveSetOf(table, *ranks.front()))
      tiers.push_back(jsonOf(plan, ranks.front()->rank, memory));
    lists.push_back({{"ranks", numbers},
                     {"tiers", tiers},
                     {"allowance_bytes", rankAllowance(plan, ranks.front()->rank)}});
  }
  nlohmann::ordered_json json{{"format", "vime-memory"},
                              {"format_version", 1},
                              {"process_allowance_bytes", processAllowance(plan)},
                              {"alike", lists}};
  if (const auto [slots, origin] = slotsAndOrigin(plan); !slots.empty())
    json["receive_slots"] = {{"value", slots}, {"origin", origin}};
  return json.dump(2);
}

} // namespace vime
