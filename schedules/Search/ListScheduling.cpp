// List scheduling: runs a flow step by step.
#include "schedules/Search/ListScheduling.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace vime {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr int kNothing = -1;

// The rank whose next pass starts first: the root of a tree of pairwise comparisons.
class Earliest {
public:
  explicit Earliest(std::size_t ranks)
      : leaves(std::bit_ceil(ranks)), starts(leaves, kNever), winners(2 * leaves) {
    for (std::size_t leaf = 0; leaf < leaves; ++leaf)
      winners[leaves + leaf] = static_cast<int>(leaf);
    for (std::size_t node = leaves - 1; node > 0; --node)
      winners[node] = winners[2 * node];
  }

  void set(std::size_t rank, std::int64_t start) {
    starts[rank] = start;
    for (std::size_t node = (leaves + rank) / 2; node > 0; node /= 2) {
      const int left = winners[2 * node], right = winners[2 * node + 1];
      winners[node] = startOf(right) < startOf(left) ? right : left;
    }
  }

  std::size_t rank() const { return static_cast<std::size_t>(winners[1]); }
  std::int64_t start() const { return starts[rank()]; }

private:
  std::int64_t startOf(int rank) const { return starts[static_cast<std::size_t>(rank)]; }

  std::size_t leaves;
  std::vector<std::int64_t> starts;
  std::vector<int> winners;
};

constexpr std::size_t kMostPasses = 2 * kPassesOfStage; // of two stages

struct RankState {
  std::array<int, kMostPasses> passes{};
  std::size_t count = 0;                          // of them
  std::array<int, 2> taking{kNothing, kNothing};  // passes that take memory, by stage
  std::array<int, 2> leaving{kNothing, kNothing}; // passes that leave it
  std::int64_t freeAt = 0;
  int live = 0;
  int next = kNothing;
};

class ListScheduler {
public:
  ListScheduler(const Flow &flow, const Urgency &urgency)
      : flow(flow), urgency(urgency), done(flow.passes.size()), start(flow.size()),
        ranks(static_cast<std::size_t>(flow.ranks)), earliest(ranks.size()) {
    for (std::size_t pass = 0; pass < flow.passes.size(); ++pass) {
      RankState &rank = ranks[static_cast<std::size_t>(flow.passes[pass].rank)];
      rank.passes[rank.count++] = static_cast<int>(pass);
      if (const int holds = flow.passes[pass].holds; holds != 0) {
        auto &list = holds > 0 ? rank.taking : rank.leaving;
        list[list[0] == kNothing ? 0 : 1] = static_cast<int>(pass);
      }
    }
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      if (!urgency.notBefore.empty())
        ranks[rank].freeAt = urgency.notBefore[rank];
      choose(rank);
    }
  }

  Timing run() {
    while (earliest.start() != kNever)
      take(earliest.rank());
    return timed(flow, std::move(start));
  }

private:
  int doneOf(int pass) const { return done[static_cast<std::size_t>(pass)]; }

  void take(std::size_t at) {
    RankState &rank = ranks[at];
    const auto index = static_cast<std::size_t>(rank.next);
    const Pass &pass = flow.passes[index];
    const std::int64_t when = earliest.start();
    start[flow.at(index, done[index]++)] = when;
    rank.freeAt = when + pass.duration;
    rank.live += pass.holds;
    choose(at);
    for (const int fed : pass.feeds)
      if (fed >= 0)
        if (const int other = flow.passes[static_cast<std::size_t>(fed)].rank;
            other != static_cast<int>(at))
          choose(static_cast<std::size_t>(other));
  }

  // With one activation left to take, somebody must be on the way out: a microbatch that has been
  // through all of the rank's stages. Otherwise those that wait to go on fill the rank for ever.
  bool mayTake(const RankState &rank, int pass) const {
    if (rank.live >= flow.memory)
      return false;
    if (rank.taking[1] == kNothing)
      return true;
    const int through = doneOf(rank.taking[1]);
    if (pass == rank.taking[1])
      return doneOf(rank.taking[0]) > through;
    return rank.live + 1 < flow.memory ||
           through > std::min(doneOf(rank.leaving[0]), doneOf(rank.leaving[1]));
  }

  // When the pass can start, `kNever` if that is not known yet.
  std::int64_t readyAt(const RankState &rank, int index) const {
    const auto pass = static_cast<std::size_t>(index);
    const Pass &what = flow.passes[pass];
    const int microbatch = done[pass];
    if (microbatch == flow.microbatches)
      return kNever;
    std::int64_t ready = rank.freeAt;
    for (std::size_t need = 0; need < 2; ++need)
      if (const int needed = what.needs[need]; needed >= 0) {
        const auto other = static_cast<std::size_t>(needed);
        if (done[other] <= microbatch)
          return kNever;
        ready = std::max(ready, start[flow.at(other, microbatch)] + flow.passes[other].duration +
                                    what.hops[need]);
      }
    if (what.holds > 0) {
      if (!mayTake(rank, index))
        return kNever;
      ready = std::max(ready, urgency.keys[flow.at(pass, microbatch)] - urgency.taste.eagerness);
    }
    return ready;
  }

  void choose(std::size_t at) {
    RankState &rank = ranks[at];
    std::array<std::int64_t, kMostPasses> ready;
    std::int64_t first = kNever;
    for (std::size_t place = 0; place < rank.count; ++place)
      first = std::min(first, ready[place] = readyAt(rank, rank.passes[place]));
    rank.next = kNothing;
    std::int64_t when = kNever, least = kNever;
    if (first != kNever)
      for (std::size_t place = 0; place < rank.count; ++place)
        if (ready[place] <= first + urgency.taste.patience && ready[place] != kNever) {
          const auto pass = static_cast<std::size_t>(rank.passes[place]);
          const std::int64_t cost = urgency.keys[flow.at(pass, done[pass])] +
                                    urgency.taste.impatience * (ready[place] - first);
          if (cost < least) {
            least = cost;
            rank.next = rank.passes[place];
            when = ready[place];
          }
        }
    earliest.set(at, when);
  }

  const Flow &flow;
  const Urgency &urgency;
  std::vector<int> done; // per pass: microbatches
  Times start;
  std::vector<RankState> ranks;
  Earliest earliest;
};

} // namespace

Timing listScheduled(const Flow &flow, const Urgency &urgency) {
  return ListScheduler(flow, urgency).run();
}

} // namespace vime
