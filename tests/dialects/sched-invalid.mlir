// RUN: %vime-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'sched.pipeline' op places no stage}}
sched.pipeline "gpipe" microbatches 1 placement [] { rank 0 : "" }

// -----

// expected-error@+1 {{'sched.pipeline' op places stage 1 on rank 2 of 2}}
sched.pipeline "gpipe" microbatches 1 placement [0, 2] { rank 0 : "" rank 1 : "" }

// -----

// expected-error@+1 {{'sched.pipeline' op rank 0, task 1: stage 3 of 2}}
sched.pipeline "gpipe" microbatches 1 placement [0, 1] { rank 0 : "0F0 3F0" rank 1 : "" }

// -----

// expected-error@+1 {{'sched.pipeline' op rank 1, task 2: stage 0 lives on rank 0}}
sched.pipeline "gpipe" microbatches 1 placement [0, 1] { rank 0 : "0F0" rank 1 : ". 1F0 0B0" }

// -----

// expected-error@+1 {{'sched.pipeline' op rank 0, task 1: microbatch 2 of 2}}
sched.pipeline "gpipe" microbatches 2 placement [0] { rank 0 : "0F1 0F2" }

// -----

sched.pipeline "gpipe" microbatches 2 placement [0] {
  // expected-error@+1 {{expected a task like `0F1`, `0B1`, `0I1` or `0W1`, or `.`}}
  rank 0 : "0F1 0X2"
}

// -----

sched.pipeline "gpipe" microbatches 2 placement [0] {
  // expected-error@+1 {{expected the row of rank 0}}
  rank 1 : "0F1"
}
