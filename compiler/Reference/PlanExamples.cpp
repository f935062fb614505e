// An example for each code of the judges: what stands in a plan that gets it. `rank 1: forward 3`
// is an action, in dispatch order.
#include <array>

#include "compiler/Reference/CodePage.h"

namespace vime {

namespace {

constexpr std::array kExamples = {
    PlanExample{Rule::S1, 1, "rank 1 has no `forward` of stage 1 and microbatch 3"},
    PlanExample{Rule::S1, 2, "rank 1: forward 3, backward 3, forward 3"},
    PlanExample{Rule::S1, 3, "rank 1: backward 3, and later backward_weight 3"},
    PlanExample{Rule::S1, 4, "of four stages, stage 2 runs a `loss`"},
    PlanExample{Rule::S1, 5, "forward 5 in a step of which 3 microbatches were decided"},
    PlanExample{Rule::S1, 6, "rank 0 has two `decide` in the loop over steps"},
    PlanExample{Rule::S1, 7, "the job says `steps: 200`, the loop over steps runs 100 times"},
    PlanExample{Rule::S1, 8, "two `export_shard` of stage 1 behind the last step"},
    PlanExample{Rule::S1, 9, "the plan exports shards, and no `export_commit` makes them visible"},
    PlanExample{Rule::S1, 10,
                "`report_evaluation` stands between `measure_evaluation` and `gather`"},
    PlanExample{Rule::S1, 11, "of two copies of the model the first runs microbatch 1"},
    PlanExample{Rule::S1, 12, "a stage of the reference model has a `backward`"},
    PlanExample{Rule::S1, 13, "`generate` stands twice between two broadcasts of prompts"},

    PlanExample{Rule::S2, 1, "rank 1: forward 0 stands before the receive of its input"},
    PlanExample{Rule::S2, 2, "rank 1: backward 1 reads the stash of forward 0"},
    PlanExample{Rule::S2, 3, "the loss of step 2 reads labels that were received in step 1"},
    PlanExample{Rule::S2, 4, "stage 1 of 4: `backward` has no `output_gradient`"},
    PlanExample{Rule::S2, 5,
                "a message of 512 bytes arrives in an input of 1024, all of which is read"},
    PlanExample{Rule::S2, 6, "the warm-up does not run again, and backward 0 reads its stash"},
    PlanExample{Rule::S2, 7,
                "`unshard` of rank 2 stands in front of its `optimize`, that of rank 0 behind"},
    PlanExample{Rule::S2, 20, "a table says `0UNSHARD,0RESHARD,0F0`"},

    PlanExample{Rule::S3, 1, "mesh pp 4 dp 1 cp 2 tp 1"},
    PlanExample{Rule::S3, 2, "more than 2^31 actions over all ranks"},
    PlanExample{Rule::S3, 3, "mesh pp 4, and three programs are bound to ranks"},
    PlanExample{Rule::S3, 4, "microbatches 0"},
    PlanExample{Rule::S3, 5, "group 0 has the root 4 on a mesh of four ranks"},
    PlanExample{Rule::S3, 6, "a program with 65 lanes"},
    PlanExample{Rule::S3, 7, "rank 3 of 4 has a channel to `pp+1`"},
    PlanExample{Rule::S3, 8, "loop 0 begin 5 end 5"},
    PlanExample{Rule::S3, 9, "stage 0 is 4 of model 0, which has four stages"},
    PlanExample{Rule::S3, 10, "buffer 3 with count 0"},
    PlanExample{Rule::S3, 11, "an action with opcode 0x01ff"},
    PlanExample{Rule::S3, 12, "a `forward` on a lane that sends"},
    PlanExample{Rule::S3, 13, "action 7 is for stage 1 of a rank that holds one stage"},
    PlanExample{Rule::S3, 14, "microbatch 8 of a step that has microbatches 0 to 7"},
    PlanExample{Rule::S3, 15, "a send with `group_begin`"},
    PlanExample{Rule::S3, 16, "a wait for lane 12 of a rank with ten lanes"},
    PlanExample{Rule::S3, 17, "a `forward` with three operands"},
    PlanExample{Rule::S3, 18, "operand 99 of a rank with 15 buffers"},
    PlanExample{Rule::S3, 19, "action 7 guard 9, where the plan has no condition 9"},
    PlanExample{Rule::S3, 20, "ranks 1 and 2 both hold stage 1"},
    PlanExample{Rule::S3, 21, "no rank holds stage 2 of four"},
    PlanExample{Rule::S3, 22, "an input of 64 bytes, where a microbatch takes 128"},

    PlanExample{Rule::S3, 23, "a case that begins inside of a loop and ends behind it"},
    PlanExample{Rule::S3, 24, "a step of 7 microbatches, whose samples are cut into 2 slices"},

    PlanExample{Rule::S4, 1, "backward 1 of stage 0 runs before backward 0"},
    PlanExample{Rule::S4, 2, "backward 0 with `immediate 0`: it adds to what the last step left"},
    PlanExample{Rule::S4, 3, "backward 2 with `immediate 1`: backward 0 and 1 are lost"},
    PlanExample{Rule::S4, 4, "two `scale_gradients` of one stage in a step"},
    PlanExample{Rule::S4, 5, "backward 7 stands behind `scale_gradients`"},
    PlanExample{Rule::S4, 6, "`square_norm` stands before `scale_gradients`"},
    PlanExample{Rule::S4, 7, "`all_gather` stands before the `square_norm` of a stage"},
    PlanExample{Rule::S4, 8, "`clip` stands before the `all_gather` of the squares"},
    PlanExample{Rule::S4, 9, "a rank without an `optimize` for one of its stages"},
    PlanExample{Rule::S4, 10, "`initialize` stands inside the loop over steps"},
    PlanExample{Rule::S4, 11, "backward 0 adds to buffer 9, backward 1 to buffer 10"},
    PlanExample{Rule::S4, 12, "`add_tied` stands behind `scale_gradients`"},
    PlanExample{Rule::S4, 13, "rank 3 sends `tied_gradients` before its last backward"},
    PlanExample{Rule::S4, 14, "mesh pp 4 dp 2, and rank 1 has no `all_reduce` of stage 1"},
    PlanExample{Rule::S4, 15, "backward 7 stands behind `all_reduce`"},
    PlanExample{Rule::S4, 16,
                "`optimize` of stage 0 is guarded by `bad = 0`, that of stage 1 is not"},
    PlanExample{Rule::S4, 17, "backward 0 has immediate 1 and the flag `skip_if_empty`"},
    PlanExample{Rule::S4, 18, "backward 0 stands in front of `settle`"},
    PlanExample{Rule::S4, 19, "a case for `settle = 1` has no `clip`"},
    PlanExample{Rule::S4, 20, "a table says `0B0,0REDUCE_GRAD,0B1`"},
    PlanExample{Rule::S4, 21, "a case for `verdict != 0` has no `redo` of stage 1"},
    PlanExample{Rule::S4, 22, "`all_gather` of the squares stands before `reduce_squares`"},

    PlanExample{Rule::C1, 1, "rank 0 sends eight messages to rank 1, which receives seven"},
    PlanExample{Rule::C1, 2, "rank 0 sends 512 bytes of float32, rank 1 receives 512 of float64"},
    PlanExample{Rule::C1, 3, "message 3 leaves as microbatch 3 and arrives as microbatch 4"},
    PlanExample{Rule::C1, 5, "rank 0 has two lanes `send flow forward peer pp+1`"},
    PlanExample{Rule::C1, 6, "the sender has two slots for the channel, the receiver three"},
    PlanExample{Rule::C1, 7, "a message of 1024 bytes into an input of 512"},
    PlanExample{Rule::C1, 8,
                "a message over two slots leaves slots 256 bytes apart and meets slots 512 apart"},
    PlanExample{Rule::C1, 9, "the send has `skip_if_empty`, the receive has not"},
    PlanExample{Rule::C1, 10, "a channel with fixed 0 and per_token 0"},
    PlanExample{Rule::C1, 20, "a table holds `0SEND_F0` and no `1RECV_F0`"},
    PlanExample{Rule::C1, 21, "a table holds `0SEND_F0` twice"},
    PlanExample{Rule::C1, 22, "the last stage sends forward"},
    PlanExample{Rule::C1, 23, "a table says `1F0,1RECV_F0`"},

    PlanExample{Rule::C2, 1, "rank 0 runs loop 0 100 times, rank 1 runs it 99 times"},
    PlanExample{Rule::C2, 2, "action 7 at time 9, action 8 at time 9"},
    PlanExample{Rule::C2, 3, "a loop of period 26 whose actions stand at times 0 to 26"},
    PlanExample{Rule::C2, 4, "a loop ends at 79, and what stands behind it starts at 70"},
    PlanExample{Rule::C2, 5, "a message is sent at time 6 and received at time 8"},
    PlanExample{Rule::C2, 6, "rank 0 calls group `step` at time 2, rank 1 at time 3"},
    PlanExample{Rule::C2, 7, "rank 0: send a, receive b; rank 1: send b, receive a"},
    PlanExample{Rule::C2, 8, "a loop with period -1"},

    PlanExample{Rule::C3, 1, "rank 1 never calls group `norm`"},
    PlanExample{Rule::C3, 2, "rank 1 has two lanes of group `norm`"},
    PlanExample{Rule::C3, 3, "rank 0 calls group `step` once a step, rank 1 twice"},
    PlanExample{Rule::C3, 4, "group `norm` is an `all_gather`, and rank 1 calls it with `gather`"},
    PlanExample{Rule::C3, 5,
                "group `norm` moves 8 bytes of each rank into a buffer of 8 on two ranks"},
    PlanExample{Rule::C3, 6,
                "slots of `segments` stand 64 bytes apart on rank 0 and 128 on rank 1"},
    PlanExample{Rule::C3, 7, "rank 0 gathers squares, rank 1 hands over stats"},
    PlanExample{Rule::C3, 8, "only rank 1 has `skip_if_empty` on its call"},
    PlanExample{Rule::C3, 9, "an `all_reduce` of rank 1 without the flag `host_blocking`"},

    PlanExample{Rule::C4, 1, "rank 0 sends to rank 1, and the connect rounds lack the pair 0-1"},
    PlanExample{Rule::C4, 2, "two connect rounds have the pair 0-1"},
    PlanExample{Rule::C4, 3, "a plan of twenty groups, and rank 0 has a lane for each"},

    PlanExample{Rule::D1, 1, "a case on `evaluate` stands before the broadcast of the header"},
    PlanExample{Rule::D1, 2, "`report_evaluation` may end the run, and no broadcast follows it"},
    PlanExample{Rule::D2, 1, "rank 1 has a `decide` too"},
    PlanExample{Rule::D2, 2, "rank 1 gets the header over group `step`, rank 2 over another one"},
    PlanExample{Rule::D2, 3, "`microbatches ≥ 1`, where a step has 3 or 8"},
    PlanExample{Rule::D3, 1, "a step has 3 microbatches or 8, and the only case is for 8"},
    PlanExample{Rule::D3, 2, "a family of 5000 numbers of microbatches"},
    PlanExample{Rule::D4, 1, "a case sends message 3, which is received behind it"},
    PlanExample{Rule::D5, 1, "case 0 is for `evaluate = 1` on rank 0 and for `save = 1` on rank 1"},
    PlanExample{Rule::D5, 2, "a `forward` with a guard: without it the backward has no stash"},
    PlanExample{Rule::D5, 3, "rank 0 ends its steps on `stop = 1`, rank 1 runs them all"},
    PlanExample{Rule::D5, 4, "`report` behind `settle` has no guard `pending = 1`"},
    PlanExample{Rule::D6, 1, "`scale_gradients` stands behind `load_evaluation`"},

    PlanExample{Rule::M1, 1, "an arena of 4096 bytes whose last buffer ends at 2112"},
    PlanExample{Rule::M1, 2, "a buffer of 512 bytes at offset 1920 of an arena of 2112"},
    PlanExample{Rule::M1, 3, "slots of 256 bytes that stand 192 apart"},
    PlanExample{Rule::M1, 4, "a rank whose arena has 83 GiB under `memory_limit: 80GiB`"},

    PlanExample{Rule::M2, 1, "input and output share bytes, and nothing orders their uses"},
    PlanExample{Rule::M2, 2, "a stash is read after an input in the same bytes was received"},
    PlanExample{Rule::M2, 3, "hundreds of buffers in the same bytes"},

    PlanExample{Rule::M3, 1, "forward 0 does not wait for the receive of its input"},
    PlanExample{Rule::M3, 2,
                "the receive of input 2 does not wait for backward 0, which reads the slot"},
    PlanExample{Rule::M3, 3, "forward 2 writes an output whose send is not waited for"},
    PlanExample{Rule::M3, 4,
                "two receives into one slot, and the second does not wait for the first"},
    PlanExample{Rule::M3, 5, "four microbatches are alive, and the stash has three slots"},
    PlanExample{Rule::M3, 6, "a `backward` whose `input_gradient` is also its `input`"},
    PlanExample{Rule::M3, 7, "a task whose operands come from five other lanes"},

    PlanExample{Rule::W1, 1, "a second `wake` stands behind the first"},
    PlanExample{Rule::W1, 2, "`flush` stands in front of `pause`"},
    PlanExample{Rule::W1, 3, "`broadcast_weights` stands behind `resume`"},
    PlanExample{Rule::W1, 4, "`resume` without a `wake` before it"},
    PlanExample{Rule::W1, 5, "`generate` stands between `broadcast_weights` and `publish`"},
    PlanExample{Rule::W2, 1, "part 3 of stage 1 is broadcast twice before `publish`"},
    PlanExample{Rule::W2, 2, "of four parts of stage 1 the last one is not broadcast"},
    PlanExample{Rule::W2, 3, "rank 0 broadcasts part 2 of stage 1, and rank 4 takes part 3"},
    PlanExample{Rule::W3, 1, "`publish` stands between two `install`"},
    PlanExample{Rule::W3, 2, "`resume` stands between `install` and `publish`"},
    PlanExample{Rule::W3, 3, "`publish` stands behind `resume`"},
    PlanExample{Rule::W3, 4, "weights are published in front of the steps, and in none of them"},
    PlanExample{Rule::W3, 5, "behind the last round stands a `publish` with `immediate 0`"},

    PlanExample{Rule::K1, 1, "`optimize` of stage 0 stands behind the copy that is saved"},
    PlanExample{Rule::K1, 2, "weights are saved, and `optimize` runs before the step ends"},
    PlanExample{Rule::K1, 3,
                "the moments of stage 1 are never saved, though `save` may be decided"},
    PlanExample{Rule::K1, 4, "there is no `checkpoint_commit` behind the steps"},
};

} // namespace

std::span<const PlanExample> planExamples() { return kExamples; }

std::string_view remedyOf(Rule rule) {
  switch (rule) {
  case Rule::S1:
    return "give every stage one forward and one backward, whole or in two parts, of each "
           "microbatch; let prompts go round once";
  case Rule::S2:
    return "let what is read be written before, on the same rank or by a message";
  case Rule::S3:
    return "correct the index; `vimec show --format=text` lists what there is";
  case Rule::S4:
    return "add gradients in ascending microbatch, then over replicas, scale once, take the norm, "
           "then update";
  case Rule::C1:
    return "let the k-th send and the k-th receive of a channel be one message";
  case Rule::C2:
    return "move one action of the cycle that the message shows";
  case Rule::C3:
    return "let every member call the group alike, also with nothing to give";
  case Rule::C4:
    return "add the pair to a connect round, or open fewer transfers at once";
  case Rule::D1:
    return "receive the decision before its first use";
  case Rule::D2:
    return "declare the values that a decision may have, and send it to whoever uses it";
  case Rule::D3:
    return "compile the member of the family that the message names, or leave it out";
  case Rule::D4:
    return "finish every message and wait for every lane before a case begins and ends";
  case Rule::D5:
    return "guard both ends of a transfer, and all members of a group, by the same condition";
  case Rule::D6:
    return "scale by the denominator of the step header";
  case Rule::M1:
    return "the message shows what is alive; fewer or smaller microbatches, more stages or a "
           "higher "
           "`pipeline.memory_limit` make it fit";
  case Rule::M2:
    return "order the uses by waits or messages, or give the buffers bytes of their own";
  case Rule::M3:
    return "let the action wait, or give the ring more slots";
  case Rule::W1:
    return "pause the engine before its weights are written, resume it behind the last `install`";
  case Rule::W2:
    return "let every part of every stage arrive once before each `publish`";
  case Rule::W3:
    return "install all stages, then publish, then resume, once where a round begins";
  case Rule::K1:
    return "save at the boundary of a loop, where no message is open, and name what was saved "
           "before the next is";
  default:
    return "";
  }
}

} // namespace vime
