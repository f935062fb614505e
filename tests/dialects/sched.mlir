// RUN: %vime-opt %s | %vime-opt | FileCheck %s
// RUN: %vime-opt --mlir-print-op-generic %s | %vime-opt | FileCheck %s
// An order is rows in PyTorch's grammar, a dot for an idle slot.

// CHECK:      sched.pipeline "1f1b" microbatches 3 placement [0, 1] {
// CHECK-NEXT:   rank 0 : "0F0 0F1 . 0B0 0F2 0B1 0B2"
// CHECK-NEXT:   rank 1 : "1F0 1B0 1F1 1B1 1F2 1B2"
// CHECK-NEXT: }
sched.pipeline "1f1b" microbatches 3 placement [0, 1] {
  rank 0 : "0F0  0F1 . 0B0 0F2 0B1 0B2"
  rank 1 : "1F0 1B0 1F1 1B1 1F2 1B2"
}

// CHECK:      sched.pipeline "zb-h1" microbatches 1 placement [0] {
// CHECK-NEXT:   rank 0 : "0F0 0I0 0W0"
// CHECK-NEXT: }
sched.pipeline "zb-h1" microbatches 1 placement [0] { rank 0 : "0F0 0I0 0W0" }
