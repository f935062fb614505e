#include "tests/exec/ChainRun.h"

#include <cstdlib>
#include <memory>
#include <thread>

#include "runtime/Exec/Arena.h"
#include "runtime/Exec/Executor.h"
#include "runtime/Transport/Cores.h"
#include "runtime/Transport/Ends.h"
#include "runtime/Transport/LocalTransport.h"

namespace vime {
namespace {

Status nothing(RankState &, const Instruction &) { return Status(); }

/// A step header outside the arena: chains have no coordinator.
std::vector<std::byte> headerOf(const plan::Plan &plan, const std::vector<std::uint32_t> &tokens) {
  std::uint32_t microbatches = plan.data.microbatches;
  for (const plan::Action &action : plan.programs.front().actions)
    microbatches = std::max(microbatches, action.microbatch + 1);
  std::vector<std::byte> bytes(plan::StepHeader::bytes(microbatches));
  auto &header = *reinterpret_cast<plan::StepHeader *>(bytes.data());
  header.microbatches = microbatches;
  for (std::uint32_t microbatch = 0; microbatch < microbatches; ++microbatch)
    header.tokens()[microbatch] = tokens.empty() ? 1 : tokens[microbatch];
  return bytes;
}

Status runRank(const ChainRun &chain, std::uint32_t rank, Transport &transport, Sleeper &sleeper,
               Arena &memory) {
  const plan::Program &program = chain.plan.programs[rank];
  const plan::Layout &layout = chain.plan.layouts[rank];
  StatusOr<Arena> arena = Arena::reserve(layout.arena[0], Arena::Edge::Guarded);
  if (!arena.ok())
    return arena.status();
  memory = std::move(*arena);
  StatusOr<ResolvedProgram> resolved =
      resolve(program, layout, chain.plan.data, {memory.data(), nullptr}, chain.routines);
  if (!resolved.ok())
    return resolved.status();
  const std::vector<std::byte> header = headerOf(chain.plan, chain.tokens);
  RankState state{.plan = chain.plan, .program = program, .layout = layout, .rank = rank};
  state.transport = &transport;
  state.header = reinterpret_cast<const plan::StepHeader *>(header.data());
  for (const plan::Lane &lane : program.lanes) {
    const bool isGroup = lane.kind == plan::LaneKind::Group;
    const plan::Message message = isGroup ? chain.plan.groups[lane.group].message : lane.message;
    state.messages.push_back({message.fixed, message.perToken});
  }
  return Executor(state, std::move(*resolved), sleeper, /*finishedBefore=*/0).run();
}

struct Connected {
  explicit Connected(const ChainRun &chain) {
    std::vector<RankEnds> ends;
    const bool spins = chain.plan.mesh.ranks() <= availableCores();
    for (std::uint32_t rank = 0; rank < chain.plan.mesh.ranks(); ++rank) {
      ends.push_back(*endsOf(chain.plan, rank));
      sleepers.push_back(std::make_unique<Sleeper>(spins));
      pointers.push_back(sleepers.back().get());
    }
    StatusOr<LocalTransports> connected =
        chain.rendezvous ? connectRendezvous(ends, pointers, chain.limit, *chain.rendezvous)
                         : connectLocal(ends, pointers, chain.limit);
    if (!connected.ok())
      std::abort(); // a defect of the test's plan
    transports = std::move(*connected);
    arenas.resize(transports.size());
  }
  std::vector<std::unique_ptr<Sleeper>> sleepers;
  std::vector<Sleeper *> pointers;
  LocalTransports transports;
  std::vector<Arena> arenas; // until all have stopped: peers copy from them
};

} // namespace

std::vector<Status> ChainRun::run() const {
  Connected connected(*this);
  std::vector<Status> statuses(plan.mesh.ranks());
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < plan.mesh.ranks(); ++rank)
    threads.emplace_back([&, rank] {
      statuses[rank] = runRank(*this, rank, *connected.transports[rank], *connected.sleepers[rank],
                               connected.arenas[rank]);
      if (!statuses[rank].ok())
        connected.transports[rank]->abort();
    });
  for (std::thread &thread : threads)
    thread.join();
  return statuses;
}

Status ChainRun::runAlone() const {
  Connected connected(*this);
  return runRank(*this, 0, *connected.transports[0], *connected.sleepers[0], connected.arenas[0]);
}

RoutineTable nullRoutines() {
  RoutineTable table = plainRoutines();
  for (const plan::Opcode opcode : {plan::Opcode::Forward, plan::Opcode::Backward,
                                    plan::Opcode::SquareNorm, plan::Opcode::Clip})
    table[plan::code(opcode)] = nothing;
  return table;
}

} // namespace vime
