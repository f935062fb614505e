// M3: a wait is taken away.
//
// RUN: %vime-opt --vime-order --vime-comm --vime-memory --vime-plan %S/Inputs/job.mlir -o %t.mlir
// RUN: sed "/@rank1/,$ s/waits \[1:1, 2:1, 4:1\]/waits [1:1, 2:1]/" %t.mlir > %t.edited.mlir
// RUN: not diff %t.mlir %t.edited.mlir
// RUN: not %vime-opt --verify-plan %t.edited.mlir 2>&1 | FileCheck %s
// CHECK: job.yaml:7:23: error: error[M03{{[0-9]+}}]: forward, stage 1, microbatch 0 {{.*}}`input of stage 1`
