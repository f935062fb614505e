// RUN: %vime-opt --vime-order %S/Inputs/job.mlir | sed "s/1F0 1B0 1F1 1B1/1B0 1F0 1F1 1B1/" | not %vime-opt --vime-comm 2>&1 | FileCheck %s
// RUN: %vime-opt --vime-order %S/Inputs/job.mlir | sed "s/microbatches 2/microbatches 3/" | not %vime-opt --vime-comm 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: %vime-opt --vime-order %S/Inputs/job.mlir | sed "/rank 1/s/$/ rank 2 : \"\"/" | not %vime-opt --vime-comm 2>&1 | FileCheck %s --check-prefix=RANKS
// An order edited between two phases: the backward of microbatch 0 before its forward.

// CHECK: job.yaml:7:23: error: error[S0201]: {{.*}}can never finish
// COUNT: error: the schedule is of 3 microbatches, the job of 2
// RANKS: error: the schedule is of 3 ranks, the job of 2
