#include "tests/Mutation/StricterRules.h"

#include <array>

namespace vime {
namespace {

constexpr std::string_view kOnce =
    "S4: scaled, squared, gathered, clipped, updated once each; a second time without effect is "
    "work that nobody asked for";
constexpr std::string_view kStray =
    "S2: an action added for nothing reads what no action made for it";
constexpr std::string_view kExact =
    "buffers are as large as what they hold: a part that nobody moves is a size that is wrong";
constexpr std::string_view kDecided =
    "D2: a condition that holds always or never decides nothing; a plan says what may vary";

constexpr std::string_view kNamed =
    "S2: a checkpoint is named by the counters of its own step, of which the interpreter knows "
    "nothing";

constexpr std::array kRules = {
    StricterRule{"S0404", kOnce},
    StricterRule{"S0405", kOnce},
    StricterRule{"S0406", kOnce},
    StricterRule{"S0407", kOnce},
    StricterRule{"S0408", kOnce},
    StricterRule{"S0409", kOnce},
    StricterRule{"S0410", kOnce},
    StricterRule{"S0412", kOnce},
    StricterRule{"S0413", kOnce},
    StricterRule{"S0414", kOnce},
    StricterRule{"S0106",
                 "S1: what belongs to a step runs once in it, also what a second time "
                 "would leave as it is",
                 "duplicate"},
    StricterRule{"S0201", kStray, "duplicate"},
    StricterRule{"S0202", kStray, "duplicate"},
    StricterRule{"S0203", kStray, "duplicate"},
    StricterRule{"S0205", kExact, "resize"},
    StricterRule{"S0310",
                 "a buffer of no microbatch has one slot: tasks would look into the slot of "
                 "their microbatch"},
    StricterRule{"S0305", "a root is a member, also of a sum, which has no use for one"},
    StricterRule{"S0107",
                 "S1: the plan has the steps of the job, also where `stop` ends it before"},
    StricterRule{"S0417", "a flag that today's executor does not look at on this lane"},
    StricterRule{"C0201", "C2: a loop has one period and one trip count on all ranks, also where "
                          "`stop` ends it before"},
    StricterRule{"D0203", kDecided},
    StricterRule{"D0401", "D4: a case holds both ends of its messages, also one that always runs"},
    StricterRule{"D0502", "D5: what every step needs has no guard, also one that holds wherever it "
                          "is asked"},
    StricterRule{"D0601", "D6: the header goes over every group made for it, also over one of a "
                          "single member"},
    StricterRule{"S0203", kNamed, "change a loop"},
    StricterRule{"S0203", kNamed, "move a message"},
    StricterRule{"K0103", "K1: what a checkpoint takes runs only where `save` is decided"},
    StricterRule{"M0101", "M1: an arena is exactly its buffers"},
};

} // namespace

std::span<const StricterRule> stricterRules() { return kRules; }

std::string_view reasonFor(std::string_view code, std::string_view mutation) {
  for (const StricterRule &rule : kRules)
    if (rule.code == code && mutation.starts_with(rule.mutation))
      return rule.reason;
  return "";
}

} // namespace vime
