#include "runtime/Transport/Cores.h"

#include <sched.h>

namespace vime {

unsigned availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return count > 0 ? static_cast<unsigned>(count) : 1;
}

Cores::Cores(std::uint32_t ranks) : ranks(ranks), places(std::make_unique<Place[]>(ranks)) {}

void Cores::note(std::uint32_t rank) {
  const int core = sched_getcpu();
  if (places[rank].core.load(std::memory_order_relaxed) != core)
    places[rank].core.store(core, std::memory_order_relaxed);
}

bool Cores::spread(std::uint32_t rank) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return false;
  cpu_set_t free = allowed;
  bool isShared = false;
  for (std::uint32_t other = 0; other < ranks; ++other) {
    const int core = places[other].core.load(std::memory_order_relaxed);
    if (other == rank || core < 0 || core >= CPU_SETSIZE)
      continue;
    isShared = isShared || core == places[rank].core.load(std::memory_order_relaxed);
    CPU_CLR(core, &free);
  }
  if (!isShared || CPU_COUNT(&free) == 0 || sched_setaffinity(0, sizeof free, &free) != 0)
    return false;
  sched_setaffinity(0, sizeof allowed, &allowed);
  note(rank);
  return true;
}

} // namespace vime
