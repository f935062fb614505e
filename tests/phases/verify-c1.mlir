// A plan between two phases, edited by hand: every verifier judges what stands there, and tells the user's line.
//
// RUN: %vime-opt --vime-order --vime-comm --vime-memory --vime-plan %S/Inputs/job.mlir -o %t.mlir
// RUN: %vime-opt --verify-plan %t.mlir -o /dev/null

// Rank 0 sends its two messages in the other order.
// RUN: sed -e "/@rank0/,/@rank1/ s/plan.send stage 0 microbatch 0 lane 5/plan.send stage 0 microbatch X lane 5/" -e "/@rank0/,/@rank1/ s/plan.send stage 0 microbatch 1 lane 5/plan.send stage 0 microbatch 0 lane 5/" -e "s/microbatch X/microbatch 1/" %t.mlir > %t.swapped.mlir
// RUN: not %vime-opt --verify-plan %t.swapped.mlir 2>&1 | FileCheck %s --check-prefix=SWAPPED
// SWAPPED: job.yaml:7:23: error: error[C0103]: message 0 of channel `rank 0 → rank 1, forward` of microbatch 1 is received as microbatch 0
// SWAPPED: job.yaml:7:23: note: from rank 0, action 7: send forward to rank 1, stage 0, microbatch 1
// SWAPPED: job.yaml:7:23: note: to   rank 1, action 4: receive forward from rank 0, stage 1, microbatch 0

// Rank 0 sends two messages forward, rank 1 takes one.
// RUN: sed "/@rank1/,$ { /plan.receive stage 0 microbatch 1/d; }" %t.mlir > %t.missing.mlir
// RUN: not %vime-opt --verify-plan %t.missing.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error[C0101]: channel `rank 0 → rank 1, forward` has 2 sends and 1 receives

// Rank 1 takes another type than rank 0 sends.
// RUN: sed "/@rank1/,$ s/flow forward peer pp plus -1 message float32 per_token 256/flow forward peer pp plus -1 message bfloat16 per_token 128/" %t.mlir > %t.type.mlir
// RUN: not %vime-opt --verify-plan %t.type.mlir 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error[C0102]: channel `rank 0 → rank 1, forward` is sent as 256 bytes of float32 per token and received as 128 bytes of bfloat16 per token
