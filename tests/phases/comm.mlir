// RUN: %vime-opt --vime-order --vime-comm %S/Inputs/job.mlir | FileCheck %s
// RUN: %vime-opt --vime-order --vime-comm %S/Inputs/job.mlir | %vime-opt --vime-memory | FileCheck %s --check-prefix=MEMORY
// RUN: not %vime-opt --vime-comm %S/Inputs/job.mlir 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not %vime-opt --vime-memory %S/Inputs/job.mlir 2>&1 | FileCheck %s --check-prefix=EARLIER
// RUN: %vime-opt --vime-order --vime-comm %S/Inputs/job.mlir | sed "s/microbatch 1 /microbatch 2 /" | not %vime-opt --vime-memory 2>&1 | FileCheck %s --check-prefix=THIRD
// RUN: %vime-opt --vime-order --vime-comm --vime-memory %S/Inputs/job.mlir | not %vime-opt --vime-memory 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: %vime-opt --vime-order --vime-comm %S/Inputs/job.mlir | sed "s/model 0 stage 0/model 0 stage 1/" | not %vime-opt --vime-memory 2>&1 | FileCheck %s --check-prefix=STAGES
// Phase comm: programs with transfers and times, without buffers and waits. Phase memory gives both.

// CHECK-NOT:  sched.pipeline
// CHECK:      plan.plan schedule "1f1b"
// CHECK-NOT:  plan.layout
// CHECK:      plan.program @rank0 {
// CHECK-NEXT:   plan.lane compute
// CHECK:        plan.loop id 0 trips 200
// CHECK:          plan.forward stage 0 microbatch 0 lane 0 time [[TIME:[0-9]+]]{{$}}
// CHECK-NEXT:     plan.send stage 0 microbatch 0 lane {{[0-9]+}} time [[SENT:[0-9]+]]
// CHECK:      plan.program @rank1 {
// CHECK:          plan.receive stage 0 microbatch 0 lane {{[0-9]+}} time [[SENT]]

// MEMORY: plan.layout @layout0 device {{[1-9][0-9]*}} host 0 {
// MEMORY: plan.buffer weights stage 0 tier device count 1
// MEMORY: plan.forward stage 0 microbatch 0 lane 0 time {{[0-9]+}} flags [signalled] waits [{{[0-9:, ]+}}] uses [{{[0-9, _]+}}]

// EARLY: error: the module holds no schedule; phase order makes one
// EARLIER: error: the module holds no programs; phase comm makes them
// THIRD: error: the plan has an action of a microbatch that the job does not have
// TWICE: error: the plan has layouts already
// STAGES: error: the plan has not each stage on one rank
