#include "tests/Interpreter/Uses.h"

#include <algorithm>

#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Mesh.h"

namespace vime::interpreter {

using namespace plan;

namespace {

bool isSum(std::string_view operand) {
  return operand == "gradients" || operand == "tied_gradients";
}

/// The slice that begins what all slices of a microbatch share finds nothing there.
bool begins(const Plan &plan, std::string_view operand, std::uint32_t microbatch) {
  const std::uint32_t slice = microbatch % plan.data.slices;
  return (operand == "context" && slice == 0) ||
         (operand == "context_gradients" && slice + 1 == plan.data.slices);
}

bool clears(const Action &action, std::string_view operand) {
  return isSum(operand) && (action.immediate & kOverwriteGradients) != 0 &&
         (action.opcode == code(Opcode::Backward) || action.opcode == code(Opcode::BackwardWeight));
}

/// One slot for each microbatch of a step, filled by one action.
bool isPerMicrobatch(BufferKind kind) {
  return (kind >= BufferKind::Segments && kind <= BufferKind::Losses) ||
         kind == BufferKind::Policy || kind == BufferKind::Reference;
}

Place slotOf(const Buffer &buffer, std::uint32_t slot, std::uint64_t bytes) {
  return {buffer.tier, buffer.offset + buffer.stride * slot, bytes};
}

} // namespace

Access::Access(const Plan &plan, std::uint32_t rank)
    : plan(plan), rank(rank), program(*programOf(plan, rank)), layout(*layoutOf(plan, rank)),
      rules(plan, rank) {}

bool Access::isRoot(const Lane &lane) const {
  return lane.kind == LaneKind::Group &&
         memberIndex(plan.mesh, rank, plan.groups[lane.group]) == plan.groups[lane.group].root;
}

Use Access::useOf(const Action &action, std::size_t operand, std::uint32_t microbatch,
                  bool isRoot) const {
  const OperandSignature &signature = findSignature(action.opcode)->operands[operand];
  Use use;
  use.present = true;
  switch (signature.access) {
  case plan::Access::Read:
    use.reads = !begins(plan, signature.name, microbatch);
    break;
  case plan::Access::Write:
    use.writes = true;
    break;
  case plan::Access::ReadWrite:
    use.reads = !clears(action, signature.name) && !begins(plan, signature.name, microbatch);
    use.writes = true;
    break;
  case plan::Access::RootReadOthersWrite:
    use.reads = isRoot;
    use.writes = !isRoot;
    break;
  case plan::Access::RootWrite:
    use.writes = isRoot;
    break;
  }
  return use;
}

std::vector<Place> Access::placesOf(const Action &action, const Signature &signature,
                                    std::size_t operand, std::uint32_t microbatch,
                                    std::uint32_t microbatches, bool isEmpty) const {
  const Buffer &buffer = layout.buffers[program.operands[action.operands + operand]];
  const Lane &lane = program.lanes[action.lane];
  if (signature.family == Family::Transfer) {
    if (lane.message.perToken == 0)
      return {slotOf(buffer, 0, lane.message.fixed)};
    const std::uint64_t tokens = isEmpty ? 0 : plan.data.tokens;
    return {slotOf(buffer, microbatch % buffer.count,
                   lane.message.fixed + lane.message.perToken * tokens)};
  }
  if (signature.family == Family::Collective && !movesOperands(plan.groups[lane.group].operation)) {
    const Group &group = plan.groups[lane.group];
    const std::uint64_t members = operand == 1 ? memberCount(plan.mesh, group) : 1;
    return {slotOf(buffer, 0, group.message.fixed * members)};
  }
  const bool isOfAllSlices =
      buffer.kind == BufferKind::Context || buffer.kind == BufferKind::ContextGradients;
  if (signature.perMicrobatch)
    return {slotOf(buffer,
                   (isOfAllSlices ? microbatch / plan.data.slices : microbatch) % buffer.count,
                   buffer.bytes)};
  std::vector<Place> places;
  const std::uint32_t slots =
      isPerMicrobatch(buffer.kind) ? std::min(buffer.count, microbatches) : 1;
  for (std::uint32_t slot = 0; slot < slots; ++slot)
    places.push_back(slotOf(buffer, slot, buffer.bytes));
  return places;
}

std::vector<Use> Access::of(const Action &action, std::uint32_t microbatch,
                            std::uint32_t microbatches, bool isEmpty) const {
  const Signature &signature = *findSignature(action.opcode);
  const OperandRuleList &needs = rules.of(signature, action.lane, action.stage);
  const bool moves = signature.family == Family::Transfer || signature.family == Family::Collective;
  std::vector<Use> uses;
  for (std::size_t operand = 0; operand < signature.operands.size(); ++operand) {
    const std::uint32_t index = program.operands[action.operands + operand];
    if (index == kNoBuffer) {
      uses.emplace_back();
      continue;
    }
    Use use = useOf(action, operand, microbatch, isRoot(program.lanes[action.lane]));
    use.places = placesOf(action, signature, operand, microbatch, microbatches, isEmpty);
    const std::uint64_t whole = use.places.empty() ? 0 : use.places[0].bytes;
    use.needed = moves || needs[operand].bytes == 0 ? whole : std::min(needs[operand].bytes, whole);
    use.kind = layout.buffers[index].kind;
    uses.push_back(std::move(use));
  }
  if (signature.opcode == Opcode::Generate) // with weights that it was told of before
    for (const Buffer &buffer : layout.buffers)
      if (buffer.kind == BufferKind::Weights)
        uses.push_back({.present = true,
                        .reads = true,
                        .places = {slotOf(buffer, 0, buffer.bytes)},
                        .needed = buffer.bytes,
                        .kind = buffer.kind});
  if (signature.opcode == Opcode::BroadcastWeights) { // of which a part
    const std::uint64_t bucket = plan.groups[program.lanes[action.lane].group].message.fixed,
                        begin = std::min(bucket * action.immediate, uses[0].needed);
    uses[0].places[0].begin += begin;
    uses[0].places[0].bytes = uses[0].needed = std::min(bucket, uses[0].needed - begin);
  }
  return uses;
}

} // namespace vime::interpreter
