#include "runtime/Plan/Describe.h"

#include "kernels/SumType.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/Names.h"

namespace vime::plan {
namespace {

std::string number(std::string_view what, std::uint64_t value) {
  return std::string(what) + " " + std::to_string(value);
}

/// The model's stage behind an entry of the rank's stage table.
std::string stageText(const Program &program, std::uint32_t local) {
  if (local >= program.stages.size())
    return number("local stage", local);
  return number("stage", program.stages[local].stage);
}

const Buffer *bufferOf(const Plan &plan, std::uint32_t rank, std::uint32_t buffer) {
  const Layout *layout = layoutOf(plan, rank);
  return layout && buffer < layout->buffers.size() ? &layout->buffers[buffer] : nullptr;
}

/// In programOf and layoutOf; a mesh without ranks has none.
std::uint32_t placeOf(const Mesh &mesh, std::uint32_t rank) {
  return mesh.pipeline == 0 ? rank : representativeOf(mesh, rank);
}

/// What a transfer moves: its first operand.
const Buffer *payloadOf(const Plan &plan, std::uint32_t rank, const Program &program,
                        const Action &action) {
  if (action.operandCount == 0 || action.operands >= program.operands.size())
    return nullptr;
  return bufferOf(plan, rank, program.operands[action.operands]);
}

std::string microbatchText(const Action &action, std::optional<std::uint32_t> iteration) {
  if (iteration)
    return number("microbatch", action.microbatch + std::uint32_t{action.step} * *iteration);
  std::string text = number("microbatch", action.microbatch);
  if (action.step != 0)
    text += " + " + (action.step == 1 ? std::string() : std::to_string(action.step) + " × ") +
            "iteration";
  return text;
}

/// `send forward to rank 2, stage 1, microbatch 3`; a message that moves a whole buffer names it
/// instead.
std::string transferText(const Plan &plan, std::uint32_t rank, const Program &program,
                         const Action &action, std::optional<std::uint32_t> iteration) {
  const bool sends = action.opcode == code(Opcode::Send);
  const Lane &lane = program.lanes[action.lane];
  std::string text = (sends ? "send " : "receive ") + std::string(nameOf(lane.flow));
  text += (sends ? " to " : " from ") + number("rank", resolvePeer(plan.mesh, rank, lane.peer));
  const Buffer *payload = payloadOf(plan, rank, program, action);
  if (lane.message.perToken == 0)
    return payload ? text + ", " + std::string(nameOf(payload->kind)) : text;
  if (payload && payload->stage != kNoStage)
    text += ", " + stageText(program, payload->stage);
  return text + ", " + microbatchText(action, iteration);
}

/// Weights that are rounded copies have their masters among the moments.
bool holdsMasters(const Plan &plan, const Program *program, const Buffer &buffer) {
  if (buffer.kind != BufferKind::Moments || !program || buffer.stage >= program->stages.size())
    return false;
  const std::uint32_t model = program->stages[buffer.stage].model;
  return model < plan.models.size() &&
         plan.models[model].config.type != sumTypeOf(plan.models[model].config.type);
}

} // namespace

std::uint32_t resolvePeer(const Mesh &mesh, std::uint32_t rank, const Peer &peer) {
  // rank = ((data · context + c) · tensor + t) · pipeline + pp: an axis is the digit at its stride.
  const std::uint32_t sizes[] = {mesh.pipeline, mesh.data, mesh.context, mesh.tensor};
  const std::uint32_t strides[] = {1, mesh.pipeline * mesh.tensor * mesh.context,
                                   mesh.pipeline * mesh.tensor, mesh.pipeline};
  const auto named = static_cast<std::size_t>(peer.axis); // no peer lies along the others
  const std::size_t axis = named < std::size(sizes) ? named : 0;
  const std::int64_t size = sizes[axis], stride = strides[axis];
  if (size == 0 || stride == 0)
    return rank;
  const std::int64_t own = rank / stride % size;
  const std::int64_t wanted = peer.relative ? own + peer.value : peer.value;
  const std::int64_t other = (wanted % size + size) % size;
  return static_cast<std::uint32_t>(rank + (other - own) * stride);
}

const Program *programOf(const Plan &plan, std::uint32_t rank) {
  const std::uint32_t place = placeOf(plan.mesh, rank);
  if (place >= plan.programOf.size() || plan.programOf[place] >= plan.programs.size())
    return nullptr;
  return &plan.programs[plan.programOf[place]];
}

const Layout *layoutOf(const Plan &plan, std::uint32_t rank) {
  const std::uint32_t place = placeOf(plan.mesh, rank);
  if (place >= plan.layoutOf.size() || plan.layoutOf[place] >= plan.layouts.size())
    return nullptr;
  return &plan.layouts[plan.layoutOf[place]];
}

std::string describe(const Plan &plan, std::uint32_t rank, std::uint32_t index,
                     std::optional<std::uint32_t> iteration) {
  const Program *program = programOf(plan, rank);
  if (!program || index >= program->actions.size())
    return number("action", index);
  const Action &action = program->actions[index];
  const Signature *signature = findSignature(action.opcode);
  if (!signature)
    return number("unknown action", action.opcode);
  const bool hasLane = action.lane < program->lanes.size();
  if (signature->family == Family::Transfer && hasLane)
    return transferText(plan, rank, *program, action, iteration);

  std::string text(signature->name);
  if (signature->family == Family::Collective && hasLane) {
    const std::uint32_t group = program->lanes[action.lane].group;
    return text + " `" +
           (group < plan.groups.size() ? plan.groups[group].name : number("group", group)) + "`";
  }
  if (signature->perStage)
    text += ", " + stageText(*program, action.stage);
  if (signature->perMicrobatch)
    text += ", " + microbatchText(action, iteration);
  return text;
}

std::string describeLane(const Plan &plan, std::uint32_t rank, std::uint32_t index) {
  const Program *program = programOf(plan, rank);
  if (!program || index >= program->lanes.size())
    return number("lane", index);
  const Lane &lane = program->lanes[index];
  if (lane.kind == LaneKind::Group)
    return "group `" +
           (lane.group < plan.groups.size() ? plan.groups[lane.group].name
                                            : std::to_string(lane.group)) +
           "`";
  if (lane.kind != LaneKind::Send && lane.kind != LaneKind::Receive)
    return std::string(wordOf(lane.kind)) + " lane";
  const std::string own = number("rank", rank),
                    other = number("rank", resolvePeer(plan.mesh, rank, lane.peer));
  const bool sends = lane.kind == LaneKind::Send;
  return "channel `" + (sends ? own : other) + " → " + (sends ? other : own) + ", " +
         std::string(nameOf(lane.flow)) + "`";
}

std::string describeCondition(const Plan &plan, std::uint32_t entry) {
  if (entry == 0 || entry > plan.conditions.size())
    return number("condition", entry);
  constexpr std::string_view kSigns[] = {" = ", " ≠ ", " < ", " ≥ "};
  const Condition &condition = plan.conditions[entry - 1];
  if (!isEnumerator(condition.comparison))
    return number("condition", entry);
  return std::string(wordOf(condition.decision)) +
         std::string(kSigns[static_cast<std::size_t>(condition.comparison)]) +
         std::to_string(condition.value);
}

std::string describeBuffer(const Plan &plan, std::uint32_t rank, std::uint32_t index) {
  const Buffer *buffer = bufferOf(plan, rank, index);
  if (!buffer)
    return number("buffer", index);
  const Program *program = programOf(plan, rank);
  std::string text(nameOf(buffer->kind));
  if (holdsMasters(plan, program, *buffer))
    text = "masters and moments";
  if (buffer->stage != kNoStage && program)
    text += " of " + stageText(*program, buffer->stage);
  return text;
}

} // namespace vime::plan
