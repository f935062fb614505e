#include "compiler/Verify/Codes.h"

#include <algorithm>
#include <array>

namespace vime {

namespace {

constexpr std::array kCodes = {
    VerifierCode{Rule::S1, 1,
                 "a stage lacks a forward, backward or loss of some microbatch in a step"},
    VerifierCode{Rule::S1, 2, "a stage runs the same task of a microbatch twice in a step"},
    VerifierCode{Rule::S1, 3,
                 "a stage runs the backward of a microbatch both whole and in two parts"},
    VerifierCode{Rule::S1, 4, "a stage that is not the last one computes a loss"},
    VerifierCode{Rule::S1, 5,
                 "a task is of a microbatch that the step, or the evaluation, has not"},
    VerifierCode{Rule::S1, 6,
                 "the coordinator does not decide, load and report exactly once a step"},
    VerifierCode{
        Rule::S1, 7,
        "the plan runs another number of steps than the job asks for, or than `stop` says"},
    VerifierCode{
        Rule::S1, 8,
        "a stage is not exported exactly once behind the last step, or though nobody asks for it"},
    VerifierCode{Rule::S1, 9,
                 "the export is not committed exactly once, or though nobody asks for it"},
    VerifierCode{Rule::S1, 10,
                 "what an evaluation has measured is not gathered before it is reported"},
    VerifierCode{Rule::S1, 11,
                 "a microbatch passes through another copy of the model than its own"},
    VerifierCode{Rule::S1, 12, "a model that is not trained runs something else than forwards"},
    VerifierCode{Rule::S1, 13,
                 "prompts are drawn, sent, answered, gathered and scored in another order, or not "
                 "once each"},

    VerifierCode{Rule::S2, 1, "an action reads what nothing has written yet"},
    VerifierCode{Rule::S2, 2,
                 "an action reads the output of another action than the one it depends on"},
    VerifierCode{Rule::S2, 3, "an action reads what an earlier step left"},
    VerifierCode{Rule::S2, 4, "a backward takes no gradient from the stage behind it"},
    VerifierCode{Rule::S2, 5, "an action reads or gathers a buffer of which only a part was moved"},
    VerifierCode{Rule::S2, 6, "an action uses what a bad verdict on the step before takes back"},
    VerifierCode{Rule::S2, 7, "shares of different versions of a stage's weights come together"},
    VerifierCode{Rule::S2, 20, "a task stands where the parameters of its stage are sharded away"},

    VerifierCode{Rule::S3, 1, "the mesh has axes that this version cannot judge"},
    VerifierCode{Rule::S3, 2, "the programs have more actions than can be judged"},
    VerifierCode{Rule::S3, 3, "a rank has no program or no layout"},
    VerifierCode{Rule::S3, 4, "the plan has no stages or microbatches, or too many"},
    VerifierCode{Rule::S3, 5, "a group has a root, axes, message or operation that it cannot have"},
    VerifierCode{Rule::S3, 6, "a rank has too many lanes, or one of no known kind"},
    VerifierCode{Rule::S3, 7, "a channel leads to no other rank of the mesh"},
    VerifierCode{Rule::S3, 8,
                 "a loop is empty, overlaps another one, lies too deep, or leads beyond the last "
                 "microbatch"},
    VerifierCode{Rule::S3, 9, "a rank holds a stage that no model has"},
    VerifierCode{Rule::S3, 10, "a buffer is of no known kind, or has no slots or too many"},
    VerifierCode{Rule::S3, 11, "an action has an opcode that this version does not know"},
    VerifierCode{Rule::S3, 12, "an action stands on a lane of another kind"},
    VerifierCode{Rule::S3, 13, "an action is for a stage that its rank does not hold"},
    VerifierCode{Rule::S3, 14, "an action is for a microbatch that the step does not have"},
    VerifierCode{Rule::S3, 15, "a transfer is fused, which this version cannot judge"},
    VerifierCode{Rule::S3, 16, "an action waits for a lane that its rank does not have"},
    VerifierCode{Rule::S3, 17, "an action has too few or too many operands"},
    VerifierCode{Rule::S3, 18, "an operand of an action is no buffer of its rank"},
    VerifierCode{Rule::S3, 19, "a guard names no condition, or its action has counterparts"},
    VerifierCode{Rule::S3, 20, "a stage lives on several ranks"},
    VerifierCode{Rule::S3, 21, "a stage lives on no rank"},
    VerifierCode{Rule::S3, 22,
                 "a rank would refuse the plan: a buffer is smaller than its tasks need, or a "
                 "setting out of range"},

    VerifierCode{Rule::S3, 23, "a decision, a condition or a case is none that a plan can have"},
    VerifierCode{Rule::S3, 24,
                 "samples are not cut into equal slices, or a pass lacks some of them"},

    VerifierCode{Rule::S4, 1, "weight gradients of a stage do not add up in ascending microbatch"},
    VerifierCode{Rule::S4, 2,
                 "the first weight gradient of a stage in a step adds to those of the last step"},
    VerifierCode{Rule::S4, 3, "a later weight gradient overwrites those before it"},
    VerifierCode{Rule::S4, 4,
                 "the gradients of a stage are not scaled exactly once, after the last of them"},
    VerifierCode{Rule::S4, 5, "a weight gradient is added after the gradients were scaled"},
    VerifierCode{Rule::S4, 6,
                 "the squares of a stage's gradients are not taken exactly once, after scaling"},
    VerifierCode{Rule::S4, 7,
                 "squares are gathered more than once, or before all stages have given theirs"},
    VerifierCode{Rule::S4, 8,
                 "the clip factor is computed more than once, or before the squares are gathered"},
    VerifierCode{Rule::S4, 9,
                 "the optimizer does not run exactly once for a stage, behind everything else"},
    VerifierCode{Rule::S4, 10,
                 "the weights of a stage are not initialised exactly once, before the first step"},
    VerifierCode{Rule::S4, 11, "weight gradients of a stage add up in different buffers"},
    VerifierCode{Rule::S4, 12,
                 "the gradients of a tied head are not added to the embedding's exactly once, when "
                 "those are complete and before they are scaled"},
    VerifierCode{Rule::S4, 13,
                 "the gradient of a tied head does not leave its buffer exactly once, when it is "
                 "complete"},
    VerifierCode{Rule::S4, 14,
                 "the gradients of a stage are not reduced over the replicas exactly once, after "
                 "the last of them and before they are scaled"},
    VerifierCode{Rule::S4, 15, "a weight gradient is added after the gradients were reduced"},
    VerifierCode{Rule::S4, 16,
                 "a stage skips its optimizer for another reason than bad gradients, or does not "
                 "skip it for these"},
    VerifierCode{Rule::S4, 17,
                 "an action is skipped with an empty microbatch, though what it leaves is needed"},
    VerifierCode{Rule::S4, 18,
                 "a gradient is computed before the verdict on the step before is known"},
    VerifierCode{
        Rule::S4, 19,
        "a step whose optimizer runs early is not settled exactly once, by the next one or "
        "at its own end"},
    VerifierCode{Rule::S4, 20,
                 "the gradients of a stage are reduced before the last of them, or twice"},
    VerifierCode{Rule::S4, 21,
                 "a stage is not done again exactly once where the verdict is bad, and only there"},
    VerifierCode{
        Rule::S4, 22,
        "squares of shares are not added up once over all replicas, when all of a rank are "
        "taken and before they are gathered"},

    VerifierCode{Rule::C1, 1, "a channel has more sends than receives, or fewer"},
    VerifierCode{Rule::C1, 2, "the two ends of a channel disagree about bytes or type"},
    VerifierCode{Rule::C1, 3, "a message is received as another microbatch than it was sent"},
    VerifierCode{Rule::C1, 5,
                 "a channel has several lanes at one end, so that its messages have no order"},
    VerifierCode{Rule::C1, 6,
                 "the two ends of a channel disagree about the slots of its ring, or it has none"},
    VerifierCode{Rule::C1, 7, "a message is larger than the buffer it comes from or goes to"},
    VerifierCode{Rule::C1, 8, "a message over several slots meets slots that lie otherwise"},
    VerifierCode{Rule::C1, 9,
                 "one end of a message is skipped when the microbatch is empty, the other is not"},
    VerifierCode{Rule::C1, 10, "the messages of a channel have no bytes"},
    VerifierCode{Rule::C1, 20, "the table of an order lacks a transfer that its tasks need"},
    VerifierCode{Rule::C1, 21, "the table of an order holds a transfer twice"},
    VerifierCode{Rule::C1, 22, "the table of an order holds a transfer that no task needs"},
    VerifierCode{
        Rule::C1, 23,
        "a transfer stands before the task that makes it, or behind the one that needs it"},

    VerifierCode{Rule::C2, 1, "ranks run different loops, trips or periods"},
    VerifierCode{Rule::C2, 2, "the clock does not increase along a rank's dispatch order"},
    VerifierCode{Rule::C2, 3, "the body of a loop spans its period or more"},
    VerifierCode{Rule::C2, 4, "a segment starts before the one in front of it has ended"},
    VerifierCode{Rule::C2, 5, "the two ends of a message have different times"},
    VerifierCode{Rule::C2, 6, "members of a group call at different times"},
    VerifierCode{Rule::C2, 7, "ranks wait for each other in a circle"},
    VerifierCode{Rule::C2, 8, "the clock of a loop overflows or runs backward"},

    VerifierCode{Rule::C3, 1, "a member of a group never calls it"},
    VerifierCode{Rule::C3, 2,
                 "a member of a group has several lanes for it, so that its calls have no order"},
    VerifierCode{Rule::C3, 3, "members call a group different numbers of times"},
    VerifierCode{Rule::C3, 4, "a group is called with another operation than its own"},
    VerifierCode{Rule::C3, 5, "a group moves more bytes than a buffer holds, or into none"},
    VerifierCode{Rule::C3, 6, "members of a group lay out the slots of what it moves differently"},
    VerifierCode{Rule::C3, 7, "members of a group hand over different things in one call"},
    VerifierCode{Rule::C3, 8, "a call is skipped by some members only"},
    VerifierCode{Rule::C3, 9, "a rank goes on before a sum that it takes part in is complete"},

    VerifierCode{Rule::C4, 1, "ranks exchange messages that no connect round connects"},
    VerifierCode{Rule::C4, 2, "two ranks are connected twice"},
    VerifierCode{Rule::C4, 3, "a rank takes part in more groups than can be open"},

    VerifierCode{Rule::D1, 1, "a guard, case or end of a loop asks for what has not arrived"},
    VerifierCode{Rule::D1, 2,
                 "a decision is read from a header that was changed and not sent again"},
    VerifierCode{Rule::D2, 1, "the step header is written by more than the coordinator"},
    VerifierCode{Rule::D2, 2, "ranks get the step header from different places"},
    VerifierCode{Rule::D2, 3, "a condition holds always or never"},
    VerifierCode{Rule::D3, 1, "a number of microbatches may be decided that no case is made for"},
    VerifierCode{Rule::D3, 2, "the decisions can fall together in too many ways to be judged"},
    VerifierCode{Rule::D4, 1, "a message is sent inside of a case and received outside"},
    VerifierCode{Rule::D5, 1, "ranks have different cases"},
    VerifierCode{Rule::D5, 2,
                 "an action is guarded that every step needs, or whose outputs others need"},
    VerifierCode{Rule::D5, 3, "ranks end a loop on different conditions"},
    VerifierCode{Rule::D5, 4,
                 "where steps commit early, a report stands neither for the step before nor at the "
                 "end of one that is settled there"},
    VerifierCode{Rule::D6, 1, "gradients or losses are divided by another header's denominator"},

    VerifierCode{Rule::M1, 1, "an arena is larger than its buffers"},
    VerifierCode{Rule::M1, 2, "a buffer lies outside of its arena"},
    VerifierCode{Rule::M1, 3, "slots of a buffer are empty, overlap or are not aligned"},
    VerifierCode{Rule::M1, 4, "a rank needs more memory than the limit"},

    VerifierCode{Rule::M2, 1, "buffers share bytes, and their uses are not ordered"},
    VerifierCode{Rule::M2, 2, "an action reads what a buffer in the same bytes has overwritten"},
    VerifierCode{Rule::M2, 3, "too many buffers share bytes to be judged"},

    VerifierCode{Rule::M3, 1, "an action reads a buffer without waiting until it is written"},
    VerifierCode{Rule::M3, 2, "an action overwrites a buffer without waiting until it is read"},
    VerifierCode{Rule::M3, 3, "an action overwrites a buffer without waiting until it is sent"},
    VerifierCode{Rule::M3, 4, "an action overwrites a buffer without waiting for the write before"},
    VerifierCode{Rule::M3, 5,
                 "a ring has too few slots: a microbatch is overwritten before its last use"},
    VerifierCode{Rule::M3, 6, "an action writes a slot that is also another operand of it"},
    VerifierCode{Rule::M3, 7, "an action has more to wait for than a plan can say"},

    VerifierCode{Rule::W1, 1, "an engine that has a cache is given one"},
    VerifierCode{Rule::W1, 2, "an engine that runs is made to forget what it has cached"},
    VerifierCode{Rule::W1, 3, "weights are written or installed while their engine runs or sleeps"},
    VerifierCode{Rule::W1, 4, "an engine resumes without a cache"},
    VerifierCode{Rule::W1, 5,
                 "an engine generates while it sleeps, is paused, or its weights have no version"},
    VerifierCode{Rule::W2, 1, "a part of an engine's weights is written twice for one version"},
    VerifierCode{Rule::W2, 2, "weights are published of which a part has not arrived"},
    VerifierCode{Rule::W2, 3, "members of a call mean different parts of the weights"},
    VerifierCode{Rule::W3, 1, "weights are published of which a stage is not installed"},
    VerifierCode{Rule::W3, 2, "an engine resumes with weights that have no version"},
    VerifierCode{Rule::W3, 3, "weights are published while their engine runs"},
    VerifierCode{Rule::W3, 4, "an engine generates with weights that an earlier step published"},
    VerifierCode{Rule::W3, 5, "a version is published twice, or out of its turn"},
    VerifierCode{Rule::K1, 1,
                 "a checkpoint takes weights or moments in front of the step's update"},
    VerifierCode{Rule::K1, 2, "weights or moments change between a checkpoint and the next step"},
    VerifierCode{Rule::K1, 3,
                 "a checkpoint lacks the weights or moments of a stage, or does not write them"},
    VerifierCode{Rule::K1, 4,
                 "a checkpoint is not named before the next one is written, or behind the steps"},
};

} // namespace

std::span<const VerifierCode> verifierCodes() { return kCodes; }

const VerifierCode *findVerifierCode(Rule rule, int number) {
  const auto found = std::find_if(kCodes.begin(), kCodes.end(), [&](const VerifierCode &code) {
    return code.rule == rule && code.number == number;
  });
  return found == kCodes.end() ? nullptr : &*found;
}

} // namespace vime
