// RUN: %vime-opt %s --split-input-file --verify-diagnostics
// An action by itself, one op of each family; the same for every op of the table: ActionOpsTest.cpp.

// compute
// expected-error@+1 {{'plan.backward' op has immediate 2, at most 1 means something}}
plan.backward stage 0 microbatch 0 lane 0 time 0 immediate 2

// -----

// expected-error@+1 {{'plan.forward' op lacks its `weights`}}
plan.forward stage 0 microbatch 0 lane 0 time 0 uses [0, 1, 2, _, 4, 5, 6, _, _]

// -----

// transfer
// expected-error@+1 {{'plan.send' op has immediate 99, which is no kind of buffer}}
plan.send microbatch 0 lane 0 time 0 immediate 99

// -----

// collective
// expected-error@+1 {{'plan.broadcast' op uses 2 buffers, its signature has 1}}
plan.broadcast lane 0 time 0 uses [0, 1]

// -----

// move
// expected-error@+1 {{'plan.copy' op moves buffer 3 onto itself}}
plan.copy microbatch 0 lane 0 time 0 uses [3, 3]

// -----

// update
// expected-error@+1 {{'plan.optimize' op names a microbatch, but belongs to none}}
plan.optimize stage 0 microbatch 1 lane 0 time 0

// -----

// host
// expected-error@+1 {{'plan.load' op names a stage, but belongs to none}}
plan.load stage 1 lane 0 time 0

// -----

// control
// expected-error@+1 {{'plan.join' op is no transfer, so it can begin or end no group of them}}
plan.join lane 0 time 0 flags [group_begin]

// -----

// expected-error@+1 {{'plan.join' op has unknown flags 64}}
plan.join lane 0 time 0 flags [64]

// -----

// What cannot be said at all.
// expected-error@+1 {{an action waits for four others at most, on lanes below 64 and distances below 1024}}
plan.join lane 0 time 0 waits [1:1, 2:1, 3:1, 4:1, 5:1]

// -----

// expected-error@+1 {{an action waits for four others at most, on lanes below 64 and distances below 1024}}
plan.join lane 0 time 0 waits [64:1]

// -----

// expected-error@+1 {{an action waits for four others at most, on lanes below 64 and distances below 1024}}
plan.join lane 0 time 0 waits [1:1024]

// -----

// expected-error@+1 {{the number does not fit 8 bits without sign}}
plan.join lane 256 time 0

// -----

// expected-error@+1 {{the number does not fit 32 bits}}
plan.join lane 0 time 2147483648

// -----

// expected-error@+1 {{the number does not fit 8 bits without sign}}
plan.join lane -1 time 0

// -----

// expected-error@+1 {{`sometimes` is no flag of an action}}
plan.join lane 0 time 0 flags [sometimes]
