#include "tests/Memory/Shadow.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "runtime/Exec/RankState.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Opcode.h"
#include "runtime/Transport/Transport.h"

namespace vime {
namespace {

using namespace plan;

constexpr Tier kTiers[] = {Tier::Device, Tier::Host};
constexpr std::uint8_t kRead = 1, kWritten = 2, kReadFirst = 4;

/// One tier of one rank. The handler of faults writes to atomics and nothing else.
struct ShadowTier {
  std::byte *base = nullptr;
  std::uint64_t bytes = 0;
  std::vector<Region> regions;
  std::vector<std::int32_t> regionOfPage;             // -1: a gap
  std::unique_ptr<std::atomic<std::uint8_t>[]> state; // of each region: what this action did
  std::unique_ptr<std::atomic<std::uint8_t>[]> pages; // of each page: within reach, this action
  std::unique_ptr<std::atomic<bool>[]> everTouched;   // of each page

  void build(const Layout &layout, Tier tier, std::byte *at) {
    base = at;
    bytes = layout.arena[static_cast<std::size_t>(tier)];
    regions = regionsOf(layout, tier);
    const std::size_t count = bytes / kPage;
    regionOfPage.assign(count, -1);
    for (std::size_t index = 0; index < regions.size(); ++index)
      for (std::uint64_t page = regions[index].extent.begin / kPage;
           page * kPage < regions[index].extent.end; ++page)
        regionOfPage[page] = static_cast<std::int32_t>(index);
    state = std::make_unique<std::atomic<std::uint8_t>[]>(regions.size());
    pages = std::make_unique<std::atomic<std::uint8_t>[]>(count);
    everTouched = std::make_unique<std::atomic<bool>[]>(count);
  }
  bool holds(const std::byte *address) const { return address >= base && address < base + bytes; }
  std::byte *pageAt(std::size_t page) const { return base + page * kPage; }
};

struct ShadowRank {
  std::array<ShadowTier, 2> tiers;
  std::vector<TracedAction> trace;
  std::vector<Touch> between;
  std::map<std::uint32_t, std::uint64_t> posts; // by end
  // Whose turn it is: one action behind the other, whichever thread runs it.
  std::mutex mutex;
  std::condition_variable moved;
  std::uint32_t next = 0;
  std::vector<std::uint32_t> iterations; // of each loop
};

/// All that is within reach was touched: from the touches to nothing within reach.
void collect(ShadowTier &tier, Tier which, std::vector<Touch> &touches) {
  for (std::uint32_t index = 0; index < tier.regions.size(); ++index) {
    const std::uint8_t seen = tier.state[index].exchange(0);
    if (seen == 0)
      continue;
    touches.push_back({which, index, (seen & kReadFirst) != 0, (seen & kWritten) != 0});
    const Extent extent = tier.regions[index].extent;
    for (std::size_t page = extent.begin / kPage; page * kPage < extent.end; ++page)
      if (tier.pages[page].exchange(0) != 0)
        mprotect(tier.pageAt(page), kPage, PROT_NONE);
  }
}

/// The kernel reads what these write into files, and faults nobody.
bool handsOut(std::uint16_t opcode) {
  return opcode == code(Opcode::ExportShard) || opcode == code(Opcode::CheckpointShard);
}

bool isTransfer(LaneKind kind) {
  return kind == LaneKind::Send || kind == LaneKind::Receive || kind == LaneKind::Group;
}

} // namespace

class Shadow::Ranks {
public:
  explicit Ranks(const Plan &plan) : plan(plan), all(plan.mesh.ranks()) {
    for (const auto &[opcode, routine] : usual)
      watched[opcode] = run;
    probe = {.routines = &watched, .reserved = [this](std::uint32_t rank, const ArenaBases &bases) {
               hide(rank, bases);
             }};
    active = this;
    struct sigaction action{};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, &before);
  }
  ~Ranks() {
    sigaction(SIGSEGV, &before, nullptr);
    active = nullptr;
  }

  const Plan &plan;
  RankProbe probe;
  std::vector<ShadowRank> all;
  std::mutex mutex;
  std::string problem;

private:
  void hide(std::uint32_t rank, const ArenaBases &bases) {
    const Layout &layout = *layoutOf(plan, rank);
    ShadowRank &own = all[rank];
    own.iterations.resize(programOf(plan, rank)->loops.size());
    for (const Tier tier : kTiers) {
      const auto place = static_cast<std::size_t>(tier);
      own.tiers[place].build(layout, tier, bases[place]);
      if (layout.arena[place] != 0)
        mprotect(bases[place], layout.arena[place], PROT_NONE);
    }
    visible.fetch_add(1, std::memory_order_release);
  }

  /// What every opcode does while it is watched.
  static Status run(RankState &state, const Instruction &instruction) {
    return active->runInTurn(state, instruction);
  }

  Status runInTurn(RankState &state, const Instruction &instruction) {
    ShadowRank &own = all[state.rank];
    if (!awaitTurn(own, instruction.action)) {
      const std::lock_guard lock(mutex);
      problem =
          fmt::format("rank {} waits for its turn at action {}", state.rank, instruction.action);
      return Status(StatusCode::Internal, problem);
    }
    for (const Tier tier : kTiers)
      collect(own.tiers[static_cast<std::size_t>(tier)], tier, own.between);
    const Action &action = state.program.actions[instruction.action];
    if (handsOut(action.opcode)) // the first operand is read
      touch(*instruction.operands[0], operandBuffer(state, instruction.action, 0).bytes);
    Status status = usual.at(action.opcode)(state, instruction);
    if (status.ok() && isTransfer(state.program.lanes[instruction.lane].kind))
      status = state.transport->await(instruction.end, ++own.posts[instruction.end] + 1);
    TracedAction &traced = own.trace.emplace_back(TracedAction{instruction.action, {}});
    for (const Tier tier : kTiers)
      collect(own.tiers[static_cast<std::size_t>(tier)], tier, traced.touches);
    passTurn(own, state.program, instruction.action);
    return status;
  }

  static void touch(const volatile std::byte &first, std::uint64_t bytes) {
    for (std::uint64_t at = 0; at < bytes; at += kPage)
      (void)(&first)[at];
    (void)(&first)[bytes - 1];
  }

  static bool awaitTurn(ShadowRank &rank, std::uint32_t action) {
    std::unique_lock lock(rank.mutex);
    return rank.moved.wait_for(lock, std::chrono::seconds(30), [&] { return rank.next == action; });
  }

  static void passTurn(ShadowRank &rank, const Program &program, std::uint32_t action) {
    const std::lock_guard lock(rank.mutex);
    rank.next = action + 1;
    for (std::size_t index = program.loops.size(); index-- > 0;) { // children before parents
      const Loop &loop = program.loops[index];
      if (rank.next != loop.end)
        continue;
      if (++rank.iterations[index] < loop.trips) {
        rank.next = loop.begin;
        break;
      }
      rank.iterations[index] = 0;
    }
    rank.moved.notify_all();
  }

  static void handle(int signal, siginfo_t *info, void *context) {
    const auto *address = static_cast<const std::byte *>(info->si_addr);
    const auto *machine = static_cast<const ucontext_t *>(context);
    constexpr greg_t kIsWrite = 2; // of x86's error code
    const bool writes = (machine->uc_mcontext.gregs[REG_ERR] & kIsWrite) != 0;
    if (!active || !active->reveal(address, writes))
      std::signal(signal, SIG_DFL); // a fault of its own: it comes again
  }

  bool reveal(const std::byte *address, bool writes) {
    visible.load(std::memory_order_acquire);
    for (ShadowRank &rank : all)
      for (ShadowTier &tier : rank.tiers)
        if (tier.holds(address))
          return reveal(tier, static_cast<std::size_t>(address - tier.base) / kPage, writes);
    return false;
  }

  static bool reveal(ShadowTier &tier, std::size_t page, bool writes) {
    const std::int32_t region = tier.regionOfPage[page];
    if (region < 0)
      return false;
    std::atomic<std::uint8_t> &seen = tier.state[static_cast<std::size_t>(region)];
    const bool isFirst = (seen.load() & kWritten) == 0;
    seen.fetch_or(writes ? kWritten : kRead);
    if (!writes && isFirst)
      seen.fetch_or(kReadFirst);
    tier.pages[page].store(1);
    tier.everTouched[page].store(true);
    return mprotect(tier.pageAt(page), kPage, writes ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
  }

  static inline Ranks *active = nullptr;
  const RoutineTable usual = trainingRoutines();
  RoutineTable watched;
  std::atomic<int> visible{0};
  struct sigaction before{};
};

Shadow::Shadow(const Plan &plan) : ranks(std::make_unique<Ranks>(plan)) {}
Shadow::~Shadow() = default;

const RankProbe &Shadow::probe() const { return ranks->probe; }

const std::vector<TracedAction> &Shadow::trace(std::uint32_t rank) const {
  return ranks->all[rank].trace;
}

const std::vector<Touch> &Shadow::betweenActions(std::uint32_t rank) const {
  return ranks->all[rank].between;
}

std::vector<std::uint64_t> Shadow::untouchedBytes(std::uint32_t rank, Tier which) const {
  const ShadowTier &tier = ranks->all[rank].tiers[static_cast<std::size_t>(which)];
  std::vector<std::uint64_t> bytes(tier.regions.size());
  for (std::size_t index = 0; index < bytes.size(); ++index) {
    const Extent extent = tier.regions[index].extent;
    for (std::uint64_t page = extent.begin / kPage; page * kPage < extent.end; ++page)
      if (!tier.everTouched[page])
        bytes[index] += std::min(extent.end, (page + 1) * kPage) - page * kPage;
  }
  return bytes;
}

std::string Shadow::problem() const { return ranks->problem; }

} // namespace vime
