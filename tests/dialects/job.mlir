// RUN: %vime-opt %s | %vime-opt | FileCheck %s
// RUN: %vime-opt --mlir-print-op-generic %s | %vime-opt | FileCheck %s
// RUN: %vime-opt --mlir-print-debuginfo %s | FileCheck %s --check-prefix=LOCATION
// A job is a table: path, value, origin, place. Each op is located where the user wrote the value.

// CHECK:      job.job "job.yaml" {
// CHECK-NEXT:   job.field "name" "demo" given at "job.yaml" line 2 column 7 length 4
// CHECK-NEXT:   job.field "pipeline.chunks" "1" derived from "pipeline.schedule" at "job.yaml" line 9 column 23 length 4
// CHECK-NEXT:   job.field "cluster.device" "cpu" default at "job.yaml" line 3 column 1 length 7
// CHECK-NEXT:   job.field "optimizer.betas" "[0.9, 0.999]" default
// CHECK-NEXT: }
job.job "job.yaml" {
  job.field "name" "demo" given at "job.yaml" line 2 column 7 length 4
  job.field "pipeline.chunks" "1" derived from "pipeline.schedule" at "job.yaml" line 9 column 23 length 4
  job.field "cluster.device" "cpu" default at "job.yaml" line 3 column 1 length 7
  job.field "optimizer.betas" "[0.9, 0.999]" default
}

// LOCATION-DAG: [[NAME:#loc[0-9]*]] = loc("job.yaml":2:7)
// LOCATION-DAG: [[CHUNKS:#loc[0-9]*]] = loc("job.yaml":9:23)
