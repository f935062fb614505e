#include "runtime/Plan/CheckParts.h"

#include <fmt/format.h>

#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Names.h"

namespace vime::plan {
namespace {

bool belongsToStage(BufferKind kind) {
  return kind >= BufferKind::Weights && kind <= BufferKind::WeightStash;
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

} // namespace

Status checkLayout(const Plan &plan, std::uint32_t coordinate) {
  const Layout &layout = *layoutOf(plan, coordinate);
  const std::size_t stages = programOf(plan, coordinate)->stages.size();
  for (const std::uint64_t bytes : layout.arena)
    if (bytes > kMostBytes)
      return unacceptable(fmt::format("rank {} has an arena of {} bytes", coordinate, bytes));
  for (std::uint32_t index = 0; index < layout.buffers.size(); ++index)
    if (const char *problem = problemOf(layout.buffers[index], layout, stages))
      return unacceptable(fmt::format("rank {}: buffer {} ({}) {}", coordinate, index,
                                      describeBuffer(plan, coordinate, index), problem));
  return Status();
}

} // namespace vime::plan
