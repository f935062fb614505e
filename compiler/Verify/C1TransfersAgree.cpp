// C1: the k-th send and the k-th receive of a channel agree in bytes, type, flow and microbatch.
//
// Both ends list their actions in dispatch order, so the k-th of one meets the k-th of the other on
// every transport; nothing else is compared, no tag is searched. Counts agree in every segment, so
// that an iteration of a loop over steps starts and ends with empty channels and the k-th of one
// iteration meets the k-th of the same.
#include <fmt/format.h>

#include "compiler/Verify/Accesses.h"
#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Names.h"

namespace vime::verify {
namespace {

using namespace plan;

std::string words(const Message &message) {
  if (message.perToken != 0)
    return message.fixed == 0 ? fmt::format("{} bytes of {} per token", message.perToken,
                                            vime::nameOf(message.type))
                              : fmt::format("{} bytes and {} per token of {}", message.fixed,
                                            message.perToken, vime::nameOf(message.type));
  return fmt::format("{} bytes of {}", message.fixed, vime::nameOf(message.type));
}

class Ends {
public:
  Ends(const ActionTable &table, const Channel &channel, Verdict &verdict)
      : table(table), channel(channel), verdict(verdict) {}

  void judge() {
    if (!lanes() || !counts())
      return;
    const LaneView &send = table.lanes()[channel.sendLanes[0]],
                   &receive = table.lanes()[channel.receiveLanes[0]];
    messages(table.laneOf(send), table.laneOf(receive));
    const auto sends = table.dispatched(send), receives = table.dispatched(receive);
    for (std::size_t k = 0; k < sends.size(); ++k)
      if (!pair(k, sends[k], receives[k]))
        break; // what follows on this channel would only repeat it
  }

private:
  const RankView &source() const { return table.ranks()[channel.source]; }
  const RankView &destination() const { return table.ranks()[channel.destination]; }

  std::string name() const {
    const bool sends = !channel.sendLanes.empty();
    const LaneView &lane = table.lanes()[sends ? channel.sendLanes[0] : channel.receiveLanes[0]];
    return describeLane(table.plan(), lane.rank, lane.lane);
  }

  bool lanes() {
    for (const auto *ends : {&channel.sendLanes, &channel.receiveLanes})
      if (ends->size() > 1) {
        const bool sends = ends == &channel.sendLanes;
        verdict.error(Rule::C1, 5,
                      fmt::format("{} has {} {} lanes on rank {}: its messages have no one order",
                                  name(), ends->size(), sends ? "send" : "receive",
                                  sends ? channel.source : channel.destination));
        return false;
      }
    return true;
  }

  std::span<const std::uint32_t> entries(const std::vector<std::uint32_t> &lanes) const {
    return lanes.empty() ? std::span<const std::uint32_t>()
                         : table.dispatched(table.lanes()[lanes[0]]);
  }

  bool counts() {
    if (channel.matched || !table.segmentsAgree())
      return channel.matched; // C2 tells that the loops differ
    const auto sends = entries(channel.sendLanes), receives = entries(channel.receiveLanes);
    std::size_t segments = std::max(source().segments.size(), destination().segments.size());
    for (std::uint32_t segment = 0; segment < segments; ++segment) {
      const auto sent = in(source(), sends, segment),
                 received = in(destination(), receives, segment);
      if (sent.size() == received.size())
        continue;
      const std::string where =
          segments == 1 ? "" : " " + nameOf(source().segments[segment], segment);
      Finding &finding = verdict.error(Rule::C1, 1,
                                       fmt::format("{} has {} sends and {} receives{}", name(),
                                                   sent.size(), received.size(), where));
      if (!sent.empty())
        verdict.from(finding, placeOf(table, source(), sent.back()));
      if (!received.empty())
        verdict.to(finding, placeOf(table, destination(), received.back()));
      break;
    }
    return false;
  }

  std::span<const std::uint32_t> in(const RankView &rank, std::span<const std::uint32_t> entries,
                                    std::uint32_t segment) const {
    std::size_t first = 0, end = entries.size();
    while (first < end && table.segment(rank, entries[first]) < segment)
      ++first;
    while (end > first && table.segment(rank, entries[end - 1]) > segment)
      --end;
    return entries.subspan(first, end - first);
  }

  static std::string nameOf(const Segment &segment, std::uint32_t index) {
    if (segment.isLoop())
      return fmt::format("in an iteration of loop {}", segment.loop);
    return index == 0 ? "before the first loop" : "behind a loop";
  }

  void messages(const Lane &send, const Lane &receive) {
    if (send.message != receive.message) {
      Finding &finding = verdict.error(Rule::C1, 2,
                                       fmt::format("{} is sent as {} and received as {}", name(),
                                                   words(send.message), words(receive.message)));
      ends(finding, 0);
    }
    if (send.slots != receive.slots || send.slots == 0)
      verdict.error(Rule::C1, 6,
                    fmt::format("{} has {} slots at the sender and {} at the receiver", name(),
                                send.slots, receive.slots));
    if (send.message.fixed == 0 && send.message.perToken == 0)
      verdict.error(Rule::C1, 10, fmt::format("messages of {} have no bytes", name()));
  }

  void ends(Finding &finding, std::size_t k) {
    const auto sends = entries(channel.sendLanes), receives = entries(channel.receiveLanes);
    if (k >= sends.size())
      return;
    verdict.from(finding, placeOf(table, source(), sends[k]));
    verdict.to(finding, placeOf(table, destination(), receives[k]));
  }

  bool pair(std::size_t k, std::uint32_t send, std::uint32_t receive) {
    const Action &sent = table.action(source(), send),
                 &received = table.action(destination(), receive);
    const std::uint32_t from = table.microbatch(source(), send),
                        to = table.microbatch(destination(), receive);
    const bool perToken = source().program->lanes[sent.lane].message.perToken != 0;
    if (perToken && from != to)
      return differ(3, k, fmt::format("of microbatch {} is received as microbatch {}", from, to));
    if (((sent.flags ^ received.flags) & kSkipIfEmpty) != 0)
      return differ(9, k, "is skipped on one end only when its microbatch is empty");
    return fits(k, source(), sent, "sent from") &&
           fits(k, destination(), received, "received into") &&
           (perToken || sameSlots(k, sent, received));
  }

  bool differ(int number, std::size_t k, const std::string &what) {
    const auto sends = entries(channel.sendLanes);
    Finding &finding = verdict.error(Rule::C1, number, placeOf(table, source(), sends[k]),
                                     fmt::format("message {} of {} {}", k, name(), what));
    ends(finding, k);
    return false;
  }

  const Buffer &buffer(const RankView &rank, const Action &action) const {
    return rank.layout->buffers[rank.program->operands[action.operands]];
  }

  bool fits(std::size_t k, const RankView &rank, const Action &action, std::string_view verb) {
    const Message &message = rank.program->lanes[action.lane].message;
    const Buffer &moved = buffer(rank, action);
    const std::uint64_t bytes = tokenBytes(table.plan(), message);
    const std::uint64_t room = message.perToken != 0 ? moved.bytes : moved.extent();
    return bytes <= room || differ(7, k,
                                   fmt::format("of up to {} bytes is {} `{}` of {} bytes", bytes,
                                               verb, nameOf(moved.kind), room));
  }

  /// A message over several slots keeps their places only if they lie alike at both ends.
  bool sameSlots(std::size_t k, const Action &sent, const Action &received) {
    const Buffer &from = buffer(source(), sent), &to = buffer(destination(), received);
    const bool several =
        source().program->lanes[sent.lane].message.fixed > std::min(from.bytes, to.bytes);
    return !several || from.stride == to.stride ||
           differ(8, k,
                  fmt::format("moves slots {} bytes apart into slots {} bytes apart", from.stride,
                              to.stride));
  }
  static std::string_view nameOf(BufferKind kind) { return plan::nameOf(kind); }

  const ActionTable &table;
  const Channel &channel;
  Verdict &verdict;
};

} // namespace

void verifyTransfersAgree(const ActionTable &table, Verdict &verdict) {
  for (const Channel &channel : table.channels())
    Ends(table, channel, verdict).judge();
}

} // namespace vime::verify
