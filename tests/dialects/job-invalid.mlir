// RUN: not %vime-opt %s --split-input-file 2>&1 | FileCheck %s
// Fields without a place have no location; the others are told at the user's line.

job.job "job.yaml" {
  job.field "run.steps" "3" default
  // CHECK: job.yaml:7:3: error: 'job.field' op `run.steps` is in the job already
  job.field "run.steps" "4" given at "job.yaml" line 7 column 3
}

// -----

job.job "job.yaml" {
  // CHECK: error: 'sched.pipeline' op is no field: a job holds nothing else
  sched.pipeline "1f1b" microbatches 1 placement [0] { rank 0 : "0F0 0B0" }
}

// -----

job.job "job.yaml" {
  // CHECK: error: 'job.field' op has no path of words with dots between: `run..steps`
  job.field "run..steps" "3" default
}

// -----

job.job "job.yaml" {
  // CHECK: error: 'job.field' op `run.steps` is given, but no line of the job gives it
  job.field "run.steps" "3" given
}

// -----

job.job "job.yaml" {
  // CHECK: error: 'job.field' op `run.steps` is derived from nothing
  job.field "run.steps" "3" derived
}

// -----

job.job "job.yaml" {
  // CHECK: error: 'job.field' op `run.steps` is not derived, yet it follows from `run.seed`
  job.field "run.steps" "3" default from "run.seed"
}

// -----

job.job "job.yaml" {
  // CHECK: error: 'job.field' op stands at a negative place
  job.field "run.steps" "3" default line -1
}

// -----

job.job "job.yaml" {
  // CHECK: error: {{.*}}`guessed` is none of given, default, derived
  job.field "run.steps" "3" guessed
}
