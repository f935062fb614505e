// Ranks for transport tests: threads, each with a transport of the backend under test, whichever
// that is.
//
//   runRanks(GetParam(), {.ends = chain(3)}, [](Rank &rank) { … rank.transport->post(…) … });
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/Transport/LocalTransport.h"

namespace vime {

enum class Backend { Local, Gloo, Rendezvous };
std::string nameOf(Backend backend);

struct Rank {
  std::uint32_t rank;
  Transport *transport;
  void abort() { transport->abort(); }
};

struct Setting {
  std::vector<RankEnds> ends; // by rank
  std::chrono::milliseconds limit{20000};
};

/// Connects all ranks, runs `body` on each in a thread of its own, and takes everything down again.
void runRanks(Backend backend, const Setting &setting, const std::function<void(Rank &)> &body);

/// `ranks` ranks without ends yet.
std::vector<RankEnds> noEnds(std::uint32_t ranks);
/// Adds a channel; returns nothing: the new end is the last of both ranks.
void addChannel(std::vector<RankEnds> &ranks, std::uint32_t source, std::uint32_t destination,
                plan::Flow flow = plan::Flow::Forward);
void addGroup(std::vector<RankEnds> &ranks, std::uint32_t group, plan::Collective operation,
              std::uint32_t root = 0);

} // namespace vime
