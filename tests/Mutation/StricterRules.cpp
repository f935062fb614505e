#include "tests/Mutation/StricterRules.h"

#include <array>

namespace vime {
namespace {

// A mutant that a code below refuses gives the same weights, losses and files as the plan that it
// was made from: what was added or changed in it happens to be used by nobody. Judges refuse it all
// the same, since they ask what a plan says, not what becomes of it with one set of numbers.

constexpr std::string_view kStray =
    "a second copy of an action reads what is not its own to read (what nobody wrote yet, another "
    "microbatch's, the last step's); harmless only because its result is overwritten unread";

constexpr std::string_view kByChance =
    "what settles or reports a step of a run that commits early has the condition that says whose "
    "it is; another one that holds in the same steps does so by what the coordinator decides";

constexpr std::string_view kBehindVerdict =
    "what runs behind `settle` knows the verdict and counts; a task in front of `redo` that a bad "
    "verdict lets run a second time is harmless only because that overwrites it";

constexpr std::string_view kCarried =
    "counters are gathered as they were measured in this place; behind the steps it is luck that "
    "nobody looks at more of them than what checkpoints wrote, which stays there";

constexpr std::string_view kUnanswered =
    "prompts are drawn in steps in which they are answered; those that are drawn in others nobody "
    "sees";

constexpr std::string_view kArrival =
    "what a case brings it brings to nobody outside, also where it always runs";

constexpr std::string_view kDrainsOnce =
    "a case that begins where the loop over steps does is taken to drain in front of the first "
    "step only";

constexpr std::array kRules = {
    // S1
    StricterRule{"S0102", kStray, "duplicate"},
    StricterRule{"S0102", kBehindVerdict, "move an action"},
    StricterRule{"S0102", kBehindVerdict, "swap two actions"},
    StricterRule{"S0106",
                 "what belongs to a step (deciding, loading, measuring, reporting) runs once in "
                 "it; a second time leaves the same as the first",
                 "duplicate"},
    StricterRule{"S0113",
                 "prompts are sent, answered and gathered once; a second time gives the same "
                 "samples, at the price of making them",
                 "duplicate"},
    StricterRule{"S0107",
                 "steps end early where `stop` is decided and nowhere else; that another condition "
                 "holds in the last step first is decided by the coordinator",
                 "change a loop"},
    StricterRule{"S0107", "a plan has as many steps as its job asks for; where `stop` ends the run "
                          "earlier, nobody reaches the step that is missing or too much"},
    // S2
    StricterRule{"S0201", kStray, "duplicate"},
    StricterRule{"S0202", kStray, "duplicate"},
    StricterRule{"S0203", kStray, "duplicate"},
    StricterRule{"S0206", kStray, "duplicate"},
    StricterRule{"S0202", kCarried, "change a loop"},
    StricterRule{"S0203", kCarried, "change a loop"},
    StricterRule{"S0203", kCarried, "drop an action"},
    StricterRule{"S0201", kCarried, "move an action"},
    StricterRule{"S0203", kCarried, "move an action"},
    StricterRule{"S0205",
                 "a buffer is as large as what it holds: of one that has grown a part is moved by "
                 "nobody, and it is luck that nobody reads that part",
                 "resize"},
    // S3
    StricterRule{"S0305", "a group has the root that its axis allows (along `dp` the leading "
                          "replica), also a sum, which has no use for a root"},
    StricterRule{"S0310",
                 "a buffer that belongs to no microbatch has one slot; of two, tasks would take "
                 "the one of their microbatch's number, so it is luck that they all take the same"},
    // S4: an action that stands there twice. What the second one does is overwritten or replaced
    // before anybody reads it.
    StricterRule{
        "S0404",
        "gradients are scaled once, behind the last of them; in front of the first one an added "
        "scaling is overwritten, and an added squaring between two of them counts as their end"},
    StricterRule{"S0405", "no weight gradient follows scaling or squaring; here an added one "
                          "stands in front, and what it scaled or took is overwritten"},
    StricterRule{"S0406", "squares are taken once, of scaled gradients; an added squaring takes "
                          "the same again, or what is overwritten before it is gathered"},
    StricterRule{"S0407", "squares are gathered once, when all are there; an added call gathers "
                          "the same again, or what the next call replaces"},
    StricterRule{"S0408", "the clip factor is computed once, from gathered squares; an added "
                          "`clip` gives the same factor, or one that the next `clip` replaces"},
    StricterRule{"S0409", "an optimizer runs once a step; an added squaring outside of the steps "
                          "counts as a step of its own, in which none runs"},
    StricterRule{"S0410", "weights are initialised once; a second time, in front of the first "
                          "step, writes the same numbers again"},
    StricterRule{"S0412", "a tied head's gradient is added once, in its turn; in front of the "
                          "first weight gradient an added sum is overwritten"},
    StricterRule{"S0413", "a tied head's gradient leaves its buffer once; a second message brings "
                          "the same numbers to the same place"},
    StricterRule{"S0414",
                 "gradients are reduced over replicas once, before they are scaled; an added "
                 "squaring in front of that counts as its end, though it only reads"},
    StricterRule{"S0417",
                 "what belongs to no microbatch carries no mark to be skipped with an empty one; "
                 "in these plans nothing asks for the mark, or no such microbatch is empty"},
    StricterRule{"S0419",
                 "a step is settled once; an added `clip` gives the same verdict again, and an "
                 "added `redo` outside of the steps what is overwritten there",
                 "duplicate"},
    StricterRule{"S0421",
                 "a stage is done again once; a second time makes the same of what was kept",
                 "duplicate"},
    StricterRule{"S0421", kByChance, "change a guard"},
    // C, D
    StricterRule{"C0201", "a loop has one number of trips and one period on all ranks, or no clock "
                          "serves them all; where `stop` ends it earlier, all ranks end alike"},
    StricterRule{"C0202",
                 "the clock ascends along all of a program, also in a case of a round's step that "
                 "its engine never enters",
                 "spoil a time"},
    StricterRule{"D0101", kArrival, "change a case"},
    StricterRule{"D0101", kArrival, "move an action"},
    StricterRule{"D0101",
                 "a question is asked behind what answers it, also in a case of a round's step "
                 "that its engine never enters",
                 "change a guard"},
    StricterRule{"D0102", "engines get the header before a step is packed; a question for its "
                          "microbatches does no harm only where what it decides about does none"},
    StricterRule{"D0203", "a plan says what may vary: a condition that holds always or never "
                          "decides nothing, and the run is the same without it"},
    StricterRule{"D0401", "both ends of a message lie in one case; across the edge of a case that "
                          "runs whenever it is asked the message arrives all the same"},
    StricterRule{"D0501",
                 "all ranks have the same cases, by their conditions; another condition on one of "
                 "them that holds in the same steps does so by what the coordinator decides",
                 "change a case"},
    StricterRule{"D0503",
                 "all ranks end their steps on one condition; that another one holds in the last "
                 "step first is decided by the coordinator",
                 "change a loop"},
    StricterRule{"D0504", kByChance, "change a condition"},
    StricterRule{"D0504", kByChance, "change a guard"},
    StricterRule{"D0502", "what every step needs stands under no guard; a guard that holds "
                          "wherever it is asked skips nothing"},
    StricterRule{
        "D0601",
        "gradients are divided by the header of their step, which goes over every group made for "
        "it; a call with one member goes unmissed, and an added scaling is overwritten"},
    // K, M
    StricterRule{"K0101", kStray, "duplicate"},
    StricterRule{"S0106", kUnanswered, "change a case"},
    StricterRule{"S0106", kUnanswered, "move an action"},
    StricterRule{"S0113", kUnanswered, "change a case"},
    StricterRule{"S0113", kUnanswered, "move an action"},
    StricterRule{"W0302",
                 "each kind of step is judged as if all were of that kind; that an engine has a "
                 "version in one without a sync, it has from an earlier step",
                 "change a case"},
    StricterRule{"W0102",
                 "whatever an engine forgets, it forgets while it is paused; in a case that it "
                 "never enters it is not asked to",
                 "move an action"},
    StricterRule{"W0102",
                 "whatever an engine forgets, it forgets while it is paused; in a case that it "
                 "never enters it is not asked to",
                 "swap two actions"},
    StricterRule{"W0201",
                 "each part of the weights arrives once for a version; a second time it is the "
                 "same, at the price of a message",
                 "duplicate"},
    StricterRule{"K0102", kStray, "duplicate"},
    StricterRule{"K0103",
                 "what a checkpoint takes runs only where `save` is decided; taken in other steps "
                 "too it is the same checkpoint, at the price of a copy a step"},
    StricterRule{"K0104",
                 "a checkpoint is named under no guard; one that holds wherever there is one to "
                 "name skips nothing",
                 "change a guard"},
    StricterRule{"M0301", kDrainsOnce, "change a case"},
    StricterRule{"M0301", kDrainsOnce, "move an action"},
    StricterRule{"M0302",
                 "what stands behind the steps waits for the last one like for any other; that one "
                 "of a run that commits early ends drained is decided by the coordinator, which a "
                 "plan does not say",
                 "wait"},
    StricterRule{"M0202",
                 "buffers that are alive together share no bytes, also where one is gathered from "
                 "the other and so holds the same in them",
                 "share bytes"},
    StricterRule{"M0101", "an arena is exactly its buffers; a larger one runs as well, with memory "
                          "reserved that no buffer accounts for"},
};

} // namespace

std::span<const StricterRule> stricterRules() { return kRules; }

std::string_view reasonFor(std::string_view code, std::string_view mutation) {
  for (const StricterRule &rule : kRules)
    if (rule.code == code && mutation.find(rule.mutation) != std::string_view::npos)
      return rule.reason;
  return "";
}

} // namespace vime
