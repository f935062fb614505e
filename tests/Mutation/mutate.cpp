// mutate [COUNT [FIRST]]: so many mutants of plans and orders before judges and interpreter; prints
// classes and counts. Exit code 1 if they disagree about one.
#include <cstdio>
#include <cstdlib>

#include "tests/Mutation/Campaign.h"

int main(int argc, char **argv) {
  const auto count = static_cast<std::uint32_t>(argc > 1 ? std::atoll(argv[1]) : 100'000);
  const auto first = static_cast<std::uint32_t>(argc > 2 ? std::atoll(argv[2]) : 0);
  vime::Campaign campaign;
  campaign.run(first, count);
  for (const std::string &line : campaign.disagreements())
    std::printf("%s\n", line.c_str());
  std::printf("%s", campaign.table().c_str());
  return campaign.disagreements().empty() ? 0 : 1;
}
