// D3: all rules hold for every member of a family of microbatch counts. The rules are judged for
// each choice (Choices.h); what is left to say here is that a member has tasks at all, and that the
// choices are few enough to be judged.
#include <fmt/format.h>

#include "compiler/Verify/Rules.h"
#include "runtime/Plan/Decisions.h"

namespace vime::verify {
namespace {

using namespace plan;

bool hasTasks(const ActionTable &table) {
  for (const RankView &rank : table.ranks())
    for (std::uint32_t entry = rank.first; entry < rank.end; ++entry)
      if (table.action(rank, entry).opcode == code(Opcode::Forward))
        return true;
  return false;
}

} // namespace

void verifyFamilyComplete(const ActionTable &table, Verdict &verdict) {
  if (valuesOf(table.plan(), Decision::Microbatches).empty() || hasTasks(table))
    return;
  verdict.error(Rule::D3, 1,
                fmt::format("no case has the tasks of a step of {} microbatches, which may be "
                            "decided",
                            table.microbatches()));
}

} // namespace vime::verify
