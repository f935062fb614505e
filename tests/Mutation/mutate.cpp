// mutate [COUNT [FIRST [BASE]]]: so many mutants of plans and orders before judges and interpreter;
// prints classes and counts. Of these numbers only those whose base has BASE in its name, as in
// `mutate 300000 0 "early commits"`. Exit code 1 if they disagree about one.
#include <cstdio>
#include <cstdlib>

#include "tests/Mutation/Campaign.h"

int main(int argc, char **argv) {
  const auto count = static_cast<std::uint32_t>(argc > 1 ? std::atoll(argv[1]) : 100'000);
  const auto first = static_cast<std::uint32_t>(argc > 2 ? std::atoll(argv[2]) : 0);
  vime::Campaign campaign(argc > 3 ? argv[3] : "");
  campaign.run(first, count);
  for (const std::string &line : campaign.disagreements())
    std::printf("%s\n", line.c_str());
  std::printf("%s", campaign.table().c_str());
  return campaign.disagreements().empty() ? 0 : 1;
}
