// RUN: %vime-opt --vime-order %S/Inputs/job.mlir | FileCheck %s
// RUN: sed s/1f1b/gpipe/ %S/Inputs/job.mlir | %vime-opt --vime-order | FileCheck %s --check-prefix=GPIPE
// RUN: sed s/1f1b/zigzag/ %S/Inputs/job.mlir | not %vime-opt --vime-order 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed '/pipeline.chunks/s/"1"/"3"/' %S/Inputs/job.mlir | not %vime-opt --vime-order 2>&1 | FileCheck %s --check-prefix=CHUNKS
// RUN: not %vime-opt --vime-order %s 2>&1 | FileCheck %s --check-prefix=NOJOB
// Phase order: the job stays, its schedule comes behind it.

// CHECK:      job.job "job.yaml"
// CHECK:      sched.pipeline "1f1b" microbatches 2 placement [0, 1] {
// CHECK-NEXT:   rank 0 : "0F0 0F1 0B0 0B1"
// CHECK-NEXT:   rank 1 : "1F0 1B0 1F1 1B1"
// CHECK-NEXT: }

// GPIPE:      sched.pipeline "gpipe"
// GPIPE-NEXT:   rank 0 : "0F0 0F1
// GPIPE-NEXT:   rank 1 : ". 1F0 1F1 1B0

// A job edited by hand is judged as a file would be, at the user's place.
// UNKNOWN: job.yaml:7:23: error: error[J{{[0-9]+}}]: {{.*}}`zigzag`
// CHUNKS: job.yaml:7:{{[0-9]+}}: error: error[J{{[0-9]+}}]: {{.*}}1f1b
// NOJOB: error: the module states no job
