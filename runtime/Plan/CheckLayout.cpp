#include "runtime/Plan/CheckParts.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Names.h"
#include "runtime/Plan/Slices.h"

namespace vime::plan {
namespace {

bool belongsToStage(BufferKind kind) {
  return (kind >= BufferKind::Weights && kind <= BufferKind::TiedGradients) ||
         kind == BufferKind::Snapshot || kind == BufferKind::Kept ||
         kind == BufferKind::WeightShare || isShared(kind);
}

/// The slots lie inside the arena; written so that no sum overflows.
bool fits(const Buffer &buffer, std::uint64_t arena) {
  if (buffer.bytes > arena || buffer.offset > arena - buffer.bytes)
    return false;
  const std::uint64_t room = arena - buffer.bytes - buffer.offset;
  return buffer.count == 1 || buffer.stride <= room / (buffer.count - 1);
}

const char *problemOf(const Buffer &buffer, const Layout &layout, std::size_t stages) {
  if (!isEnumerator(buffer.kind) || !isEnumerator(buffer.tier))
    return "is of an unknown kind or tier";
  if (belongsToStage(buffer.kind) ? buffer.stage >= stages : buffer.stage != kNoStage)
    return "belongs to a stage that its rank does not have";
  if (buffer.count < 1)
    return "has no slots";
  if (buffer.offset % kBufferAlignment != 0 || buffer.stride % kBufferAlignment != 0)
    return "is not aligned to 64 bytes";
  if (buffer.stride < buffer.bytes)
    return "has slots that overlap";
  if (!fits(buffer, layout.arena[static_cast<std::size_t>(buffer.tier)]))
    return "reaches beyond its arena";
  return nullptr;
}

/// Tokens, labels and offsets become addresses: what else is written there would lead routines
/// anywhere.
bool steersAddresses(BufferKind kind) {
  return kind == BufferKind::Header || kind == BufferKind::Segments || kind == BufferKind::Tokens ||
         kind == BufferKind::Labels;
}

Status checkSharing(const Plan &plan, std::uint32_t rank) {
  const std::vector<Buffer> &buffers = layoutOf(plan, rank)->buffers;
  const std::vector<bool> shares = buffersThatShare(*layoutOf(plan, rank));
  for (std::uint32_t index = 0; index < buffers.size(); ++index) {
    if (!shares[index] || !steersAddresses(buffers[index].kind))
      continue;
    std::uint32_t other = 0;
    while (other == index || !shareBytes(buffers[index], buffers[other]))
      ++other;
    return unacceptable(fmt::format("rank {}: buffer {} ({}) shares bytes with buffer {} ({})",
                                    rank, index, describeBuffer(plan, rank, index), other,
                                    describeBuffer(plan, rank, other)));
  }
  return Status();
}

} // namespace

bool shareBytes(const Buffer &one, const Buffer &other) {
  return one.tier == other.tier && one.extent() != 0 && other.extent() != 0 &&
         one.offset < other.offset + other.extent() && other.offset < one.offset + one.extent();
}

std::vector<bool> buffersThatShare(const Layout &layout) {
  const std::vector<Buffer> &buffers = layout.buffers;
  std::vector<std::uint32_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0u);
  std::erase_if(order, [&](std::uint32_t index) { return buffers[index].extent() == 0; });
  std::sort(order.begin(), order.end(), [&](std::uint32_t one, std::uint32_t other) {
    return std::tuple(buffers[one].tier, buffers[one].offset) <
           std::tuple(buffers[other].tier, buffers[other].offset);
  });
  // Who shares with anything shares with the one that reaches farthest before it, or is that one
  // for its successor.
  std::vector<bool> shares(buffers.size());
  const std::uint32_t *farthest = nullptr;
  for (const std::uint32_t &index : order) {
    if (farthest && shareBytes(buffers[*farthest], buffers[index]))
      shares[*farthest] = shares[index] = true;
    const auto endOf = [](const Buffer &buffer) { return buffer.offset + buffer.extent(); };
    if (!farthest || buffers[*farthest].tier != buffers[index].tier ||
        endOf(buffers[*farthest]) < endOf(buffers[index]))
      farthest = &index;
  }
  return shares;
}

Status checkLayout(const Plan &plan, std::uint32_t rank) {
  const Layout &layout = *layoutOf(plan, rank);
  const std::size_t stages = programOf(plan, rank)->stages.size();
  for (const std::uint64_t bytes : layout.arena)
    if (bytes > kMostBytes)
      return unacceptable(fmt::format("rank {} has an arena of {} bytes", rank, bytes));
  for (std::uint32_t index = 0; index < layout.buffers.size(); ++index)
    if (const char *problem = problemOf(layout.buffers[index], layout, stages))
      return unacceptable(fmt::format("rank {}: buffer {} ({}) {}", rank, index,
                                      describeBuffer(plan, rank, index), problem));
  return checkSharing(plan, rank);
}

} // namespace vime::plan
