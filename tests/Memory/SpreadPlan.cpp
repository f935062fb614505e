#include "tests/Memory/SpreadPlan.h"

#include <algorithm>
#include <set>

#include "runtime/Plan/Mesh.h"

namespace vime {
namespace {

using namespace plan;

std::uint64_t wholePages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

std::uint64_t alignmentOf(BufferKind kind) {
  const bool isIndex =
      kind == BufferKind::Segments || kind == BufferKind::Tokens || kind == BufferKind::Labels;
  return isIndex ? sizeof(std::int32_t) : sizeof(double);
}

bool movesWhole(const Plan &plan, const Lane &lane) {
  if (lane.kind == LaneKind::Group)
    return plan.groups[lane.group].message.perToken == 0;
  return (lane.kind == LaneKind::Send || lane.kind == LaneKind::Receive) &&
         lane.message.perToken == 0;
}

/// Buffers of several slots that a message may move together.
std::set<std::uint32_t> joinedBuffers(const Plan &plan, std::uint32_t layout) {
  std::set<std::uint32_t> joined;
  for (std::size_t place = 0; place < plan.layoutOf.size(); ++place) {
    const Program &program = plan.programs[plan.programOf[place]];
    if (plan.layoutOf[place] != layout)
      continue;
    for (const Action &action : program.actions)
      for (std::uint32_t operand = 0; operand < action.operandCount; ++operand)
        if (const std::uint32_t buffer = program.operands[action.operands + operand];
            buffer != kNoBuffer && movesWhole(plan, program.lanes[action.lane]) &&
            plan.layouts[layout].buffers[buffer].count > 1)
          joined.insert(buffer);
  }
  return joined;
}

/// A spread buffer's slots are apart if and only if a page and more lies between them.
bool isJoined(const Buffer &buffer) { return buffer.count > 1 && buffer.stride < kPage; }

} // namespace

Plan spread(Plan plan, Side side) {
  for (std::uint32_t index = 0; index < plan.layouts.size(); ++index) {
    const std::set<std::uint32_t> joined = joinedBuffers(plan, index);
    Layout &layout = plan.layouts[index];
    std::array<std::uint64_t, 2> next{kPage, kPage};
    for (std::uint32_t number = 0; number < layout.buffers.size(); ++number) {
      Buffer &buffer = layout.buffers[number];
      const bool together = joined.count(number) != 0;
      const std::uint64_t bytes = together ? buffer.extent() : buffer.bytes;
      const std::uint64_t pages = wholePages(bytes), align = alignmentOf(buffer.kind);
      std::uint64_t &at = next[static_cast<std::size_t>(buffer.tier)];
      if (!together)
        buffer.stride = pages + kPage;
      buffer.offset = at + (side == Side::End ? pages - (bytes + align - 1) / align * align : 0);
      at += (pages + kPage) * (together ? 1 : buffer.count);
    }
    for (std::size_t tier = 0; tier < next.size(); ++tier)
      layout.arena[tier] = layout.arena[tier] == 0 ? 0 : next[tier];
  }
  return plan;
}

std::vector<Region> regionsOf(const Layout &layout, Tier tier) {
  std::vector<Region> regions;
  for (std::uint32_t number = 0; number < layout.buffers.size(); ++number) {
    const Buffer &buffer = layout.buffers[number];
    if (buffer.tier != tier)
      continue;
    const std::uint32_t count = isJoined(buffer) ? 1 : buffer.count;
    const std::uint64_t bytes = isJoined(buffer) ? buffer.extent() : buffer.bytes;
    for (std::uint32_t slot = 0; slot < count; ++slot) {
      const std::uint64_t begin = buffer.offset + slot * buffer.stride;
      regions.push_back({number, slot, {begin, begin + bytes}});
    }
  }
  std::sort(regions.begin(), regions.end(), [](const Region &one, const Region &other) {
    return one.extent.begin < other.extent.begin;
  });
  return regions;
}

std::vector<Extent> gapsOf(const Layout &layout, Tier tier) {
  std::vector<Extent> gaps;
  std::uint64_t at = 0;
  for (const Region &region : regionsOf(layout, tier)) {
    gaps.push_back({at, region.extent.begin / kPage * kPage});
    at = wholePages(region.extent.end);
  }
  gaps.push_back({at, layout.arena[static_cast<std::size_t>(tier)]});
  std::erase_if(gaps, [](const Extent &gap) { return gap.begin >= gap.end; });
  return gaps;
}

} // namespace vime
