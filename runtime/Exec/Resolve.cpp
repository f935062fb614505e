#include "runtime/Exec/Resolve.h"

#include <fmt/format.h>

#include "runtime/Plan/Slices.h"
#include "runtime/Transport/Ends.h"

namespace vime {
namespace {

class Resolver {
public:
  Resolver(const plan::Program &program, const plan::Layout &layout, const plan::DataSettings &data,
           const ArenaBases &arenas, const RoutineTable &routines)
      : program(program), layout(layout), data(data), arenas(arenas), routines(routines),
        ends(endsOfLanes(program)) {}

  StatusOr<ResolvedProgram> run() {
    std::size_t operands = 0;
    for (const plan::Action &action : program.actions)
      operands += action.operandCount;
    result.addresses.reserve(operands); // instructions point into it
    result.instructions.reserve(program.actions.size());
    for (std::uint32_t index = 0; index < program.actions.size(); ++index)
      if (Status status = add(index); !status.ok())
        return status;
    return std::move(result);
  }

private:
  Status add(std::uint32_t index) {
    const plan::Action &action = program.actions[index];
    const auto routine = routines.find(action.opcode);
    const plan::Signature *signature = plan::findSignature(action.opcode);
    if (!signature || routine == routines.end())
      return refuse(
          index, fmt::format("has opcode {:#06x}, which this program cannot run", action.opcode));
    Instruction instruction{
        .routine = routine->second, .action = index, .microbatch = action.microbatch};
    instruction.end = ends[action.lane];
    instruction.stage = action.stage;
    instruction.immediate = action.immediate;
    instruction.lane = action.lane;
    instruction.flags = action.flags;
    instruction.guard = action.guard;
    instruction.timed = signature->family == plan::Family::Compute ||
                        signature->family == plan::Family::Update ||
                        signature->opcode == plan::Opcode::Generate;
    instruction.moves = signature->perMicrobatch && action.step != 0;
    instruction.waits = blockingWaits(action);
    instruction.operands = result.addresses.data() + result.addresses.size();
    addOperands(action, *signature, instruction.moves);
    result.instructions.push_back(instruction);
    return Status();
  }

  std::array<plan::Wait, 4> blockingWaits(const plan::Action &action) const {
    std::array<plan::Wait, 4> waits{};
    std::size_t count = 0;
    for (const plan::Wait wait : action.waits)
      if (!wait.empty() && !runsInline(program.lanes[wait.lane()].kind))
        waits[count++] = wait;
    return waits;
  }

  void addOperands(const plan::Action &action, const plan::Signature &signature, bool moves) {
    // A transfer that moves a whole buffer (no bytes per token) starts at its first slot.
    const bool slotted = signature.perMicrobatch && !movesWholeBuffer(action, signature);
    for (std::uint32_t operand = 0; operand < action.operandCount; ++operand) {
      const std::uint32_t index = program.operands[action.operands + operand];
      if (index == plan::kNoBuffer) {
        result.addresses.push_back(nullptr);
        continue;
      }
      const plan::Buffer &buffer = layout.buffers[index];
      std::byte *first = arenas[static_cast<std::size_t>(buffer.tier)] + buffer.offset;
      if (moves && slotted && buffer.count > 1)
        result.moving.push_back({static_cast<std::uint32_t>(result.addresses.size()), buffer.count,
                                 microbatchesPerSlot(data, buffer.kind), buffer.stride, first});
      result.addresses.push_back(
          slotted ? first + buffer.stride * slotOf(data, buffer, action.microbatch) : first);
    }
  }

  bool movesWholeBuffer(const plan::Action &action, const plan::Signature &signature) const {
    return signature.family == plan::Family::Transfer &&
           program.lanes[action.lane].message.perToken == 0;
  }

  static Status refuse(std::uint32_t action, const std::string &why) {
    return Status(StatusCode::Unacceptable, fmt::format("action {} {}", action, why));
  }

  const plan::Program &program;
  const plan::Layout &layout;
  const plan::DataSettings &data;
  const ArenaBases &arenas;
  const RoutineTable &routines;
  const std::vector<std::uint32_t> ends;
  ResolvedProgram result;
};

} // namespace

bool runsInline(plan::LaneKind kind) { return plan::runsOnDispatcher(kind); }

StatusOr<ResolvedProgram> resolve(const plan::Program &program, const plan::Layout &layout,
                                  const plan::DataSettings &data, const ArenaBases &arenas,
                                  const RoutineTable &routines) {
  return Resolver(program, layout, data, arenas, routines).run();
}

} // namespace vime
