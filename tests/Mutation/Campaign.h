// Campaign: many mutants of all bases, and what became of them, class by class.
//
//   Campaign campaign;
//   campaign.run(/*first=*/0, /*count=*/1000);
//   std::cout << campaign.table();
//
// A mutant is made from its number alone, so whatever is told of one can be looked at again.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/Mutation/Trial.h"

namespace vime {

class Campaign {
public:
  /// `only`: of the numbers those whose base has this in its name; empty: all.
  explicit Campaign(std::string only = {}) : only(std::move(only)) {}

  void run(std::uint32_t first, std::uint32_t count);

  std::uint64_t times(Agreement agreement) const;
  /// A line for each mutant in which judges and interpreter do not agree, up to some.
  const std::vector<std::string> &disagreements() const { return told; }
  /// Classes and counts, then what is stricter and why.
  std::string table() const;

private:
  void tryOne(std::uint32_t number);
  void note(std::uint32_t number, const std::string &what, const std::string &mutation,
            const Trial &trial);

  const std::string only;
  using Counts = std::array<std::uint64_t, kAgreements>;
  std::map<std::string, Counts> classes;
  std::map<std::string, std::uint64_t> reasons, faults;
  std::uint64_t withoutChange = 0;
  std::vector<std::string> told;
};

} // namespace vime
