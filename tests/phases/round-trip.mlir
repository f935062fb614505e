// RUN: %vime-opt --vime-order --vime-comm --vime-memory "--vime-plan=text-bytes=1000 text-hash-low=1 text-hash-high=2 compiler=0.1.0" --verify-plan %S/Inputs/job.mlir -o %t.at-once.mlir
// RUN: %vime-opt --vime-order %S/Inputs/job.mlir -o %t.2.mlir
// RUN: %vime-opt --vime-comm %t.2.mlir -o %t.3.mlir
// RUN: %vime-opt --vime-memory %t.3.mlir -o %t.4.mlir
// RUN: %vime-opt "--vime-plan=text-bytes=1000 text-hash-low=1 text-hash-high=2 compiler=0.1.0" %t.4.mlir -o %t.5.mlir
// RUN: diff %t.at-once.mlir %t.5.mlir
// RUN: %vime-opt %t.5.mlir | diff %t.5.mlir -
// RUN: %vime-opt --verify-plan %t.5.mlir | FileCheck %s
// All phases at once, or one by one through text: the same plan, and it keeps every rule.

// CHECK: plan.data "corpus.txt" bytes 1000 hash_low 1 hash_high 2 sequence 128 samples 4 tokens 512 microbatches 2 batch 8
// CHECK: plan.run "job" steps 200 seed 0
// CHECK: plan.connect pairs [0:1]
// CHECK: plan.origin of send "pipeline.schedule" line 7 column 23 length 4
