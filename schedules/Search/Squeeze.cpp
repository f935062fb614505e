// Squeeze: takes the idle slots out of a repeated building block.
#include "schedules/Search/Squeeze.h"

#include <algorithm>
#include <tuple>

namespace vime {

namespace {

constexpr int kWeight = kVeePasses; // a weight gradient, of whichever stage comes first
constexpr int kFree = -1;

struct Move {
  int slot, rank, pass, microbatch;
};

// What a rank holds before a slot. Weight gradients that have no slot of their own flow: they take
// whatever is free.
struct Holding {
  int live = 0;
  int owed = 0; // weight gradients, where they flow
  bool operator==(const Holding &) const = default;
};

Holding after(Holding holding, int what, bool weightsFlow) {
  if (what == kFree) {
    const int done = holding.owed > 0;
    return {holding.live - done, holding.owed - done};
  }
  if (what == kWeight)
    return {holding.live - 1, holding.owed};
  if (isForward(static_cast<VeePass>(what)))
    return {holding.live + 1, holding.owed};
  return {holding.live, holding.owed + weightsFlow};
}

// The slots of one rank, and what it holds along them.
class RankSlots {
public:
  RankSlots(const VeeRow &row, bool weightsFlow) : weightsFlow(weightsFlow) {
    for (int pass = 0; pass < kVeePasses; ++pass)
      slots[index(pass)] = row.slots[index(pass)];
    at.assign(index(row.end()), kFree);
    for (int pass = 0; pass < kVeePasses; ++pass)
      for (const int slot : slots[index(pass)])
        at[index(slot)] = pass;
    if (!weightsFlow)
      placeWeights();
    before.resize(at.size() + 1);
    for (std::size_t slot = 0; slot < at.size(); ++slot)
      before[slot + 1] = after(before[slot], at[slot], weightsFlow);
  }

  int peak() const {
    return std::max_element(before.begin(), before.end(),
                            [](Holding left, Holding right) { return left.live < right.live; })
        ->live;
  }

  const std::vector<int> &of(int pass) const { return slots[index(pass)]; }
  int inputGradient(int count) const { return backwards[index(count)]; }

  // To the first free slot from `earliest` on at which no more than `most` are ever held.
  void moveEarlier(const Move &move, int earliest, int most) {
    const bool holdsAll = index(most) >= 2 * slots[kDown].size(); // both stages of all microbatches
    int slot = earliest;
    while (slot < move.slot && (at[index(slot)] != kFree || !(holdsAll || holds(move, slot, most))))
      ++slot;
    if (slot < move.slot) {
      take(move, slot);
      if (!holdsAll)
        countAgain(move, slot);
    }
    settle(move, slot);
  }

  void settle(const Move &move, int slot) {
    if (move.pass != kWeight && !isForward(static_cast<VeePass>(move.pass)))
      backwards.insert(std::upper_bound(backwards.begin(), backwards.end(), slot), slot);
  }

private:
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }

  void placeWeights() {
    int owed = 0;
    for (std::size_t slot = 0; slot < at.size() || owed > 0; ++slot) {
      if (slot == at.size())
        at.push_back(kFree);
      if (at[slot] == kBackUp || at[slot] == kBackDown)
        ++owed;
      else if (at[slot] == kFree && owed > 0) {
        at[slot] = kWeight;
        slots[kWeight].push_back(static_cast<int>(slot));
        --owed;
      }
    }
  }

  int whatIfMoved(const Move &move, int to, int slot) const {
    return slot == to ? move.pass : slot == move.slot ? kFree : at[index(slot)];
  }

  bool holds(const Move &move, int to, int most) const {
    Holding holding = before[index(to)];
    for (int slot = to; slot < static_cast<int>(at.size()); ++slot) {
      holding = after(holding, whatIfMoved(move, to, slot), weightsFlow);
      if (holding.live > most)
        return false;
      if (slot >= move.slot && holding == before[index(slot) + 1])
        return true; // the rest is as it was
    }
    return true;
  }

  void take(const Move &move, int to) {
    at[index(move.slot)] = kFree;
    at[index(to)] = move.pass;
    slots[index(move.pass)][index(move.microbatch)] = to;
  }

  void countAgain(const Move &move, int from) {
    for (std::size_t slot = index(from); slot < at.size(); ++slot) {
      const Holding next = after(before[slot], at[slot], weightsFlow);
      if (slot >= index(move.slot) && next == before[slot + 1])
        return;
      before[slot + 1] = next;
    }
  }

  bool weightsFlow;
  std::array<std::vector<int>, kVeePasses + 1> slots;
  std::vector<int> at; // per slot: what runs there
  std::vector<Holding> before;
  std::vector<int> backwards; // slots of the input gradients that are settled, ascending
};

// Moves the passes of all ranks, earliest first.
class Squeeze {
public:
  Squeeze(const std::vector<VeeRow> &from, bool weightsFlow) : weightsFlow(weightsFlow) {
    for (const VeeRow &row : from) {
      rows.emplace_back(row, weightsFlow);
      most = std::max(most, rows.back().peak());
    }
  }

  void run() {
    enum { Filling, Steady, Draining } phase = Filling;
    const int last = static_cast<int>(rows[0].of(kDown).size()) - 1;
    for (const Move &move : inSequence()) {
      if (phase == Filling && move.rank == 0 && move.pass == kBackDown)
        phase = Steady;
      const bool isKept = phase == Steady || (phase == Filling && weightsFlow);
      if (phase == Steady && move.pass == kDown && move.microbatch == last)
        phase = Draining;
      if (isKept)
        row(move.rank).settle(move, move.slot);
      else
        row(move.rank).moveEarlier(move, earliest(move), most);
    }
  }

  // Every pass as early as the sequence of its rank allows.
  std::vector<VeeRow> timed() const {
    std::vector<VeeRow> result(rows.size());
    std::vector<int> freeAt(rows.size());
    for (const Move &move : inSequence()) {
      const auto rank = static_cast<std::size_t>(move.rank);
      int start = freeAt[rank];
      if (move.pass != kWeight) {
        forEachNeed(move, [&](int other, int pass) {
          start = std::max(start,
                           result[static_cast<std::size_t>(other)].slots[static_cast<std::size_t>(
                               pass)][static_cast<std::size_t>(move.microbatch)] +
                               1);
        });
        result[rank].slots[static_cast<std::size_t>(move.pass)].push_back(start);
      }
      freeAt[rank] = start + 1;
    }
    return result;
  }

  std::vector<VeeRow> taken() const {
    std::vector<VeeRow> result(rows.size());
    for (std::size_t rank = 0; rank < rows.size(); ++rank)
      for (int pass = 0; pass < kVeePasses; ++pass)
        result[rank].slots[static_cast<std::size_t>(pass)] = rows[rank].of(pass);
    return result;
  }

private:
  RankSlots &row(int rank) { return rows[static_cast<std::size_t>(rank)]; }
  const RankSlots &row(int rank) const { return rows[static_cast<std::size_t>(rank)]; }

  std::vector<Move> inSequence() const {
    std::vector<Move> moves;
    for (int rank = 0; rank < static_cast<int>(rows.size()); ++rank)
      for (int pass = 0; pass <= kVeePasses; ++pass) {
        int microbatch = 0;
        for (const int slot : row(rank).of(pass))
          moves.push_back({slot, rank, pass, microbatch++});
      }
    std::sort(moves.begin(), moves.end(), [](const Move &left, const Move &right) {
      return std::tie(left.slot, left.rank) < std::tie(right.slot, right.rank);
    });
    return moves;
  }

  // Calls `visit` with rank and pass of what the same microbatch passes just before.
  template <typename Visit> void forEachNeed(const Move &move, Visit visit) const {
    const int before = move.rank + (goesDownTheRanks(static_cast<VeePass>(move.pass)) ? -1 : 1);
    if (before >= 0 && before < static_cast<int>(rows.size()))
      visit(before, move.pass);
    if (move.pass > kDown)
      visit(move.rank, move.pass - 1);
  }

  int earliest(const Move &move) const {
    int earliest = 0;
    const auto behind = [&](int slot) { earliest = std::max(earliest, slot + 1); };
    if (move.microbatch > 0)
      behind(row(move.rank).of(move.pass)[static_cast<std::size_t>(move.microbatch) - 1]);
    if (move.pass == kWeight)
      behind(row(move.rank).inputGradient(move.microbatch));
    else
      forEachNeed(move, [&](int rank, int pass) {
        behind(row(rank).of(pass)[static_cast<std::size_t>(move.microbatch)]);
      });
    return earliest;
  }

  bool weightsFlow;
  int most = 0; // activations on the fullest rank
  std::vector<RankSlots> rows;
};

} // namespace

std::vector<VeeRow> squeezed(std::vector<VeeRow> rows) {
  Squeeze everything(rows, /*weightsFlow=*/false);
  everything.run();
  Squeeze drain(everything.timed(), /*weightsFlow=*/true);
  drain.run();
  return drain.taken();
}

} // namespace vime
