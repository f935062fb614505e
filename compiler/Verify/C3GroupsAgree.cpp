// C3: every member of a group makes every call: as many in every segment, with the group's
// operation, message and root, and from and into buffers that hold them.
//
// Operation, message and root stand once in the plan's table of groups, so what can differ is who
// calls, how often, with which opcode and what it hands over.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/Verify/Accesses.h"
#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/Names.h"

namespace vime::verify {
namespace {

using namespace plan;

std::uint16_t opcodeOf(Collective operation) {
  constexpr Opcode kOpcodes[] = {
      Opcode::Broadcast, Opcode::Gather,        Opcode::AllGather,     Opcode::AllReduce,
      Opcode::Unshard,   Opcode::ReduceScatter, Opcode::ReduceSquares, Opcode::BroadcastWeights};
  return code(kOpcodes[static_cast<std::size_t>(operation)]);
}

class Members {
public:
  Members(const ActionTable &table, const GroupView &view, Verdict &verdict)
      : table(table), group(table.plan().groups[view.group]), view(view), verdict(verdict) {}

  void judge() {
    if (std::all_of(view.lanes.begin(), view.lanes.end(),
                    [](std::uint32_t lane) { return lane == kNone; }))
      return; // nobody uses it
    for (std::uint32_t member = 0; member < view.lanes.size(); ++member)
      if (view.lanes[member] != kNone)
        calls(member);
    if (view.matched)
      alike();
    else if (table.segmentsAgree())
      present();
  }

private:
  const RankView &rankOf(std::uint32_t member) const { return table.ranks()[view.members[member]]; }
  const RankView &root() const { return rankOf(view.root); }
  std::span<const std::uint32_t> callsOf(std::uint32_t member) const {
    return table.dispatched(table.lanes()[view.lanes[member]]);
  }

  void present() {
    bool all = true;
    for (std::uint32_t member = 0; member < view.lanes.size(); ++member)
      all = onceOn(rankOf(member)) && all;
    if (all)
      counts();
  }

  bool onceOn(const RankView &rank) {
    std::size_t lanes = 0;
    for (const Lane &lane : rank.program->lanes)
      lanes += lane.kind == LaneKind::Group && lane.group == view.group;
    if (lanes == 0)
      verdict.error(Rule::C3, 1,
                    fmt::format("rank {} is a member of group `{}`, but has no lane for it",
                                rank.rank, group.name));
    else if (lanes > 1)
      verdict.error(Rule::C3, 2,
                    fmt::format("rank {} has {} lanes for group `{}`: its calls have no one order",
                                rank.rank, lanes, group.name));
    return lanes == 1;
  }

  std::size_t countIn(std::uint32_t member, std::uint32_t segment) const {
    std::size_t count = 0;
    for (const std::uint32_t entry : callsOf(member))
      count += table.segment(rankOf(member), entry) == segment;
    return count;
  }

  void counts() {
    const RankView &root = this->root();
    for (std::uint32_t segment = 0; segment < root.segments.size(); ++segment)
      for (std::uint32_t member = 0; member < view.lanes.size(); ++member) {
        const std::size_t own = countIn(member, segment), roots = countIn(view.root, segment);
        if (own == roots)
          continue;
        const Segment &where = root.segments[segment];
        Finding &finding = verdict.error(
            Rule::C3, 3,
            fmt::format("rank {} calls group `{}` {} {}, rank {} {}", rankOf(member).rank,
                        group.name, times(own),
                        where.isLoop() ? fmt::format("in an iteration of loop {}", where.loop)
                                       : std::string("outside of loops"),
                        root.rank, times(roots)));
        if (!callsOf(view.root).empty())
          verdict.from(finding, placeOf(table, root, callsOf(view.root).back()));
        if (!callsOf(member).empty())
          verdict.to(finding, placeOf(table, rankOf(member), callsOf(member).back()));
        return;
      }
  }

  /// Each call by itself.
  void calls(std::uint32_t member) {
    const RankView &rank = rankOf(member);
    for (const std::uint32_t entry : callsOf(member)) {
      const Action &action = table.action(rank, entry);
      if (action.opcode != opcodeOf(group.operation)) {
        fault(4, rank, entry,
              fmt::format("{} is called on group `{}`, which is for {}",
                          signatureOf(action.opcode)->name, group.name,
                          plan::nameOf(group.operation)));
        return;
      }
      if (addsUp(group.operation) && !isAwaited(rank, entry, action))
        return;
      if (movesOperands(group.operation) ? !holdsShares(rank, entry, action)
                                         : !fits(rank, entry, action))
        return;
    }
  }

  /// A sum may go on only while its ranks wait for it: whoever does something else first can hold
  /// up a rank whose action has a smaller time.
  bool isAwaited(const RankView &rank, std::uint32_t entry, const Action &action) {
    return (action.flags & kHostBlocking) != 0 ||
           fault(9, rank, entry,
                 fmt::format("rank {} does not wait for the sum of group `{}`", rank.rank,
                             group.name));
  }

  /// Whole weights, and gradients, have room for the shares of all members, and no more.
  bool holdsShares(const RankView &rank, std::uint32_t entry, const Action &action) {
    const auto bytesOf = [&](std::uint32_t operand) {
      return rank.layout->buffers[rank.program->operands[action.operands + operand]].bytes;
    };
    const std::uint64_t members = memberCount(table.plan().mesh, group);
    if (group.operation == Collective::Unshard && bytesOf(1) != members * bytesOf(0))
      return fault(5, rank, entry,
                   fmt::format("group `{}` moves shares of {} bytes from {} members into {} bytes",
                               group.name, bytesOf(0), members, bytesOf(1)));
    if (group.operation == Collective::ReduceScatter && bytesOf(0) % members != 0)
      return fault(5, rank, entry,
                   fmt::format("group `{}` gives {} members parts of {} bytes", group.name, members,
                               bytesOf(0)));
    return true;
  }

  bool fits(const RankView &rank, std::uint32_t entry, const Action &action) {
    return fits(rank, entry, action, 0) &&
           (action.operandCount == 1 || fits(rank, entry, action, 1));
  }

  bool fits(const RankView &rank, std::uint32_t entry, const Action &action, std::uint8_t operand) {
    const std::uint32_t buffer = rank.program->operands[action.operands + operand];
    const bool used =
        operand == 0 || group.operation == Collective::AllGather || rank.rank == root().rank;
    if (!used)
      return true;
    if (buffer == kNoBuffer)
      return fault(5, rank, entry,
                   fmt::format("the root of group `{}` gathers into no buffer", group.name));
    const std::uint64_t bytes = fixedBytes(table, rank, action, operand),
                        room = rank.layout->buffers[buffer].extent();
    return bytes <= room ||
           fault(5, rank, entry,
                 fmt::format("group `{}` moves {} bytes {} `{}` of {} bytes", group.name, bytes,
                             accessOf(rank, operand),
                             plan::nameOf(rank.layout->buffers[buffer].kind), room));
  }
  std::string_view accessOf(const RankView &rank, std::uint8_t operand) const {
    return operand == 1 || (group.operation == Collective::Broadcast && rank.rank != root().rank)
               ? "into"
               : "from";
  }

  /// The k-th calls of all members against the root's.
  void alike() {
    const RankView &root = this->root();
    for (std::uint32_t member = 0; member < view.lanes.size(); ++member)
      for (std::size_t k = 0; k < callsOf(member).size(); ++k)
        if (!pair(k, root, callsOf(view.root)[k], rankOf(member), callsOf(member)[k]))
          break;
  }

  bool pair(std::size_t k, const RankView &root, std::uint32_t rootEntry, const RankView &rank,
            std::uint32_t entry) {
    const Buffer &own = payload(rank, entry), &its = payload(root, rootEntry);
    if (movesOperands(group.operation) && !addsAlike(k, root, rootEntry, rank, entry))
      return false;
    const bool several = group.message.fixed > std::min(own.bytes, its.bytes);
    const bool sameSlots = own.stride == its.stride;
    const bool sameKind = own.kind == its.kind;
    const bool sameSkip = ((table.action(rank, entry).flags ^ table.action(root, rootEntry).flags) &
                           kSkipIfEmpty) == 0;
    if (sameKind && sameSkip && (!several || sameSlots))
      return true;
    const std::string what =
        !sameKind ? fmt::format("`{}` on rank {} and `{}` on rank {}", plan::nameOf(its.kind),
                                root.rank, plan::nameOf(own.kind), rank.rank)
        : sameSkip
            ? fmt::format("slots {} bytes apart on rank {} and {} on rank {}", its.stride,
                          root.rank, own.stride, rank.rank)
            : fmt::format("rank {} or rank {}, but not both, if empty", root.rank, rank.rank);
    const ActionPlace place = placeOf(table, rank, entry);
    Finding &finding = verdict.error(Rule::C3, sameKind ? sameSkip ? 6 : 8 : 7, place,
                                     fmt::format("call {} of group `{}` {} {}", k, group.name,
                                                 sameSkip ? "moves" : "is skipped on", what));
    verdict.from(finding, placeOf(table, root, rootEntry));
    verdict.to(finding, place);
    return false;
  }

  /// Of one stage, as many bytes on every member; over pairs of ranks those of its two
  /// copies.
  bool addsAlike(std::size_t k, const RankView &root, std::uint32_t rootEntry, const RankView &rank,
                 std::uint32_t entry) {
    if (group.operation == Collective::ReduceSquares)
      return true; // of all stages of the rank
    const std::uint32_t own = stageOf(rank, entry), its = stageOf(root, rootEntry);
    const std::uint64_t bytes = payload(rank, entry).bytes;
    const std::uint64_t rootBytes = payload(root, rootEntry).bytes;
    const bool isMirrored = group.axes == bitOf(Axis::Mirror);
    const bool fits = isMirrored ? rank.rank == root.rank || areCopies(own, its) : own == its;
    if (fits && bytes == rootBytes)
      return true;
    const ActionPlace place = placeOf(table, rank, entry);
    Finding &finding = verdict.error(
        Rule::C3, 7, place,
        fmt::format(
            "call {} of group `{}` {} {} bytes of stage {} on rank {} and {} bytes of stage "
            "{} on rank {}",
            k, group.name, addsUp(group.operation) ? "adds" : "takes", rootBytes, nameOf(its),
            root.rank, bytes, nameOf(own), rank.rank));
    verdict.from(finding, placeOf(table, root, rootEntry));
    verdict.to(finding, place);
    return false;
  }

  /// In the table.
  std::uint32_t stageOf(const RankView &rank, std::uint32_t entry) const {
    return rank.stages[table.action(rank, entry).stage];
  }
  std::uint32_t nameOf(std::uint32_t stage) const { return table.stages()[stage].stage; }
  bool areCopies(std::uint32_t one, std::uint32_t other) const {
    return one != other && table.stages()[one].original == table.stages()[other].original;
  }

  const Buffer &payload(const RankView &rank, std::uint32_t entry) const {
    return rank.layout->buffers[rank.program->operands[table.action(rank, entry).operands]];
  }

  bool fault(int number, const RankView &rank, std::uint32_t entry, std::string message) {
    const ActionPlace place = placeOf(table, rank, entry);
    verdict.from(verdict.error(Rule::C3, number, place, std::move(message)), place);
    return false;
  }

  const ActionTable &table;
  const Group &group;
  const GroupView &view;
  Verdict &verdict;
};

} // namespace

void verifyGroupsAgree(const ActionTable &table, Verdict &verdict) {
  for (const GroupView &view : table.groups())
    Members(table, view, verdict).judge();
}

} // namespace vime::verify
